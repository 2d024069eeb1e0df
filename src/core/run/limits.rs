//! Limits on the polls of a run.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::core::task::TaskKey;

/// How many polls a run may still take for events that happen during it.
#[derive(Debug)]
pub(crate) struct Limits {
    left: Cell<u64>,
    /// Whether the run has been reported for reaching the limit.
    reported: Cell<bool>,
    max_polls_per_run: u32,
    pub(crate) joins: Joins,
}

/// Joins of coroutines that had ended before the poll. A coroutine that makes such joins in a
/// loop without a wait would never return from its poll.
///
/// All are counted, but only one of [`JOINS_A_SAMPLE`] is looked at.
#[derive(Debug)]
pub(crate) struct Joins {
    pub(crate) left: Cell<u32>,
    /// Which coroutine made the latest join that was looked at, and in which run.
    pub(crate) latest: Cell<Option<(TaskKey, u64)>>,
    /// How many in sequence were of that coroutine and run.
    pub(crate) samples: Cell<u32>,
}

pub(crate) const JOINS_A_SAMPLE: u32 = 1 << 16;
/// With so many samples in sequence, the coroutine has to wait for the next run.
pub(crate) const MOST_SAMPLES: u32 = 16;

/// The polls that a run may take for spawns, starts and joins during it, for
/// each poll that one coroutine may take for wakes. One poll for each live
/// coroutine is added.
const FACTOR: u64 = 100;

impl Limits {
    pub(crate) fn new(max_polls_per_run: u32) -> Self {
        Limits {
            left: Cell::new(0),
            reported: Cell::new(false),
            max_polls_per_run,
            joins: Joins {
                left: Cell::new(JOINS_A_SAMPLE),
                latest: Cell::new(None),
                samples: Cell::new(0),
            },
        }
    }

    /// How often one coroutine may be polled in a run for wakes.
    pub(crate) fn polls_per_task(&self) -> u32 {
        self.max_polls_per_run
    }

    /// A run begins: from now on, reaching a limit is reported again.
    #[inline]
    pub(crate) fn begin_run(&self) {
        self.reported.set(false);
    }

    pub(crate) fn begin(&self, alive: usize) {
        self.left.set(self.for_coroutines(alive));
        self.reported.set(false);
    }

    /// Takes the polls of starts that were deferred: they do not count as alive, and
    /// each takes a poll.
    pub(crate) fn begin_starts(&self, starts: usize) {
        let taken = (starts as u64).saturating_mul(2);
        self.left.set(self.left.get().saturating_sub(taken));
    }

    fn for_coroutines(&self, alive: usize) -> u64 {
        let extra = FACTOR * u64::from(self.max_polls_per_run);
        (alive as u64).saturating_add(extra)
    }

    /// How many closures of `with_soon`, or calls of hooks for unread outputs, may
    /// follow one another. With as many tasks as there may be: how many ends of
    /// coroutines one end may cause.
    pub(crate) fn most_in_sequence(&self, tasks: usize) -> u64 {
        self.for_coroutines(tasks)
    }

    /// Takes one poll from those that the run has left. Returns `false` if none is
    /// left.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether the run has not been reported before.
    pub(crate) fn report_once(&self) -> bool {
        !self.reported.replace(true)
    }
}
