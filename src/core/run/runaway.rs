//! Coroutines that reach a limit of a run: they are reported, and left to the next run.

use crate::core::Core;
use crate::core::phase::schedule;
use crate::core::report;
use crate::core::scope;
use crate::core::task::Task;
use crate::inspect::Report;
use crate::time::PhaseIndex;

/// Defers a task that was woken or has yielded too often in this run to the next run.
/// Reports it at the first of these polls too many.
#[cold]
pub(crate) fn defer_at_limit(core: &Core, task: Task<'_>, phase: PhaseIndex, polls: u32) {
    schedule::again(core, task, phase);
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
    schedule::again(core, task, phase);
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
