//! How a registration is cancelled. Its key goes stale in the list that holds it.

use std::mem;

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::registry;
use crate::time::PhaseIndex;

impl Registration {
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
        WaitList::Timer(clock) => state().timers.borrow_mut().note_stale(clock, is_live),
        WaitList::Joins => {}
    }
}
