//! Calling the foreign wakers of due waits. They tell a combinator which of its futures
//! are ready.

use crate::core::Core;
use crate::core::call;
use crate::core::registration::key::WaitKey;
use crate::core::run::state::Lists;
use crate::core::task::{Flags, Pause};
use crate::time::PhaseIndex;

/// Calls the foreign wakers of all waits that are due in the run that has begun. That
/// happens before the first poll. Then each coroutine is polled once, and its
/// combinators know all of their futures that are ready.
pub(crate) fn fire_due(core: &Core, lists: &Lists, phase: PhaseIndex) {
    if !core.entries.borrow().has_foreign() {
        return;
    }
    let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
    let waits = lists.waiters.iter().chain(&lists.counts).copied();
    for key in waits.chain(timers) {
        fire(core, key, Some(phase));
    }
    for &key in &lists.suspended {
        fire_suspended(core, key);
    }
}

/// Calls the foreign waker of a timer that would be due if its coroutine were not
/// paused. Other coroutines may wait for the same timer, inside a combinator that polls
/// only woken futures. The waker is their only link to the timer. The coroutine that
/// polls the timer then continues with it.
fn fire_suspended(core: &Core, key: WaitKey) {
    if !key.is_entry() {
        return;
    }
    let taken = core.entries.borrow_mut().take_waker(key);
    if let Some((task, waker)) = taken {
        let paused = core.tasks.get(task);
        let was_spare = paused.is_some_and(|paused| {
            let has_spare = core.tasks.pause_of(paused, |pause| pause.has_spare_wake());
            has_spare.unwrap_or(false)
        });
        call::quietly(|| waker.into_inner().wake());
        // The waker may have ended the task.
        if let Some(task) = core.tasks.get(task).filter(|_| was_spare) {
            core.tasks.pause_of(task, Pause::note_spare_wake);
        }
    }
}

/// Calls the foreign waker of a wait that is due: in a run of `phase`, or, with `None`,
/// in the home phase of its coroutine. The waker may wake the same coroutine. Then the
/// run polls it for the wait, or for the wake if the wait is gone by then.
pub(in crate::core) fn fire(core: &Core, key: WaitKey, phase: Option<PhaseIndex>) {
    if !key.is_entry() {
        return;
    }
    let taken = core.entries.borrow_mut().take_waker(key);
    if let Some((task, waker)) = taken {
        let task = core.tasks.get(task);
        if let Some(task) = task.filter(|task| task.has(Flags::PAUSED) && task.is_alive()) {
            // The wait counts first, before the wake by the task waker.
            core.pauses
                .remember_wake(&core.tasks, task, phase.unwrap_or_else(|| task.home()));
        }
        call::quietly(|| waker.into_inner().wake());
    }
}
