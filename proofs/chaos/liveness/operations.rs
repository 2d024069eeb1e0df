//! The operations of callbacks, on any of the executors.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::rc::Rc;

use framestep::prelude::*;

use crate::grenade::CHAOS;
use framestep_testkit::watched::{Token, expect};

use super::script::{Kind, script};
use super::share::Shared;
use super::world::{Known, Mood, World};

/// Panics sometimes, where that harms no other script.
pub(super) fn maybe_panic(one_in: u64) {
    let Some(world) = World::find() else { return };
    let may = world.mood == Mood::Panics && !world.lifted.get() && world.locks.get() == 0;
    if may && !std::thread::panicking() && world.one_in(one_in) {
        resume_unwind(Box::new(CHAOS));
    }
}

/// A value that does anything when it is dropped.
pub(super) struct Held(Token);

impl Held {
    pub(super) fn new(name: &'static str) -> Self {
        Held(Token::new(name))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        expect(self.0.is_alive(), "a value is dropped once");
        act(3);
    }
}

/// Performs an operation at one of `one_in` occasions.
pub(super) fn act(one_in: u64) {
    if let Some(world) = World::find() {
        if !world.lifted.get() && world.one_in(one_in) {
            perform(&world);
        }
    }
}

/// Performs an operation.
pub(super) fn perform(world: &Rc<World>) {
    struct Leave<'a>(&'a Cell<u32>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let out = world.depth.get() >= 8 || world.left.get() == 0;
    if out || world.locks.get() > 0 || world.lifted.get() {
        return;
    }
    world.left.set(world.left.get() - 1);
    world.depth.set(world.depth.get() + 1);
    let _leave = Leave(&world.depth);
    let at = world.place(OPERATIONS.len()).expect("there are some");
    OPERATIONS[at](world);
}

/// Makes a script, in some way.
fn make(world: &Rc<World>) {
    if !world.has_room() {
        return;
    }
    let seat = world.seat();
    let kind = if world.one_in(3) {
        Kind::Leaf
    } else {
        Kind::Any
    };
    let future = script(world, seat, kind);
    let (handle, phase) = (&world.seats[seat].handle, world.phase());
    let owner = world.look_at(&world.seats[seat].owners);
    let coroutine = match (world.below(7), owner) {
        (0, Some(owner)) => owner.spawn(future),
        (1, Some(owner)) => owner.script("").in_phase(phase).spawn(future),
        (2 | 3, Some(owner)) => owner.start(future),
        (4, _) => handle.spawn(future),
        (5, _) => handle.script("").in_phase(phase).spawn(future),
        _ => handle.start(future),
    };
    let is_leaf = kind == Kind::Leaf;
    let id = coroutine.id();
    let known = Known { id, is_leaf };
    world.seats[seat].scripts.borrow_mut().push(known);
    if is_leaf {
        world.leaves.borrow_mut().push(coroutine);
    }
}

fn each_of(world: &Rc<World>, act: impl FnOnce(&framestep::Handle, framestep::task::CoroutineId)) {
    let seat = &world.seats[world.seat()];
    if let Some(known) = world.look_at(&seat.scripts) {
        act(&seat.handle, known.id);
    }
}

fn own(world: &Rc<World>, act: impl FnOnce(&Owner)) {
    if let Some(owner) = world.look_at(&world.seats[world.seat()].owners) {
        act(&owner);
    }
}

type Operation = fn(&Rc<World>);

const OPERATIONS: &[Operation] = &[
    make,
    make,
    make,
    make,
    make,
    make,
    // pauses and stops,
    |world| each_of(world, |handle, id| _ = handle.pause(id)),
    |world| each_of(world, |handle, id| _ = handle.pause(id)),
    |world| each_of(world, |handle, id| _ = handle.resume(id)),
    |world| each_of(world, |handle, id| _ = handle.resume(id)),
    |world| each_of(world, |handle, id| _ = handle.stop(id)),
    |world| {
        each_of(world, |handle, id| {
            handle.pause(id);
            perform(world);
            handle.resume(id);
        });
    },
    |world| own(world, |owner| _ = owner.pause()),
    |world| own(world, |owner| _ = owner.resume()),
    |world| own(world, |owner| _ = owner.resume()),
    |world| {
        if world.one_in(4) {
            own(world, Owner::stop_all);
        }
    },
    |world| own(world, Owner::request_stop),
    |world| {
        if world.one_in(4) {
            own(world, |owner| drop(owner.stop_within(0.25)));
        }
    },
    |world| {
        if world.one_in(4) {
            let owners = &world.seats[world.seat()].owners;
            let owner = world.take(owners);
            drop(owner);
        }
    },
    |world| {
        let seat = &world.seats[world.seat()];
        let child = world.look_at(&seat.owners).map(|above| above.child());
        seat.owners.borrow_mut().extend(child.map(Rc::new));
    },
    |world| {
        let clock = world.clock(world.seat());
        match world.below(5) {
            0 => clock.set_scale(0.5),
            1 => clock.set_scale(2),
            2 => _ = clock.pause(),
            _ => _ = clock.resume(),
        }
    },
    // events,
    |world| world.signal.emit(world.below(4)),
    |world| world.signal.emit(world.below(4)),
    |world| world.value.set(world.below(4)),
    |world| {
        let letter = world.take(&world.letters);
        _ = letter.map(|letter| letter.send(()));
    },
    |world| {
        let waker = world.take(&world.wakers);
        waker.into_iter().for_each(std::task::Waker::wake);
    },
    |world| {
        let waker = world.take(&world.wakers);
        if let Some(waker) = waker {
            std::thread::scope(|scope| scope.spawn(|| waker.wake()).join()).unwrap();
        }
    },
    // waits that are shared from now on, and handles,
    share,
    share,
    |world| {
        let shared = &world.seats[world.seat()].shared;
        if shared.borrow().len() > 4 {
            let one = world.take(shared);
            drop(one);
        }
    },
    |world| {
        let leaf = world.take(&world.leaves);
        drop(leaf);
    },
    |world| {
        let leaves = world.leaves.borrow();
        let end = world.place(leaves.len()).map(|at| leaves[at].finished());
        drop(leaves);
        world.ends.borrow_mut().extend(end);
    },
    // and runs of another executor, or of this one, which refuses.
    |world| world.run_frame(world.seat()),
    |world| {
        let id = world.seats[world.seat()].handle.snapshot();
        drop(id.map(|snapshot| snapshot.to_string()));
    },
];

fn share(world: &Rc<World>) {
    if world.mood != Mood::Plain {
        let seat = world.seat();
        let shared = Shared::new(world, seat);
        world.seats[seat].shared.borrow_mut().push(shared);
    }
}
