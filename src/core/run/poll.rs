//! Polling a coroutine on the slow path, where its flags are checked; completing a poll.

use std::task::Context;

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::inspect::observe;
use crate::core::life::end;
use crate::core::pause;
use crate::core::scope::Scope;
use crate::core::task::{Flags, Polled, Task};
use crate::core::wake::waker::TaskWaker;
use crate::time::PhaseIndex;

/// Polls a coroutine in a run of `phase`, and heeds all its flags.
#[cold]
#[inline(never)]
pub(crate) fn resume_slowly<'c>(
    core: &'c Core,
    scope: &Scope<'c>,
    task: Task<'c>,
    resumed: WaitKey,
    phase: PhaseIndex,
) {
    if task.has(Flags::PAUSED) {
        if resumed == WaitKey::NOT_A_WAIT {
            pause::remember_wake(core, task, phase);
        } else {
            pause::remember_due(core, task, phase);
        }
        return;
    }
    scope.set_current(task, resumed);
    // This poll also serves any wake from before.
    task.clear(Flags::READY_OR_YIELDED);
    if task.has(Flags::ENTRIES) || task.is_registered() {
        task.set(Flags::ENTRIES);
        let serial = core.runs.serial();
        core.colds.of_or_new(task, |cold| cold.polled_in = serial);
    }
    let _kept = observe::keep(core, task);
    let polled = poll_slowly(core, scope, task);
    scope.clear_current();
    after_poll(core, task, polled);
}

/// Polls a task with its task waker, and observed, as its flags say.
#[inline]
pub(in crate::core) fn poll_slowly(core: &Core, scope: &Scope<'_>, task: Task<'_>) -> Polled {
    if task.has(Flags::TASK_WAKER) {
        // Lends the task waker, so that `will_wake` returns `true`.
        let own = core
            .colds
            .of(task, |cold| cold.waker.as_ref().map(TaskWaker::to_waker));
        if let Some(own) = own.flatten() {
            let _lent = scope.lend(&own);
            return poll_observed(core, task, &mut Context::from_waker(&own));
        }
    }
    poll_observed(core, task, &mut scope.context())
}

#[inline]
fn poll_observed(core: &Core, task: Task<'_>, cx: &mut Context<'_>) -> Polled {
    if task.has(Flags::OBSERVED) {
        observe::poll(core, task, || core.tasks.poll(task, cx))
    } else {
        core.tasks.poll(task, cx)
    }
}

/// Completes a poll: ends a task that has returned or was stopped.
#[inline(always)]
pub(in crate::core) fn after_poll(core: &Core, task: Task<'_>, polled: Polled) {
    match polled {
        Polled::Returned => end::finish(core, task),
        Polled::Stopped => end::end(core, task, None),
        Polled::Pending | Polled::Refused => {}
    }
}
