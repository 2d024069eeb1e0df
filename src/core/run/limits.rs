//! Limits on the polls of a run.

use std::cell::Cell;

use crate::core::task::TaskKey;

/// How many polls a run may still take for events that happen during it.
#[derive(Debug)]
pub(crate) struct Limits {
    left: Cell<u64>,
    /// Whether it has been reported that the run has reached the limit.
    reported: Cell<bool>,
    max_polls_per_run: u32,
    pub(crate) joins: Joins,
}

/// Counts joins of coroutines that had ended before the join was polled. A coroutine
/// that makes such joins in a loop, without a wait, would never return from its poll.
///
/// All such joins are counted. One in [`JOINS_A_SAMPLE`] is looked at: a sample.
#[derive(Debug)]
pub(crate) struct Joins {
    /// How many joins there are until the next sample.
    pub(crate) left: Cell<u32>,
    /// The coroutine that made the latest sample, and the number of the run.
    pub(crate) latest: Cell<Option<(TaskKey, u64)>>,
    /// How many samples in sequence came from that coroutine in that run.
    pub(crate) samples: Cell<u32>,
}

/// How many joins there are for each sample.
pub(crate) const JOINS_A_SAMPLE: u32 = 1 << 16;
/// After this many samples in sequence, the coroutine has to wait for the next run.
pub(crate) const MOST_SAMPLES: u32 = 16;

/// A run has a limit on the polls for spawns, starts and joins during it: this many
/// times the polls that one coroutine may take for wakes, and one poll for each live
/// coroutine.
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

    /// Notes that a frame begins: from now on, reaching a limit is reported again.
    #[inline]
    pub(crate) fn begin_frame(&self) {
        self.reported.set(false);
    }

    /// Begins to count the polls of a run, or of a call outside of runs. `alive` is the
    /// number of live coroutines.
    pub(crate) fn begin(&self, alive: usize) {
        self.left.set(self.most_in_sequence(alive));
        self.reported.set(false);
    }

    /// Takes two polls for each start that was deferred: one because its coroutine was
    /// counted as alive, and one for its poll.
    pub(crate) fn begin_starts(&self, starts: usize) {
        let taken = (starts as u64).saturating_mul(2);
        self.left.set(self.left.get().saturating_sub(taken));
    }

    /// How many polls a run may take; how many closures of `with_soon`, or calls of hooks
    /// for unread outputs, may follow one another; and how many ends of coroutines one end
    /// may cause. `tasks` is the number of tasks that count towards it.
    pub(crate) fn most_in_sequence(&self, tasks: usize) -> u64 {
        let extra = FACTOR * u64::from(self.max_polls_per_run);
        (tasks as u64).saturating_add(extra)
    }

    /// Takes one of the polls that the run has left. Returns `false` if no poll is left.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether to report the run: `true` once in a run.
    pub(crate) fn report_once(&self) -> bool {
        !self.reported.replace(true)
    }
}
