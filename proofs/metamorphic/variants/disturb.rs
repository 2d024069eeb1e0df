//! What variants do between two lines of a log.

use super::Variant;
use crate::world::World;

impl Variant {
    /// `inside`: in a script, or else in the host.
    pub(in super::super) fn disturb(self, world: &World, inside: bool) {
        match self {
            Variant::Snapshots => ask(world),
            Variant::Paused if !inside => pause_each(world),
            Variant::PausedInside => pause_each(world),
            Variant::PausedTogether => pause_all(world),
            Variant::Clocks => turn_clocks(world),
            _ => {}
        }
    }
}

fn ask(world: &World) {
    let snapshot = world.handle.snapshot().expect("the executor exists");
    _ = snapshot.to_string();
    world.with_executor(|executor| {
        _ = executor.idle_until();
        _ = executor.has_ready();
        _ = executor.next_deadline();
        _ = executor.len();
    });
    for id in world.ids() {
        _ = world.handle.is_alive(id) && world.handle.is_paused(id);
    }
}

fn pause_each(world: &World) {
    for id in world.ids() {
        if world.handle.pause(id) {
            world.handle.resume(id);
        }
    }
}

fn pause_all(world: &World) {
    let root = world.root.as_ref().expect("there is one");
    drop(root.pause_guard());
}

fn turn_clocks(world: &World) {
    let clocks = world.clocks.borrow().clone();
    let guards: Vec<_> = (clocks.iter())
        .flat_map(|clock| [clock.pause_guard(), clock.scaled(0.5), clock.scaled(0)])
        .collect();
    for clock in &clocks {
        if clock.pause() {
            clock.resume();
        }
    }
    drop(guards);
}
