//! Calling the foreign wakers of due waits. They tell a combinator which of its futures
//! are ready.

use std::task::Waker;

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::base::cell::Restore;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::pause::state::Pause;
use crate::core::run::state::Lists;

/// Calls the foreign wakers of all waits that are due in the run that has begun. That
/// happens before the first poll. Then each coroutine is polled once, and its
/// combinators know all of their futures that are ready.
pub(crate) fn fire_due(core: &Core, lists: &Lists) {
    if !core.entries.borrow().has_foreign() {
        return;
    }
    let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
    let waits = lists.waiters.iter().chain(&lists.counts).copied();
    for key in waits.chain(timers) {
        fire_in_run(core, key);
    }
    // Timers that would be due if their coroutines were not paused. Other coroutines may
    // wait for the same timer, inside a combinator that polls only woken futures. The waker
    // is their only link to the timer. The coroutine that polls it then continues with it.
    for &key in &lists.suspended {
        fire_suspended(core, key);
    }
}

/// Calls the foreign waker of a wait that is due in the run under way. If that wakes the
/// coroutine of the wait, the wake belongs to the wait: it counts for this run.
#[inline(always)]
fn fire_in_run(core: &Core, key: WaitKey) {
    if let Some((task, waker)) = take(core, key) {
        let _fired = Restore::after_setting(&core.runs.fired, Some(task));
        call::quietly(|| waker.into_inner().wake());
    }
}

/// Calls the foreign waker of a timer that stands still. If that wakes the paused coroutine
/// of the timer, the wake counts only if nothing becomes due in the pause.
#[cold]
#[inline(never)]
fn fire_suspended(core: &Core, key: WaitKey) {
    let Some((task, waker)) = take(core, key) else {
        return;
    };
    let pause_of = |f: fn(&mut Pause) -> bool| {
        let task = core.tasks.get(task)?;
        core.colds.pause_of(task, f)
    };
    let is_first = pause_of(|pause| pause.wake.is_none()) == Some(true);
    call::quietly(|| waker.into_inner().wake());
    if is_first {
        // The waker may have ended the task.
        pause_of(Pause::put_wake_last);
    }
}

/// Calls the foreign waker of a join that is over. The waker may wake the same coroutine.
/// Then the run polls it for the join, or for the wake if the join is gone by then.
pub(in crate::core) fn fire(core: &Core, key: WaitKey) {
    if let Some((_, waker)) = take(core, key) {
        call::quietly(|| waker.into_inner().wake());
    }
}

#[inline(always)]
fn take(core: &Core, key: WaitKey) -> Option<(TaskKey, Foreign<Waker>)> {
    if !key.is_entry() {
        return None;
    }
    core.entries.borrow_mut().take_waker(key)
}
