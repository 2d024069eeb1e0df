//! How a registration is cancelled. Its key goes stale in the list that holds it.

use std::mem;

use crate::core::Core;
use crate::core::base::call;
use crate::core::base::key::WaitKey;
use crate::core::registration::tag::Stage;
use crate::core::registration::{Registration, WaitList, another_script, ticket_of};
use crate::core::scope::{self, recording, registry};
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
        if self.is_shell() {
            return self.renew_shell(list);
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

    /// The same of a wait that a recorder has. Only the script that has begun it may do so: its journal has to say when
    /// the wait began anew.
    ///
    /// # Panics
    ///
    /// In other code.
    #[cold]
    #[track_caller]
    fn renew_shell(&mut self, list: WaitList) {
        if !recording::is_here(self.tag.executor) {
            another_script();
        }
        self.cancel(list);
        self.tag.stage = Stage::New;
        scope::with(|scope| {
            if let Some((scope, task)) = scope.and_then(|scope| Some((scope, scope.current()?))) {
                wake::wake(scope.core(), task.task_key());
            }
        });
    }

    /// Cancels the registration of a wait that is dropped, or moves to another coroutine
    /// or waker. The registration resumes nothing any more.
    #[inline(always)]
    pub(crate) fn cancel(&mut self, list: WaitList) {
        let key = mem::replace(&mut self.key, WaitKey::NONE);
        if key != WaitKey::NONE {
            cancel(key, self.began, self.tag.executor, self.tag.phase, list);
        }
    }
}

// Takes its arguments by value. By reference, the caller would have to keep the
// registration in memory even if this is never called.
#[cold]
#[inline(never)]
fn cancel(key: WaitKey, began: u64, executor: u32, phase: PhaseIndex, list: WaitList) {
    if recording::is_recorder(executor) {
        return recording::forget(executor, ticket_of(began));
    }
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
