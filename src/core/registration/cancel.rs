//! How a registration is cancelled. Its key goes stale in the list that holds it.

use std::mem;

use crate::core::Core;
use crate::core::base::call;
use crate::core::base::key::WaitKey;
use crate::core::registration::tag::Stage;
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::registry;
use crate::core::wake;
use crate::time::PhaseIndex;

impl Registration {
    /// Makes a wait as new, except that it keeps its phase. Wakes the coroutine that waits, and a
    /// combinator with a waker of its own: it has to poll the wait again. That may be the
    /// coroutine that is being polled, if it has polled the wait before in this poll. Calls user
    /// code: that waker.
    pub(crate) fn renew_as_new(&mut self, list: WaitList) {
        if self.is_new() {
            return;
        }
        let key = self.key;
        let waits = registry::with_executor(self.tag.executor, |core| {
            let task = core.waits().task(key).map(|task| task.task_key());
            let waker = core.entries.borrow_mut().take_waker_of(key);
            (core.rc(), task, waker)
        });
        self.cancel(list);
        self.tag.stage = Stage::Renewed;
        if let Some((core, task, waker)) = waits {
            if let Some(task) = task {
                wake::wake(&core, task);
                core.host.notify();
            }
            if let Some(waker) = waker {
                call::quietly(|| waker.into_inner().wake());
            }
        }
    }

    /// Cancels the registration of a wait that is dropped, or moves to another coroutine
    /// or waker. The registration resumes nothing any more.
    #[inline(always)]
    pub(crate) fn cancel(&mut self, list: WaitList) {
        let key = mem::replace(&mut self.key, WaitKey::NONE);
        if key != WaitKey::NONE {
            cancel(key, self.tag.executor, self.tag.phase, list);
        }
    }
}

// Takes its arguments by value. By reference, the caller would have to keep the
// registration in memory even if this is never called.
#[cold]
#[inline(never)]
fn cancel(key: WaitKey, executor: u32, phase: PhaseIndex, list: WaitList) {
    // The executor is found by its number: a destructor that the host runs may have no
    // scope.
    registry::with_executor(executor, |core| cancel_in(core, key, phase, list));
}

/// Cancels the registration under `key`.
fn cancel_in(core: &Core, key: WaitKey, phase: PhaseIndex, list: WaitList) {
    if key.is_entry() {
        core.waits().leave_joins(key);
        let removed = core.entries.borrow_mut().remove(key);
        if removed.is_none() {
            return;
        }
        note_stale(core, phase, list);
        // The waker is dropped last: that is user code.
        drop(removed);
    } else if let Some(task) = core.tasks.waiting(key) {
        task.deregister();
        note_stale(core, phase, list);
    }
}

/// Notes that a key has gone stale in its list.
fn note_stale(core: &Core, phase: PhaseIndex, list: WaitList) {
    // A join has no phase.
    let state = || core.phases.get(phase);
    let is_live = |key| core.waits().is_live(key);
    match list {
        WaitList::Queue => state().queue.note_stale(is_live),
        WaitList::Counts(unit) => state().counts.borrow_mut().note_stale(unit, is_live),
        WaitList::Timer(clock) => {
            let is_live = |entry| core.timers().is_live(entry);
            state().timers.borrow_mut().note_stale(clock, is_live);
        }
        WaitList::Joins => {}
    }
}
