//! Limits on the polls of a run. Coroutines that reach one are reported, and left to the next run.

use std::cell::Cell;

use crate::core::base::cell::Restore;
use crate::core::phase::ready;
use crate::core::task::Task;
use crate::core::{Core, report, scope};
use crate::inspect::Report;
use crate::time::PhaseIndex;

/// How many polls a run may still take for events that happen during it.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The polls that are left to the run under way, or else to the host's call that
    /// starts coroutines. [`NOT_COUNTED`] outside of these.
    left: Cell<u64>,
    /// Whether it has been reported that the run has reached the limit.
    reported: Cell<bool>,
    max_polls_per_run: u32,
}

/// A run has a limit on the polls for spawns, starts and joins during it: this many
/// times the polls that one coroutine may take for wakes, and one poll for each live
/// coroutine.
const FACTOR: u64 = 100;

/// In `left`: neither a run nor a call counts its polls.
const NOT_COUNTED: u64 = u64::MAX;

impl Limits {
    pub(crate) fn new(max_polls_per_run: u32) -> Self {
        Limits {
            left: Cell::new(NOT_COUNTED),
            reported: Cell::new(false),
            max_polls_per_run,
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

    /// Counts the polls of a run, or of a call outside of runs, until the result is
    /// dropped. `alive` is the number of live coroutines.
    pub(crate) fn begin(&self, alive: usize) -> Restore<'_, u64> {
        self.reported.set(false);
        Restore::after_setting(&self.left, self.most_in_sequence(alive))
    }

    /// Whether a run or a call counts its polls.
    #[inline]
    pub(crate) fn is_counting(&self) -> bool {
        self.left.get() != NOT_COUNTED
    }

    /// Takes two polls for each start that was deferred: one because its coroutine was
    /// counted as alive, and one for its poll.
    pub(crate) fn begin_starts(&self, starts: usize) {
        let taken = (starts as u64).saturating_mul(2);
        self.left.set(self.left.get().saturating_sub(taken));
    }

    /// How many polls a run may take; how many closures of `with_deferred`, or calls of hooks
    /// for unobserved outputs, may follow one another; and how many ends of coroutines one end
    /// may cause. `tasks` is the number of tasks that count towards it.
    pub(crate) fn most_in_sequence(&self, tasks: usize) -> u64 {
        (tasks as u64).saturating_add(self.extra())
    }

    /// The same for no task.
    pub(crate) fn extra(&self) -> u64 {
        FACTOR * u64::from(self.max_polls_per_run)
    }

    /// Takes one of the polls that the run has left. Returns `false` if no poll is left.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether the run has a poll left.
    pub(crate) fn has_left(&self) -> bool {
        self.left.get() > 0
    }

    /// Whether to report the run: `true` once in a run.
    pub(crate) fn report_once(&self) -> bool {
        !self.reported.replace(true)
    }
}

/// Defers a task that was woken or has yielded too often in this run to the next run.
/// Reports it at the first of these polls too many.
#[cold]
pub(crate) fn defer_at_limit(core: &Core, task: Task<'_>, phase: PhaseIndex, polls: u32) {
    ready::again(core, task, phase);
    let most = core.runs.limits.polls_per_task();
    if polls == most + 1 {
        report::send(
            core,
            &Report::PollLimitReached {
                id: core.id_of(task),
                name: core.name_of(task),
                frame: core.clock.frame(),
                phase: phase.phase(),
                polls: most,
            },
        );
    }
}

/// Defers a task that is ready, or joins one that has ended, to the next run of `phase`.
#[cold]
pub(crate) fn postpone(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    ready::again(core, task, phase);
    report_runaway_of(core, Some(task), Reached::Polls);
}

/// The limit that a run, or a call outside of runs, has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// On the number of polls, ends or closures that may follow one another.
    Polls,
    /// On the depth of starts in starts.
    Depth,
}

/// Notes that work beyond a limit is left to the next run, and reports it.
#[cold]
pub(crate) fn leave_to_next_run(core: &Core, reached: Reached) {
    core.arrivals.note_news();
    core.host.note_due();
    report_runaway(core, reached);
}

/// Reports, once in a run, that coroutines keep starting, spawning, stopping or joining
/// others, or that closures of `with_deferred` keep adding more. The report names the
/// coroutine that is being polled, if there is one.
#[cold]
pub(crate) fn report_runaway(core: &Core, reached: Reached) {
    let polled = scope::each_current(core, |task| Some(task.task_key()));
    report_runaway_of(core, polled.and_then(|key| core.tasks.get(key)), reached);
}

/// The same, with the name of the coroutine that has reached the limit.
#[cold]
fn report_runaway_of(core: &Core, task: Option<Task<'_>>, reached: Reached) {
    if core.runs.limits.report_once() {
        report::send(
            core,
            &Report::Runaway {
                id: task.map(|task| core.id_of(task)),
                name: task.map(|task| core.name_of(task)),
                frame: core.clock.frame(),
                phase: core.running_phase(),
                polls: (reached == Reached::Polls).then(|| core.runs.limits.extra()),
            },
        );
    }
}
