//! `animate`: a sliding door, a lamp whose animation times out, and frames in which no time passes.

use std::cell::Cell;
use std::rc::Rc;

use framestep::prelude::*;

/// A value as a bar of up to 20 characters.
fn bar(value: f32) -> String {
    let full = (1..=20_u8)
        .filter(|&n| f32::from(n) <= value * 20.0)
        .count();
    "#".repeat(full)
}

/// Slow at both ends.
fn smooth(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

async fn slide(door: Rc<Cell<f32>>) {
    animate(1, |t| door.set(smooth(t))).await;
    wait_seconds(0.25).await;
    animate(0.5, |t| door.set(1.0 - t)).await;
}

async fn fade(lamp: Rc<Cell<f32>>) {
    // The fuse blows before the lamp is fully lit.
    let lit = timeout(1, animate(1.5, |t| lamp.set(t))).await;
    if lit.is_err() {
        lamp.set(0.0);
    }
}

fn main() {
    let (door, lamp) = (Rc::default(), Rc::default());
    let mut executor = Executor::new();
    executor.start(slide(Rc::clone(&door)));
    executor.start(fade(Rc::clone(&lamp)));
    println!("frame     door                 lamp");
    for frame in 0..=17 {
        println!("{frame:5}     {:20} {}", bar(door.get()), bar(lamp.get()));
        // No time passes in three of the frames.
        executor.run_frame(if (4..7).contains(&frame) { 0.0 } else { 0.125 });
    }
}
