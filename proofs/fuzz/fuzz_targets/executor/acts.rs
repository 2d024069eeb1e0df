//! What takes no time: done by the host, by scripts and by destructors.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use framestep::prelude::*;

use crate::script::{Injected, script};
use crate::world::{Owned, PHASES, World};

/// Scales of clocks.
const SCALES: [f64; 6] = [1.0, 0.0, 0.25, 0.5, 2.0, 1e-9];

/// `inside`: the free functions may be called. `clocked`: the script counts on a
/// clock of its own, and so do those that it begins.
pub(crate) fn act(world: &Rc<World>, inside: bool, clocked: bool) {
    match world.below(24) {
        0..=4 => begin(world, inside, clocked),
        5 => {
            if let Some(id) = world.pick(&world.ids) {
                world.handle.stop(id);
            }
        }
        6 => {
            if let Some(coroutine) = world.take(&world.coroutines) {
                drop(coroutine.stop_on_drop());
            }
        }
        7 => drop(world.take(&world.coroutines)),
        8 => {
            if let Some(id) = world.pick(&world.ids) {
                world.paused.set(true);
                world.handle.pause(id);
            }
        }
        9 => {
            if let Some(id) = world.pick(&world.ids) {
                world.handle.resume(id);
            }
        }
        10 => {
            let flag = &world.flags[world.below(3)];
            flag.set(!flag.get());
        }
        11 | 12 => ring(world, world.below(3)),
        13 => world.given.send(world.runs()),
        14 => make_owner(world),
        15 => drop(world.take(&world.owners)),
        16 | 17 => use_owner(world),
        18 => make_clock(world),
        19 => use_clock(world),
        20 => {
            if inside {
                // The answer is that nothing is lent, that it is in use, or fine.
                let _ = try_with(|lent: &mut u64| {
                    *lent += 1;
                    act(world, inside, clocked);
                });
            }
        }
        21 => {
            if inside && framestep::lend::try_with(|_: &mut u64| ()).is_ok() {
                with(|lent: &mut u64| *lent += 1);
            }
        }
        22 => {
            // Of another thread's making, so it cannot hold the world.
            let token = world.remotes.clone();
            world.remote.spawn(move || async move { drop(token) });
        }
        _ => {
            let _ = (world.handle.time(), world.handle.owner());
        }
    }
}

/// Begins a coroutine.
pub(crate) fn begin(world: &Rc<World>, inside: bool, clocked: bool) {
    // One that is refused is dropped at once, and may panic in the call that began it.
    let begun = catch_unwind(AssertUnwindSafe(|| begun(world, inside, clocked)));
    match begun {
        Ok(Some(coroutine)) => {
            world.ids.borrow_mut().push(coroutine.id());
            world.coroutines.borrow_mut().push(coroutine);
        }
        Err(payload) if !payload.is::<Injected>() => resume_unwind(payload),
        _ => {}
    }
}

fn begun(world: &Rc<World>, inside: bool, clocked: bool) -> Option<Coroutine<u64>> {
    let how = world.below(8);
    let phase = PHASES[world.below(PHASES.len())];
    Some(match how {
        0 if inside => start(script(world, clocked)),
        1 if inside => spawn(script(world, clocked)),
        2 if inside => framestep::task::script("")
            .in_phase(phase)
            .spawn(script(world, clocked)),
        3 | 4 => {
            let owned = world.pick(&world.owners)?;
            let script = script(world, owned.clocked);
            match how {
                3 => owned.owner.start(script),
                _ => owned.owner.spawn(script),
            }
        }
        5 => world
            .handle
            .script("")
            .in_phase(phase)
            .spawn(script(world, false)),
        6 => world.handle.spawn(script(world, false)),
        _ => world.handle.start(script(world, false)),
    })
}

/// Wakes the coroutines that wait for a bell.
pub(crate) fn ring(world: &World, bell: usize) {
    let bell = &world.bells[bell];
    bell.rung.set(bell.rung.get() + 1);
    let wakers = bell.wakers.take();
    for waker in wakers {
        waker.wake();
    }
}

fn make_owner(world: &World) {
    let below = world.pick(&world.owners);
    let clock = world.pick(&world.clocks);
    let bound = world.below(2) == 1;
    let owner = match (below, clock) {
        (Some(above), Some(clock)) if bound => Some((above.owner.child_on(&clock), true)),
        (Some(above), _) => Some((above.owner.child(), above.clocked)),
        (None, Some(clock)) if bound => world.handle.owner_on(&clock).map(|owner| (owner, true)),
        (None, _) => world.handle.owner().map(|owner| (owner, false)),
    };
    if let Some((owner, clocked)) = owner {
        world
            .owners
            .borrow_mut()
            .push(Rc::new(Owned { owner, clocked }));
    }
}

fn use_owner(world: &World) {
    let Some(owned) = world.pick(&world.owners) else {
        return;
    };
    match world.below(6) {
        0 => owned.owner.stop_all(),
        1 => {
            world.paused.set(true);
            owned.owner.pause();
        }
        2 => {
            owned.owner.resume();
        }
        3 => owned.owner.set_active(false),
        4 => owned.owner.set_active(true),
        _ => {
            let _ = (owned.owner.is_empty(), owned.owner.is_paused());
        }
    }
}

fn make_clock(world: &World) {
    if world.clocks.borrow().len() < 6 {
        if let Some(clock) = world.pick(&world.clocks) {
            let child = clock.child();
            world.clocks.borrow_mut().push(child);
        }
    }
}

fn use_clock(world: &World) {
    let Some(clock) = world.pick(&world.clocks) else {
        return;
    };
    match world.below(4) {
        0 | 1 => clock.set_scale(SCALES[world.below(SCALES.len())]),
        2 => {
            clock.pause();
        }
        _ => {
            clock.resume();
        }
    }
}
