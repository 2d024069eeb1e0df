//! `--scale`: how the cost of framestep, and of those it is measured by, grows
//! with the number of coroutines.
//!
//! - *awake*: a frame in which all of them resume grows with their number.
//! - *asleep*: a frame in which none is due does not. Where it does, the
//!   system polls them all.
//! - *memory*: what each of them takes, parked.
//! - *drop*: how long it takes to end them all, by dropping the executor.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::actor::{Waits, take_tally};
use crate::alloc;
use crate::measure::Spread;
use crate::systems::{Order, System, World};
use crate::table::{figure, known, short};
use crate::workloads::footprint;

const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000];

/// How long a frame is repeated for one measurement.
const AT_LEAST: Duration = Duration::from_millis(10);

/// Prints all of it; `rounds` measurements of each frame.
pub(crate) fn run(systems: &[Box<dyn System>], sizes: Option<&[usize]>, rounds: usize) {
    let sizes = sizes.unwrap_or(SIZES);
    heading("awake", "us per frame, and ns for each coroutine", sizes);
    for system in systems {
        let build = |size| system.awake(size, Order::Allocated);
        row(system.as_ref(), sizes, |size| {
            let ns = frame_ns(build(size)?, rounds);
            let each = figure(ns / size as f64);
            Some(format!("{} ({each})", figure(ns / 1e3)))
        });
    }
    heading("asleep", "us per frame, none due", sizes);
    for system in systems {
        row(system.as_ref(), sizes, |size| {
            let world = system.asleep(size, Waits::Weeks)?;
            Some(figure(frame_ns(world, rounds) / 1e3))
        });
    }
    heading("memory", "bytes each: live, resident", sizes);
    for system in systems {
        row(system.as_ref(), sizes, |size| {
            let footprint = footprint::measure(system.as_ref(), size)?;
            let (live, resident) = (known(footprint.live, 1), known(footprint.resident, 1));
            Some(format!("{live}, {resident}"))
        });
    }
    heading("drop", "ms for all of them, and ns for each", sizes);
    for system in systems {
        let build = |size| system.awake(size, Order::Allocated);
        row(system.as_ref(), sizes, |size| {
            let took = |_| {
                let mut world = build(size)?;
                world.steps(1);
                let begin = Instant::now();
                drop(world);
                Some(begin.elapsed().as_nanos() as f64)
            };
            let took: Option<Vec<f64>> = (0..rounds.min(5)).map(took).collect();
            let ns = Spread::of(took?.into_iter()).median;
            let each = figure(ns / size as f64);
            Some(format!("{} ({each})", figure(ns / 1e6)))
        });
    }
}

fn heading(what: &str, unit: &str, sizes: &[usize]) {
    print!("\n{what}: {unit}\n{:<20}", "system");
    for &size in sizes {
        print!("{:>18}", short(size));
    }
    println!();
}

/// What a system leaves out has no row.
fn row(system: &dyn System, sizes: &[usize], measure: impl Fn(usize) -> Option<String>) {
    let mut cells = String::new();
    for &size in sizes {
        alloc::settle();
        let Some(cell) = measure(size) else {
            return;
        };
        write!(cells, "{cell:>18}").expect("a String takes all");
        take_tally();
    }
    println!("{:<20}{cells}", system.name());
}

/// The median length of a frame, in nanoseconds.
fn frame_ns(mut world: Box<dyn World>, rounds: usize) -> f64 {
    // The first frames are those in which all begin to wait, and in which
    // room is made for them.
    world.steps(2);
    let mut frames = 1;
    let mut timed = |frames: u64| {
        let begin = Instant::now();
        world.steps(frames);
        begin.elapsed()
    };
    while timed(frames) < AT_LEAST {
        frames *= 2;
    }
    let samples = (0..rounds).map(|_| timed(frames).as_nanos() as f64 / frames as f64);
    Spread::of(samples).median
}
