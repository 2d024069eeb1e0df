//! The operations of callbacks: anything, on any executor.

use std::cell::{Cell, RefCell};

use std::rc::Rc;

use framestep::inspect::TraceEvent;
use framestep::lend::try_with_ref;
use framestep::prelude::*;
use framestep::{Executor, Handle};

use framestep_testkit::watched::{expect, fault, watched};

use super::grenade::{Event, Grenade, survive};
use super::host;
use super::script::{awaited_script, script};
use super::world::{Known, Mood, Slot, World};

/// The sites that call user code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Site {
    Host,
    Poll,
    Drop,
    Output,
    Payload,
    Condition,
    WakerClone,
    Wake,
    WakerDrop,
    HostWaker,
    Report,
    Trace,
    Event,
    RemoteHandle,
    Lent,
}

const SITES: [(Site, &str); 15] = [
    (Site::Host, "the host"),
    (Site::Poll, "a poll"),
    (Site::Drop, "what a future holds"),
    (Site::Output, "an output"),
    (Site::Payload, "a payload"),
    (Site::Condition, "a condition"),
    (Site::WakerClone, "the clone of a waker"),
    (Site::Wake, "a wake"),
    (Site::WakerDrop, "the drop of a waker"),
    (Site::HostWaker, "the waker of the host"),
    (Site::Report, "a report"),
    (Site::Trace, "a trace"),
    (Site::Event, "an event"),
    (Site::RemoteHandle, "a closure from afar"),
    (Site::Lent, "a closure that is lent to"),
];

impl Site {
    fn index(self) -> usize {
        let at = SITES.iter().position(|(site, _)| *site == self);
        at.expect("all are there")
    }

    pub(super) fn name(self) -> &'static str {
        SITES[self.index()].1
    }
}

/// How often each site and each operation has occurred.
#[derive(Default)]
pub(super) struct Counts {
    sites: [Cell<u64>; SITES.len()],
    operations: RefCell<Vec<u64>>,
}

impl Counts {
    fn count(&self, site: Site, operation: usize) {
        let count = &self.sites[site.index()];
        count.set(count.get() + 1);
        let mut operations = self.operations.borrow_mut();
        operations.resize(OPERATIONS.len(), 0);
        operations[operation] += 1;
    }

    pub(super) fn add(&mut self, others: &Counts) {
        for (count, other) in self.sites.iter().zip(&others.sites) {
            count.set(count.get() + other.get());
        }
        let mut operations = self.operations.borrow_mut();
        operations.resize(OPERATIONS.len(), 0);
        for (count, other) in operations.iter_mut().zip(others.operations.borrow().iter()) {
            *count += other;
        }
    }

    /// The sites and operations that have not occurred.
    pub(super) fn missing(&self) -> Vec<String> {
        let sites = SITES.iter().zip(&self.sites);
        let sites = sites.filter(|(_, count)| count.get() == 0);
        let operations = self.operations.borrow();
        let never = operations.iter().enumerate();
        let never = never.filter(|(_, count)| **count == 0);
        sites
            .map(|((_, name), _)| (*name).to_owned())
            .chain(never.map(|(at, _)| format!("operation {at}")))
            .collect()
    }
}

/// Performs an operation at one of `one_in` occasions.
pub(super) fn occasionally(one_in: u64, site: Site) {
    if let Some(world) = World::find() {
        if world.one_in(one_in) {
            perform(&world, site);
        }
    }
}

/// Performs an operation.
pub(super) fn perform(world: &Rc<World>, site: Site) {
    struct Leave<'a>(&'a Cell<u32>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let deepest = match world.mood {
        Mood::Deep => 150,
        _ => 25,
    };
    if world.depth.get() >= deepest || world.left.get() == 0 {
        return;
    }
    world.left.set(world.left.get() - 1);
    world.depth.set(world.depth.get() + 1);
    let _leave = Leave(&world.depth);
    let operation = if world.mood == Mood::Deep && world.one_in(2) {
        // Operations that lead deeper.
        world.index(8)
    } else {
        world.index(OPERATIONS.len())
    };
    world.counts.count(site, operation);
    OPERATIONS[operation](world);
}

/// Keeps a coroutine for others to act on.
fn keep(world: &World, slot: usize, generation: u64, coroutine: Coroutine<Grenade>) {
    let known = Known {
        slot,
        generation,
        coroutine,
    };
    world.coroutines.borrow_mut().push(known);
}

/// Makes a coroutine from a script with `handle`, unless there are too many.
fn make(world: &Rc<World>, make: impl FnOnce(&Handle, usize) -> Coroutine<Grenade>) {
    let slot = world.slot();
    let Some(handle) = world.handle(slot) else {
        return;
    };
    if world.coroutines.borrow().len() < 80 {
        let generation = world.slots[slot].generation.get();
        let coroutine = make(&handle, slot);
        keep(world, slot, generation, coroutine);
    }
}

fn own(world: &Rc<World>, make: impl FnOnce(&Owner, usize) -> Coroutine<Grenade>) {
    if let Some((slot, generation, owner)) = world.owner() {
        let coroutine = make(&owner, slot);
        keep(world, slot, generation, coroutine);
    }
}

/// Stops a coroutine of the executor that is in its slot.
fn stop_one(world: &Rc<World>) {
    let Some((slot, generation, id)) = world.coroutine() else {
        return;
    };
    let here = |world: &World| world.slots[slot].generation.get() == generation;
    let Some(handle) = world.handle(slot).filter(|_| here(world)) else {
        return;
    };
    if handle.stop(id) {
        if here(world) {
            world.stopped.borrow_mut().insert((slot, generation, id));
        }
        expect(
            !handle.stop(id) || handle.is_alive(id),
            "it is stopped once",
        );
    }
}

fn each_of(world: &Rc<World>, act: impl FnOnce(&Handle, framestep::task::CoroutineId)) {
    if let Some((slot, generation, id)) = world.coroutine() {
        if let Some(handle) = world.handle(slot) {
            if world.slots[slot].generation.get() == generation {
                act(&handle, id);
            }
        }
    }
}

type Operation = fn(&Rc<World>);

const OPERATIONS: &[Operation] = &[
    // The first eight lead deeper.
    stop_one,
    stop_one,
    |world| make(world, |handle, slot| handle.start(script(world, slot))),
    |world| make(world, |handle, slot| handle.start(script(world, slot))),
    |world| {
        let taken = world.take(&world.coroutines);
        drop(taken.map(|known| known.coroutine.stop_on_drop()));
    },
    |world| {
        let owner = world.take(&world.owners);
        drop(owner);
    },
    |world| {
        if let Some((_, _, owner)) = world.owner() {
            owner.stop_all();
        }
    },
    |world| {
        if let Some(handle) = world.handle(world.slot()) {
            handle.enter(|| perform(world, Site::Host));
        }
    },
    // Making coroutines,
    |world| make(world, |handle, slot| handle.spawn(script(world, slot))),
    |world| {
        make(world, |handle, slot| {
            handle
                .script("")
                .in_phase(world.phase())
                .spawn(script(world, slot))
        });
    },
    |world| own(world, |owner, slot| owner.start(script(world, slot))),
    |world| own(world, |owner, slot| owner.spawn(script(world, slot))),
    |world| {
        let slot = world.slot();
        let remote = world.slots[slot].remote.borrow().clone();
        if let Some(remote) = remote {
            let held = Grenade::new(Site::RemoteHandle);
            remote.spawn(move || {
                occasionally(2, Site::RemoteHandle);
                let world = World::find();
                async move {
                    held.check();
                    if let Some(world) = world {
                        drop(awaited_script(&world, slot).await);
                    }
                }
            });
        }
    },
    // pauses and resumes,
    |world| each_of(world, |handle, id| _ = handle.pause(id)),
    |world| each_of(world, |handle, id| _ = handle.resume(id)),
    |world| each_of(world, |handle, id| _ = handle.resume(id)),
    |world| {
        if let Some((_, _, owner)) = world.owner() {
            match world.below(6) {
                0 | 1 => _ = owner.pause(),
                2..=4 => _ = owner.resume(),
                _ => {
                    owner.set_active(false);
                    owner.set_active(true);
                }
            }
        }
    },
    // requests to stop,
    |world| {
        if let Some((_, _, owner)) = world.owner() {
            owner.request_stop();
        }
    },
    |world| {
        if let Some((_, _, owner)) = world.owner() {
            let seconds = f64::from(u32::try_from(world.below(4)).expect("small")) / 16.0;
            drop(owner.stop_within(seconds));
        }
    },
    |world| {
        each_of(world, |handle, id| {
            handle.pause(id);
            perform(world, Site::Host);
            handle.resume(id);
        });
    },
    // handles, joins and wakers,
    |world| drop(world.take(&world.coroutines)),
    |world| {
        let finished = {
            let all = world.coroutines.borrow();
            all.get(world.index(all.len().max(1)))
                .map(|known| known.coroutine.finished())
        };
        world.finished.borrow_mut().extend(finished);
    },
    |world| drop(world.take(&world.finished)),
    |world| {
        if let Some(waker) = world.take(&world.wakers) {
            if world.one_in(2) {
                let clone = waker.clone();
                world.wakers.borrow_mut().push(clone);
            }
            waker.wake();
        }
    },
    |world| drop(world.take(&world.wakers)),
    |world| {
        if let Some(waker) = world.take(&world.wakers) {
            // Only wakers of the executor: they may be sent anywhere.
            std::thread::scope(|scope| scope.spawn(|| waker.wake()).join()).unwrap();
        }
    },
    |world| drop(world.take(&world.waits)),
    |world| world.notify.notify_one(),
    |world| world.notify.notify_waiters(),
    |world| world.signal.emit(Event::new()),
    |world| {
        let given = world.slots[world.slot()].given.borrow().clone();
        if let Some(given) = given {
            given.send(world.below(4));
        }
    },
    // owners and clocks,
    |world| {
        let slot = world.slot();
        let generation = world.slots[slot].generation.get();
        let clock = world.clock(slot).filter(|_| world.one_in(3));
        let owner = match (world.handle(slot), world.owner()) {
            (_, Some((slot, generation, owner))) if world.one_in(2) => {
                Some((slot, generation, owner.child()))
            }
            (Some(handle), _) => {
                let owner = match clock {
                    Some(clock) => handle.owner_on(&clock),
                    None => handle.owner(),
                };
                owner.map(|owner| (slot, generation, owner))
            }
            _ => None,
        };
        if let Some((slot, generation, owner)) = owner {
            let owner = (slot, generation, Rc::new(owner));
            world.owners.borrow_mut().push(owner);
        }
    },
    |world| {
        let owner = world.take(&world.owners);
        let owner = owner.and_then(|(_, _, owner)| Rc::try_unwrap(owner).ok());
        if let Some(owner) = owner.map(Owner::into_send) {
            std::thread::scope(|scope| scope.spawn(move || drop(owner)).join()).unwrap();
        }
    },
    |world| {
        if let Some(clock) = world.clock(world.slot()) {
            match world.below(4) {
                0 => clock.set_scale(f64::from(u32::try_from(world.below(3)).expect("small"))),
                1 => _ = clock.pause(),
                _ => _ = clock.resume(),
            }
        }
    },
    // inspection,
    |world| {
        if let Some(handle) = world.handle(world.slot()) {
            let text = handle.snapshot().map(|snapshot| snapshot.to_string());
            drop(text);
        }
    },
    |world| {
        let _ = try_with(|lent: &mut Vec<u64>| {
            lent.push(1);
            perform(world, Site::Lent);
        });
    },
    |world| {
        let _ = try_with_ref(|lent: &Vec<u64>| {
            let length = lent.len();
            perform(world, Site::Lent);
            expect(lent.len() == length, "what is shared stays as it is");
        });
    },
    |_| {
        let held = Grenade::new(Site::Drop);
        with_deferred(move |lent: &mut Vec<u64>| {
            held.check();
            lent.push(1);
            occasionally(2, Site::Lent);
        });
    },
    |world| {
        if let Some(handle) = world.handle(world.slot()) {
            let mut lent: Vec<u64> = Vec::new();
            handle.lend(&mut lent, |handle| {
                handle.enter(|| perform(world, Site::Lent))
            });
        }
    },
    // hooks,
    |world| {
        let slot = &world.slots[world.slot()];
        let Ok(executor) = slot.executor.try_borrow() else {
            return;
        };
        let Some(executor) = executor.as_ref() else {
            return;
        };
        // A replaced hook is dropped, with its captures: these must not need the
        // slot, which is borrowed.
        match world.below(3) {
            0 => executor.on_report(|_| occasionally(8, Site::Report)),
            1 => trace(slot, executor),
            _ => executor.on_wake(|| occasionally(8, Site::HostWaker)),
        }
    },
    // and other executors, or this one.
    |world| host::run_frame(world, world.slot()),
    |world| {
        if world.one_in(4) {
            host::replace(world, world.slot());
        }
    },
    run_another_executor,
];

/// An executor that lives for one operation.
fn run_another_executor(world: &Rc<World>) {
    let mut executor = Executor::new();
    let held = Grenade::new(Site::Drop);
    let steps = Rc::new(Cell::new(0));
    let step = steps.clone();
    let coroutine = executor.start(watched(async move {
        held.check();
        step.set(1);
        occasionally(2, Site::Poll);
        next_frame().await;
        step.set(2);
        occasionally(2, Site::Poll);
        next_frame().await;
        step.set(3);
        // If a destructor panicked after the output was made, Rust would leak the
        // output.
        drop(held);
        Grenade::new(Site::Output)
    }));
    for _ in 0..world.below(4) {
        if survive(|| executor.run_frame(0.25)).is_none() {
            fault("a frame of an executor without hooks panics");
        }
    }
    if world.one_in(2) {
        drop(executor);
        expect(coroutine.is_finished(), "its executor is gone");
    }
    drop(coroutine);
}

/// Adds a hook to the trace, or removes one.
fn trace(slot: &Slot, executor: &Executor) {
    let last = slot.traces.borrow_mut().pop();
    if let Some(hook) = last {
        // Its executor may have been replaced.
        hook.remove();
    } else {
        let act = |_: &TraceEvent| occasionally(12, Site::Trace);
        let hooks = [executor.on_full_trace(act), executor.on_trace(act)];
        slot.traces.borrow_mut().extend(hooks);
    }
}
