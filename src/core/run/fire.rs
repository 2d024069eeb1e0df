//! Calling the foreign wakers of due waits. They tell a combinator which of its futures
//! are ready.

use std::task::Waker;

use crate::core::Core;
use crate::core::call::{self, Foreign};
use crate::core::registration::key::WaitKey;
use crate::core::run::state::Lists;
use crate::core::task::{Flags, Pause, Task, TaskKey};

/// Calls the foreign wakers of all waits that are due in the run that has begun. That
/// happens before the first poll. Then each coroutine is polled once, and its
/// combinators know all of their futures that are ready.
///
/// Returns the paused coroutines that remember such a wake. Until the run ends, their wait
/// takes precedence: it may be served at its turn, or gone by then.
pub(crate) fn fire_due(core: &Core, lists: &Lists) -> Vec<TaskKey> {
    let mut woken = Vec::new();
    if !core.entries.borrow().has_foreign() {
        return woken;
    }
    let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
    let waits = lists.waiters.iter().chain(&lists.counts).copied();
    for key in waits.chain(timers) {
        woken.extend(fire_spare(core, key));
    }
    // Timers that would be due if their coroutines were not paused. Other coroutines may
    // wait for the same timer, inside a combinator that polls only woken futures. The waker
    // is their only link to the timer. The coroutine that polls it then continues with it.
    for &key in &lists.suspended {
        fire_spare(core, key);
    }
    woken
}

/// Makes the wakes that [`fire_due`] has returned count, unless something else has
/// replaced them.
pub(crate) fn keep_wakes(core: &Core, woken: Vec<TaskKey>) {
    for task in woken.into_iter().filter_map(|key| core.tasks.get(key)) {
        core.tasks
            .pause_of(task, |pause| pause.is_wake_spare = false);
    }
}

/// Calls a foreign waker. If that wakes the paused coroutine of the wait, and nothing has
/// done so before, the coroutine remembers a wake that others replace. Then it is returned.
#[inline(always)]
fn fire_spare(core: &Core, key: WaitKey) -> Option<TaskKey> {
    let (task, waker) = take(core, key)?;
    let is_paused = |task: Task<'_>| task.has(Flags::PAUSED);
    if core.tasks.get(task).is_some_and(is_paused) {
        return fire_paused(core, task, waker);
    }
    call::quietly(|| waker.into_inner().wake());
    None
}

#[cold]
#[inline(never)]
fn fire_paused(core: &Core, task: TaskKey, waker: Foreign<Waker>) -> Option<TaskKey> {
    let pause_of = |f: fn(&mut Pause) -> bool| {
        let task = core.tasks.get(task)?;
        core.tasks.pause_of(task, f)
    };
    let was_spare = pause_of(|pause| pause.has_spare_wake()) == Some(true);
    call::quietly(|| waker.into_inner().wake());
    // The waker may have ended the task.
    let is_spare = was_spare
        && pause_of(|pause| {
            pause.note_spare_wake();
            pause.is_wake_spare
        }) == Some(true);
    is_spare.then_some(task)
}

/// Calls the foreign waker of a join that is over. The waker may wake the same coroutine.
/// Then the run polls it for the join, or for the wake if the join is gone by then.
pub(in crate::core) fn fire(core: &Core, key: WaitKey) {
    if let Some((task, waker)) = take(core, key) {
        let task = core.tasks.get(task);
        if let Some(task) = task.filter(|task| task.has(Flags::PAUSED) && task.is_alive()) {
            // The join counts first, before the wake by the task waker.
            core.pauses.remember_wake(&core.tasks, task, task.home());
        }
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
