//! How far a runtime has come: a rollback takes nothing of this back.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use framestep::Handle;
use framestep::durable::Door;

use crate::ids::ScriptId;

/// How many frames behind the furthest one it is known what has been done once.
const KEPT: u64 = 1_024;

/// How far a runtime has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    frame: u64,
    /// How many runs of phases there have been in the frame.
    runs: u64,
}

/// How far a runtime has ever come. A rollback takes nothing of this back.
pub(crate) struct Reached {
    door: Door,
    executor: Handle,
    /// The number of the executor's latest run before the frame, as if the frame had not been
    /// interrupted by a rollback.
    runs_before: Cell<u64>,
    furthest: Cell<Position>,
    /// What scripts have done once in a frame, by its number.
    done: RefCell<BTreeMap<u64, BTreeSet<(ScriptId, String)>>>,
}

impl Reached {
    pub(crate) fn new(door: Door, executor: Handle) -> Self {
        Reached {
            door,
            executor,
            runs_before: Cell::default(),
            furthest: Cell::default(),
            done: RefCell::default(),
        }
    }

    /// The number of the present frame.
    pub(crate) fn frame(&self) -> u64 {
        self.executor.time().map_or(0, |time| time.frame)
    }

    fn position(&self) -> Position {
        Position {
            frame: self.frame(),
            runs: self.runs_in_frame(),
        }
    }

    /// How many runs of phases have begun in the present frame.
    pub(crate) fn runs_in_frame(&self) -> u64 {
        let before = self.runs_before.get();
        self.door.runs().wrapping_sub(before)
    }

    /// Notes how far it has come, between two runs.
    pub(crate) fn note_reached(&self) {
        self.furthest.set(self.furthest.get().max(self.position()));
    }

    /// Notes that a frame is about to begin.
    pub(crate) fn begin_frame(&self) {
        self.note_reached();
        self.runs_before.set(self.door.runs());
    }

    /// Notes that the runtime is as it was after so many runs of a frame.
    pub(crate) fn go_to_run(&self, runs: u64) {
        let before = self.door.runs().wrapping_sub(runs);
        self.runs_before.set(before);
    }

    /// Forgets what was before a file was loaded.
    pub(crate) fn begin_timeline(&self) {
        self.done.take();
        self.forget_future();
    }

    /// Takes the present for the furthest that it has come.
    pub(crate) fn forget_future(&self) {
        let mut present = self.position();
        if self.door.is_in_run() {
            // The run under way is not resimulated, either.
            present.runs = present.runs.saturating_sub(1);
        }
        self.furthest.set(present);
        let mut done = self.done.borrow_mut();
        done.split_off(&(present.frame + 1));
    }

    /// Whether the run under way, or else the next one, was done before.
    pub(crate) fn is_resimulated(&self) -> bool {
        let (position, furthest) = (self.position(), self.furthest.get());
        if self.door.is_in_run() {
            position <= furthest
        } else {
            position < furthest
        }
    }

    pub(crate) fn is_done_in_frame(&self, frame: u64, deed: &(ScriptId, String)) -> bool {
        let done = self.done.borrow();
        done.get(&frame).is_some_and(|done| done.contains(deed))
    }

    pub(crate) fn note_done_in_frame(&self, frame: u64, deed: (ScriptId, String)) {
        let mut done = self.done.borrow_mut();
        done.entry(frame).or_default().insert(deed);
        let furthest = self.furthest.get().frame.max(frame);
        while done
            .first_key_value()
            .is_some_and(|(&first, _)| first + KEPT < furthest)
        {
            done.pop_first();
        }
    }
}
