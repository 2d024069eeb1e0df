//! The shared state of the operations of one run, found through a thread-local.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use tokio::sync::Notify;

use framestep::inspect::TraceHook;
use framestep::prelude::*;
use framestep::task::{CoroutineId, Finished, RemoteHandle};
use framestep::{Executor, Handle};

use framestep_testkit::Random;
use framestep_testkit::phases;
use framestep_testkit::waits::Given;

use super::grenade::{Event, Grenade};
use super::operations::Counts;
use super::waits::Wait;

/// The runs of a frame, in order.
pub(super) const RUNS: [Phase; phases::RUNS] = phases::with_custom(3);

/// How many executors there are at once.
pub(super) const SLOTS: usize = 2;

/// The behaviour of callbacks in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mood {
    /// Nothing panics.
    Calm,
    /// Anything panics sometimes.
    Panics,
    /// Operations nest far deeper than stops do, and all of them call hooks.
    Deep,
}

impl Mood {
    pub(super) const ALL: [Mood; 3] = [Mood::Calm, Mood::Panics, Mood::Deep];
}

/// An executor and what belongs to it. The slot is empty while it ends.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) executor: RefCell<Option<Executor>>,
    pub(super) handle: RefCell<Option<Handle>>,
    pub(super) remote: RefCell<Option<RemoteHandle>>,
    pub(super) clocks: RefCell<Vec<Clock>>,
    /// What waits of the table are made from.
    pub(super) given: RefCell<Option<Given>>,
    /// The hooks that operations have added to its trace.
    pub(super) traces: RefCell<Vec<TraceHook>>,
    /// Counts the executors that were in this slot.
    pub(super) generation: Cell<u64>,
    /// How many of its scripts are being polled, one inside another.
    pub(super) polling: RefCell<Rc<Cell<u32>>>,
}

/// A coroutine, and its executor.
pub(super) struct Known {
    pub(super) slot: usize,
    pub(super) generation: u64,
    pub(super) coroutine: Coroutine<Grenade>,
}

pub(super) struct World {
    pub(super) slots: [Slot; SLOTS],
    pub(super) mood: Mood,
    random: RefCell<Random>,
    /// How deep operations are in one another, and how many are left.
    pub(super) depth: Cell<u32>,
    pub(super) left: Cell<u32>,
    pub(super) counts: Counts,
    pub(super) coroutines: RefCell<Vec<Known>>,
    pub(super) finished: RefCell<Vec<Finished>>,
    /// With the slot and the generation of their executor.
    pub(super) owners: RefCell<Vec<(usize, u64, Rc<Owner>)>>,
    pub(super) wakers: RefCell<Vec<Waker>>,
    /// Waits that their coroutine has given away.
    pub(super) waits: RefCell<Vec<Wait>>,
    pub(super) signal: Signal<Event>,
    pub(super) notify: Arc<Notify>,
    pub(super) budget: Budget,
    /// The coroutines whose `stop` returned true: slot, generation and id.
    pub(super) stopped: RefCell<HashSet<(usize, u64, CoroutineId)>>,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

impl World {
    pub(super) fn new(seed: u64, mood: Mood) -> Rc<World> {
        let world = Rc::new(World {
            slots: Default::default(),
            mood,
            random: RefCell::new(Random(seed)),
            depth: Cell::new(0),
            left: Cell::new(0),
            counts: Counts::default(),
            coroutines: RefCell::default(),
            finished: RefCell::default(),
            owners: RefCell::default(),
            wakers: RefCell::default(),
            waits: RefCell::default(),
            signal: Signal::with_limit(8),
            notify: Arc::new(Notify::new()),
            budget: Budget::of_units(3),
            stopped: RefCell::default(),
        });
        WORLD.set(Some(world.clone()));
        world
    }

    /// The world of this thread, if there is one.
    pub(super) fn find() -> Option<Rc<World>> {
        WORLD
            .try_with(|world| world.borrow().clone())
            .ok()
            .flatten()
    }

    /// Ends the world: callbacks do nothing from now on.
    pub(super) fn leave() {
        WORLD.take();
    }

    pub(super) fn below(&self, n: u64) -> u64 {
        self.random.borrow_mut().below(n)
    }

    pub(super) fn index(&self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).expect("small")
    }

    pub(super) fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random item, removed from `list`.
    pub(super) fn take<T>(&self, list: &RefCell<Vec<T>>) -> Option<T> {
        let mut list = list.borrow_mut();
        if list.is_empty() {
            return None;
        }
        let at = self.index(list.len());
        Some(list.swap_remove(at))
    }

    pub(super) fn slot(&self) -> usize {
        self.index(SLOTS)
    }

    pub(super) fn handle(&self, slot: usize) -> Option<Handle> {
        self.slots[slot].handle.borrow().clone()
    }

    pub(super) fn clock(&self, slot: usize) -> Option<Clock> {
        let clocks = self.slots[slot].clocks.borrow();
        let at = self.index(clocks.len().max(1));
        clocks.get(at).cloned()
    }

    pub(super) fn owner(&self) -> Option<(usize, u64, Rc<Owner>)> {
        let owners = self.owners.borrow();
        let at = self.index(owners.len().max(1));
        owners.get(at).cloned()
    }

    /// The slot, the generation and the id of one of the coroutines.
    pub(super) fn coroutine(&self) -> Option<(usize, u64, CoroutineId)> {
        let all = self.coroutines.borrow();
        let known = all.get(self.index(all.len().max(1)))?;
        Some((known.slot, known.generation, known.coroutine.id()))
    }

    pub(super) fn phase(&self) -> Phase {
        if self.one_in(2) {
            return Phase::Update;
        }
        RUNS[self.index(RUNS.len())]
    }
}
