//! The host has its state back when the lending is over, and not before.

use framestep::prelude::*;

struct World {
    gold: u32,
}

fn main() {
    let mut world = World { gold: 0 };
    let mut executor = Executor::new();
    executor.lend(&mut world, |executor| {
        executor.run_frame(0.25);
        world.gold += 1;
    });
}
