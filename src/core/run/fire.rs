//! Calling the foreign wakers of due waits. They tell a combinator which of its futures
//! are ready.

use std::task::Waker;

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::base::cell::Restore;
use crate::core::base::key::{TaskKey, WaitKey};
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
