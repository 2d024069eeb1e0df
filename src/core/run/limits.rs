//! Limits on the polls of a run.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::core::task::Task;
use crate::core::{Core, scope};
use crate::core::task::TaskKey;
use crate::inspect::Report;
use crate::time::PhaseIndex;

/// How many polls a run may still take for events that happen during it.
#[derive(Debug)]
pub(in crate::core) struct Limits {
    left: Cell<u64>,
    /// Whether the run has been reported for reaching the limit.
    reported: Cell<bool>,
    max_polls_per_run: u32,
    joins: Joins,
}

/// Joins of coroutines that had ended before the poll. A coroutine that makes such joins in a
/// loop without a wait would never return from its poll.
///
/// All are counted, but only one of [`JOINS_A_SAMPLE`] is looked at.
#[derive(Debug)]
struct Joins {
    left: Cell<u32>,
    /// Which coroutine made the latest join that was looked at, and in which run.
    latest: Cell<Option<(TaskKey, u64)>>,
    /// How many in sequence were of that coroutine and run.
    samples: Cell<u32>,
}

const JOINS_A_SAMPLE: u32 = 1 << 16;
/// With so many samples in sequence, the coroutine has to wait for the next run.
const MOST_SAMPLES: u32 = 16;

/// The polls that a run may take for spawns, starts and joins during it, for
/// each poll that one coroutine may take for wakes. One poll for each live
/// coroutine is added.
const FACTOR: u64 = 100;

impl Limits {
    pub(super) fn new(max_polls_per_run: u32) -> Self {
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
    pub(super) fn polls_per_task(&self) -> u32 {
        self.max_polls_per_run
    }

    /// A run begins: from now on, reaching a limit is reported again.
    #[inline]
    pub(super) fn begin_run(&self) {
        self.reported.set(false);
    }

    pub(super) fn begin(&self, alive: usize) {
        self.left.set(self.for_coroutines(alive));
        self.reported.set(false);
    }

    /// Takes the polls of starts that were put off: they do not count as alive, and
    /// each takes a poll.
    pub(super) fn begin_starts(&self, starts: usize) {
        let taken = (starts as u64).saturating_mul(2);
        self.left.set(self.left.get().saturating_sub(taken));
    }

    fn for_coroutines(&self, alive: usize) -> u64 {
        let extra = FACTOR * u64::from(self.max_polls_per_run);
        (alive as u64).saturating_add(extra)
    }
}

impl Core {
    /// How many closures of `with_soon`, or calls of hooks for unread outputs, may
    /// follow one another.
    pub(crate) fn most_closures(&self) -> u64 {
        self.runs.limits.for_coroutines(self.tasks.alive())
    }

    /// How many ends of coroutines one end may cause: as many as it can find, and
    /// some that destructors have spawned meanwhile.
    pub(in crate::core) fn most_ends(&self) -> u64 {
        let tasks = self.tasks.len();
        self.runs.limits.for_coroutines(tasks as usize)
    }

    /// Takes one poll from those that the run has left. Returns `false` if none is
    /// left.
    #[inline]
    pub(in crate::core) fn spend(&self) -> bool {
        let left = self.runs.limits.left.get();
        self.runs.limits.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Counts a join whose coroutine has ended before the poll. Returns `false` if the coroutine
    /// that makes it has to wait for the next run: it makes such joins without end.
    /// Calls user code.
    #[inline]
    pub(crate) fn may_join_at_once(&self) -> bool {
        let left = &self.runs.limits.joins.left;
        left.set(left.get() - 1);
        left.get() > 0 || self.looks_at_join()
    }

    #[cold]
    #[inline(never)]
    fn looks_at_join(&self) -> bool {
        let joins = &self.runs.limits.joins;
        joins.left.set(JOINS_A_SAMPLE);
        let Some(key) = scope::each_current(self, |task| Some(task.task_key())) else {
            return true;
        };
        let this = Some((key, self.runs.serial.get()));
        if joins.latest.replace(this) != this {
            joins.samples.set(0);
        }
        joins.samples.set(joins.samples.get() + 1);
        if joins.samples.get() < MOST_SAMPLES {
            return true;
        }
        // The next join of this coroutine in this run has to wait, too.
        joins.left.set(1);
        if joins.samples.get() == MOST_SAMPLES {
            if let Some(task) = self.tasks.get(key) {
                self.report(&Report::EndlessJoins {
                    id: self.id_of(task),
                    name: self.name_of(task),
                    frame: self.clock.frame(),
                    phase: self.running_phase(),
                    joins: u64::from(JOINS_A_SAMPLE) * u64::from(MOST_SAMPLES),
                });
            }
        }
        false
    }

    /// Leaves a task to the next run that was woken more often in this run than
    /// allowed.
    #[cold]
    pub(super) fn put_off_greedy(&self, task: Task<'_>, phase: PhaseIndex, wakes: u32) {
        self.enlist_again(task, phase);
        self.report_greedy(task, phase, wakes);
    }

    /// Counts a yield of the task that is being polled in a run of `phase`. Returns
    /// `false`, and reports it, if it has yielded too often in this run.
    pub(in crate::core) fn may_yield(&self, task: Task<'_>, phase: PhaseIndex) -> bool {
        let serial = self.runs.serial.get();
        let yields = self
            .tasks
            .cold_or_new(task, |cold| cold.count_yield(serial));
        let may = yields <= self.runs.limits.max_polls_per_run;
        if !may {
            self.report_greedy(task, phase, yields);
        }
        may
    }

    /// Reports, once in a run, that a task was to be polled too often.
    fn report_greedy(&self, task: Task<'_>, phase: PhaseIndex, polls: u32) {
        let most = self.runs.limits.max_polls_per_run;
        if polls == most + 1 {
            self.report(&Report::Greedy {
                id: self.id_of(task),
                name: self.name_of(task),
                frame: self.clock.frame(),
                phase: phase.phase(),
                polls: most,
            });
        }
    }

    /// Leaves a task that is ready to the next run.
    #[cold]
    pub(super) fn postpone(&self, task: Task<'_>, phase: PhaseIndex) {
        self.enlist_again(task, phase);
        self.report_runaway_of(Some(task));
    }

    #[cold]
    pub(super) fn postpone_joiner(&self, task: Task<'_>) {
        self.enlist(task, task.home());
        self.report_runaway_of(Some(task));
    }

    /// Reports, once in a run, that coroutines keep starting, spawning, stopping or
    /// joining others, or that closures of `with_soon` keep adding more.
    /// The report names the coroutine that is being polled, if any.
    #[cold]
    pub(crate) fn report_runaway(&self) {
        let polled = scope::each_current(self, |task| Some(task.task_key()));
        self.report_runaway_of(polled.and_then(|key| self.tasks.get(key)));
    }

    /// The same with the coroutine that has reached the limit.
    #[cold]
    fn report_runaway_of(&self, task: Option<Task<'_>>) {
        if !self.runs.limits.reported.replace(true) {
            self.report(&Report::Runaway {
                id: task.map(|task| self.id_of(task)),
                name: task.map(|task| self.name_of(task)),
                frame: self.clock.frame(),
                phase: self.running_phase(),
            });
        }
    }
}
