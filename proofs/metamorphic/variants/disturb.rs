//! What variants do between two lines of a trace.

use framestep_testkit::program::{Real, World};

use super::Variant;

impl Variant {
    /// `inside`: in a script, or else in the host.
    pub(super) fn disturb(self, world: &World<Real>, inside: bool) {
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

fn ask(world: &World<Real>) {
    let handle = world.system().handle();
    let snapshot = handle.snapshot().expect("the executor exists");
    _ = snapshot.to_string();
    world.system().with_executor(|executor| {
        _ = executor.idle_until();
        _ = executor.has_ready();
        _ = executor.next_deadline();
        _ = executor.len();
    });
    for id in world.ids() {
        _ = handle.is_alive(id) && handle.is_paused(id);
    }
}

fn pause_each(world: &World<Real>) {
    let handle = world.system().handle();
    for id in world.ids() {
        if handle.pause(id) {
            handle.resume(id);
        }
    }
}

fn pause_all(world: &World<Real>) {
    let root = world.root().expect("there is one");
    drop(root.pause_guard());
}

fn turn_clocks(world: &World<Real>) {
    let clocks = world.clocks();
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
