//! What the host, its scripts and their destructors share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use framestep::Handle;
use framestep::prelude::*;
use framestep::task::{CoroutineId, RemoteHandle};

use crate::acts;
use framestep_testkit::phases;
use framestep_testkit::waits::Given;

/// Those of a frame, and two custom ones.
pub(crate) const PHASES: [Phase; phases::PHASES.len() + 2] = {
    let mut all = [Phase::Custom(0); phases::PHASES.len() + 2];
    let mut at = 0;
    while at < phases::PHASES.len() {
        all[at] = phases::PHASES[at];
        at += 1;
    }
    all[at] = Phase::Custom(255);
    all
};

/// An event of no executor.
#[derive(Default)]
pub(crate) struct Bell {
    pub(crate) rung: Cell<u64>,
    pub(crate) wakers: RefCell<Vec<Waker>>,
}

/// An owner, and whether it is bound to a clock.
pub(crate) struct Owned {
    pub(crate) owner: Owner,
    pub(crate) clocked: bool,
}

/// What is known of a living coroutine.
#[derive(Default)]
pub(crate) struct Status {
    pub(crate) ended: Cell<bool>,
    /// It waits for nothing but Update: of a frame after this one, with the game
    /// clock at this time.
    pub(crate) due: Cell<Option<(u64, u64)>>,
}

pub(crate) struct World {
    input: RefCell<std::vec::IntoIter<u8>>,
    pub(crate) handle: Handle,
    pub(crate) remote: RemoteHandle,
    frame: Cell<u64>,
    game_ns: Cell<u64>,
    runs: Cell<u64>,
    /// How many of them are of each phase.
    runs_of: [Cell<u64>; PHASES.len()],
    living: Cell<usize>,
    /// Held by every coroutine that came from the remote, or is on its way.
    pub(crate) remotes: Arc<()>,
    /// How many destructors are under way.
    pub(crate) drops: Cell<u32>,
    /// A paused coroutine is late for a reason.
    pub(crate) paused: Cell<bool>,
    pub(crate) statuses: RefCell<Vec<Rc<Status>>>,
    pub(crate) coroutines: RefCell<Vec<Coroutine<u64>>>,
    pub(crate) ids: RefCell<Vec<CoroutineId>>,
    pub(crate) owners: RefCell<Vec<Rc<Owned>>>,
    pub(crate) clocks: RefCell<Vec<Clock>>,
    pub(crate) flags: [Cell<bool>; 3],
    pub(crate) bells: [Bell; 3],
    /// What waits of the table are made from.
    pub(crate) given: Given,
}

impl World {
    pub(crate) fn new(executor: &Executor, data: &[u8]) -> Rc<World> {
        Rc::new(World {
            input: RefCell::new(Vec::from(data).into_iter()),
            handle: executor.handle(),
            remote: executor.remote(),
            frame: Cell::new(0),
            game_ns: Cell::new(0),
            runs: Cell::new(0),
            runs_of: Default::default(),
            living: Cell::new(0),
            remotes: Arc::default(),
            drops: Cell::new(0),
            paused: Cell::new(false),
            statuses: RefCell::default(),
            coroutines: RefCell::default(),
            ids: RefCell::default(),
            owners: RefCell::default(),
            clocks: RefCell::new(vec![executor.clock()]),
            flags: Default::default(),
            bells: Default::default(),
            given: Given::new(&executor.handle()),
        })
    }

    pub(crate) fn byte(&self) -> Option<u8> {
        self.input.borrow_mut().next()
    }

    /// A number below `bound`: 0 when the input is at its end.
    pub(crate) fn below(&self, bound: usize) -> usize {
        usize::from(self.byte().unwrap_or(0)) % bound
    }

    /// An element of a list, unless that is empty.
    pub(crate) fn pick<T: Clone>(&self, list: &RefCell<Vec<T>>) -> Option<T> {
        let choice = self.byte().map_or(0, usize::from);
        let list = list.borrow();
        list.get(choice.checked_rem(list.len())?).cloned()
    }

    /// The same, out of the list.
    pub(crate) fn take<T>(&self, list: &RefCell<Vec<T>>) -> Option<T> {
        let choice = self.byte().map_or(0, usize::from);
        let mut list = list.borrow_mut();
        let index = choice.checked_rem(list.len())?;
        Some(list.swap_remove(index))
    }

    pub(crate) fn frame(&self) -> u64 {
        self.frame.get()
    }

    pub(crate) fn game_ns(&self) -> u64 {
        self.game_ns.get()
    }

    /// How many runs have begun.
    pub(crate) fn runs(&self) -> u64 {
        self.runs.get()
    }

    /// How many runs of a phase have begun.
    pub(crate) fn runs_of(&self, phase: Phase) -> u64 {
        let index = PHASES.iter().position(|&other| other == phase);
        self.runs_of[index.expect("one of them")].get()
    }

    /// Coroutines of the remote, those included that have not arrived.
    pub(crate) fn of_remotes(&self) -> usize {
        Arc::strong_count(&self.remotes) - 1
    }

    pub(crate) fn living(&self) -> usize {
        self.living.get()
    }

    pub(crate) fn frame_began(&self, frame: u64, game: Duration) {
        assert_eq!(frame, self.frame.get() + 1);
        let game_ns = ns(game);
        assert!(game_ns >= self.game_ns.get(), "time goes on");
        self.frame.set(frame);
        self.game_ns.set(game_ns);
    }

    pub(crate) fn run_begins(&self, phase: Phase) {
        self.runs.set(self.runs.get() + 1);
        let index = PHASES.iter().position(|&other| other == phase);
        let runs_of = &self.runs_of[index.expect("one of them")];
        runs_of.set(runs_of.get() + 1);
    }

    pub(crate) fn came_to_life(&self) -> Rc<Status> {
        self.living.set(self.living.get() + 1);
        let status = Rc::<Status>::default();
        self.statuses.borrow_mut().push(status.clone());
        status
    }

    pub(crate) fn ended(&self, status: &Status) {
        assert!(!status.ended.replace(true), "dropped twice");
        self.living.set(self.living.get() - 1);
    }

    /// After a run of Update: every coroutine that was due in it has gone on.
    pub(crate) fn check_nobody_was_forgotten(&self) {
        let mut statuses = self.statuses.borrow_mut();
        statuses.retain(|status| !status.ended.get());
        if self.paused.get() {
            return;
        }
        for status in statuses.iter() {
            if let Some((frame, deadline_ns)) = status.due.get() {
                let is_due = frame < self.frame.get() && deadline_ns <= self.game_ns.get();
                assert!(!is_due, "forgotten since frame {frame}");
            }
        }
    }

    /// Whatever is left may be used and dropped when the executor is gone.
    pub(crate) fn outlive_the_executor(self: &Rc<Self>) {
        for bell in 0..self.bells.len() {
            acts::ring(self, bell);
        }
        acts::begin(self, false, false);
        let ids = self.ids.take();
        assert!(!ids.into_iter().any(|id| self.handle.stop(id)));
        let (owners, coroutines) = (self.owners.take(), self.coroutines.take());
        assert!(coroutines.iter().all(Coroutine::is_finished));
        drop(owners);
        drop(coroutines);
    }
}

pub(crate) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("the clocks count in u64")
}
