use framestep_durable::prelude::*;

use crate::ported::harness::note;

/// In meters per second.
const SPEED: f32 = 1.5;

#[durable]
pub(crate) async fn walk(posts: Vec<f32>) {
    let mut x = 0.0;
    for &post in posts.iter().cycle() {
        walk_to(&mut x, post).await;
        say("guard", &format!("is at {x:.1} m"));
        wait_seconds(0.5).in_phase(Phase::FixedUpdate).await;
    }
}

/// Moves by the same length in every fixed step, whatever the frame rate.
async fn walk_to(x: &mut f32, post: f32) {
    loop {
        fixed_update().await;
        let step = delta_seconds() * SPEED;
        let left = post - *x;
        if left.abs() <= step {
            *x = post;
            return;
        }
        *x += step.copysign(left);
    }
}

fn say(who: &str, what: &str) {
    let now = time();
    let seconds = now.elapsed.as_secs_f64();
    let frame = now.frame;
    // Before the first frame, there is no phase.
    let phase = now.phase.map_or("-".to_owned(), |phase| phase.to_string());
    note!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().script(walk))
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(walk(vec![0.0, 1.5, 3.0])).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.125);
}

pub(crate) use crate::ported::harness::lines as shown;
