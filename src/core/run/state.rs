//! The runs of an executor: the one under way, and the lists that a run polls.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::core::cell::{Guarded, Restore};
use crate::core::phase::ready::ReadyKey;
use crate::core::registration::key::WaitKey;
use crate::core::run::completions::Completions;
use crate::core::run::limits::Limits;
use crate::core::timer::wheel::TimerEntry;
use crate::time::PhaseIndex;

/// The state of an executor's runs.
pub(crate) struct Runs {
    /// The phase of the run under way.
    pub(crate) phase: Cell<Option<PhaseIndex>>,
    /// How many runs there have been, of all phases.
    pub(crate) serial: Cell<u64>,
    /// How many polls by `start` are under way, in a run or outside of runs.
    pub(crate) polls_outside: Cell<u32>,
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
            serial: Cell::new(0),
            polls_outside: Cell::new(0),
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
    pub(crate) fn serial(&self) -> u64 {
        self.serial.get()
    }

    /// Begins to count the polls of a run, or of a call outside of runs.
    pub(crate) fn begin_limits(&self, alive: usize) {
        self.limits.begin(alive);
    }

    /// Panics at the caller's line if a run is under way or a coroutine is being
    /// polled: an executor has one run at a time.
    #[inline]
    #[track_caller]
    pub(crate) fn assert_idle(&self, call: &str) {
        if self.phase().is_some() || self.polls_outside.get() > 0 {
            self.is_not_idle(call);
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn is_not_idle(&self, call: &str) -> ! {
        let cause = match self.phase.get() {
            Some(phase) => format!("its {} run is under way", phase.phase()),
            None => "one of its coroutines is being polled".into(),
        };
        panic!(
            "`{call}` was called on an executor while {cause}: \
             call it from the host's loop, outside of the executor's own runs"
        );
    }

    /// Calls `f`, which polls a start. Counts that poll meanwhile.
    #[inline]
    pub(crate) fn count_start<R>(&self, f: impl FnOnce() -> R) -> R {
        let polls = &self.polls_outside;
        let _counted = Restore::after_setting(polls, polls.get() + 1);
        f()
    }
}

/// The lists that a run polls.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) ready: Vec<ReadyKey>,
    pub(crate) waiters: Vec<WaitKey>,
    pub(crate) counts: Vec<WaitKey>,
    pub(crate) timers: Vec<TimerEntry>,
    /// Due timers of paused coroutines. Their foreign wakers are called all the same.
    pub(crate) suspended: Vec<WaitKey>,
}
