//! Coroutines that reach a limit of a run: they are reported, and left to the next run.

use crate::core::Core;
use crate::core::phase::schedule;
use crate::core::report;
use crate::core::run::limits::{JOINS_A_SAMPLE, MOST_SAMPLES};
use crate::core::scope;
use crate::core::task::Task;
use crate::inspect::Report;
use crate::time::PhaseIndex;

/// Counts a join of a coroutine that had ended before the join was polled. Returns
/// `false` if the joining coroutine makes such joins without end: then it has to wait
/// for the next run. Calls user code.
#[inline]
pub(crate) fn may_join_at_once(core: &Core) -> bool {
    let left = &core.runs.limits.joins.left;
    left.set(left.get() - 1);
    left.get() > 0 || looks_at_join(core)
}

#[cold]
#[inline(never)]
fn looks_at_join(core: &Core) -> bool {
    let joins = &core.runs.limits.joins;
    joins.left.set(JOINS_A_SAMPLE);
    let Some(key) = scope::each_current(core, |task| Some(task.task_key())) else {
        return true;
    };
    let this = Some((key, core.runs.serial()));
    if joins.latest.replace(this) != this {
        joins.samples.set(0);
    }
    joins.samples.set(joins.samples.get() + 1);
    if joins.samples.get() < MOST_SAMPLES {
        return true;
    }
    // So that the next such join of this coroutine in this run waits, too.
    joins.left.set(1);
    if joins.samples.get() == MOST_SAMPLES {
        if let Some(task) = core.tasks.get(key) {
            report::send(
                core,
                &Report::EndlessJoins {
                    id: core.id_of(task),
                    name: core.name_of(task),
                    frame: core.clock.frame(),
                    phase: core.running_phase(),
                    joins: u64::from(JOINS_A_SAMPLE) * u64::from(MOST_SAMPLES),
                },
            );
        }
    }
    false
}

/// Defers a task that was woken too often in this run to the next run.
#[cold]
pub(crate) fn defer_greedy(core: &Core, task: Task<'_>, phase: PhaseIndex, wakes: u32) {
    schedule::again(core, task, phase);
    report_greedy(core, task, phase, wakes);
}

/// Counts a yield of the task that is being polled in a run of `phase`. If the task has
/// yielded too often in this run, reports that and returns `false`.
pub(crate) fn may_yield(core: &Core, task: Task<'_>, phase: PhaseIndex) -> bool {
    let serial = core.runs.serial();
    let yields = core
        .tasks
        .cold_or_new(task, |cold| cold.count_yield(serial));
    let may = yields <= core.runs.limits.polls_per_task();
    if !may {
        report_greedy(core, task, phase, yields);
    }
    may
}

/// Reports a task that would be polled too often in this run: once, at the first poll
/// too many.
fn report_greedy(core: &Core, task: Task<'_>, phase: PhaseIndex, polls: u32) {
    let most = core.runs.limits.polls_per_task();
    if polls == most + 1 {
        report::send(
            core,
            &Report::Greedy {
                id: core.id_of(task),
                name: core.name_of(task),
                frame: core.clock.frame(),
                phase: phase.phase(),
                polls: most,
            },
        );
    }
}

/// Defers a task that is ready to the next run.
#[cold]
pub(crate) fn postpone(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    schedule::again(core, task, phase);
    report_runaway_of(core, Some(task));
}

/// Defers a task that joins one that has ended to the next run.
#[cold]
pub(crate) fn postpone_joiner(core: &Core, task: Task<'_>) {
    schedule::later(core, task, task.home());
    report_runaway_of(core, Some(task));
}

/// Reports, once in a run, that coroutines keep starting, spawning, stopping or joining
/// others, or that closures of `with_soon` keep adding more. The report names the
/// coroutine that is being polled, if there is one.
#[cold]
pub(crate) fn report_runaway(core: &Core) {
    let polled = scope::each_current(core, |task| Some(task.task_key()));
    report_runaway_of(core, polled.and_then(|key| core.tasks.get(key)));
}

/// The same, with the name of the coroutine that has reached the limit.
#[cold]
fn report_runaway_of(core: &Core, task: Option<Task<'_>>) {
    if core.runs.limits.report_once() {
        report::send(
            core,
            &Report::Runaway {
                id: task.map(|task| core.id_of(task)),
                name: task.map(|task| core.name_of(task)),
                frame: core.clock.frame(),
                phase: core.running_phase(),
            },
        );
    }
}
