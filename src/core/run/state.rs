//! The runs of an executor: the one under way, and the lists that a run polls.

use std::cell::Cell;

use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::phase::ready::ReadyKey;
use crate::core::run::joins::Completions;
use crate::core::run::limits::Limits;
use crate::core::timer::wheel::TimerEntry;
use crate::time::PhaseIndex;

/// The state of an executor's runs.
pub(crate) struct Runs {
    /// The phase of the run under way.
    pub(crate) phase: Cell<Option<PhaseIndex>>,
    /// The coroutine of the due wait whose foreign waker is being called. If that wakes it,
    /// it is ready in the run under way.
    pub(crate) fired: Cell<Option<TaskKey>>,
    /// How many runs there have been, of all phases.
    pub(crate) serial: Cell<u64>,
    /// The lists of the latest run, kept to reuse their memory. The lists that a phase
    /// lends return to that phase.
    pub(crate) lists: Guarded<Lists>,
    pub(crate) completions: Completions,
    pub(crate) limits: Limits,
}

impl Runs {
    pub(crate) fn new(max_polls_per_run: u32) -> Self {
        Runs {
            phase: Cell::new(None),
            fired: Cell::new(None),
            serial: Cell::new(0),
            lists: Guarded::default(),
            completions: Completions::default(),
            limits: Limits::new(max_polls_per_run),
        }
    }

    /// The phase of the run under way.
    #[inline(always)]
    pub(crate) fn phase(&self) -> Option<PhaseIndex> {
        self.phase.get()
    }

    /// How many runs there have been, of all phases.
    #[inline(always)]
    pub(crate) fn serial(&self) -> u64 {
        self.serial.get()
    }
}

/// The lists that a run polls.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) ready: Vec<ReadyKey>,
    pub(crate) waiters: Vec<WaitKey>,
    pub(crate) counts: Vec<WaitKey>,
    pub(crate) timers: Vec<TimerEntry>,
}
