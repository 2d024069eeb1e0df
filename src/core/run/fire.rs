//! Calling the foreign wakers of due waits. A combinator must be notified which
//! of its futures are ready.

#![forbid(unsafe_code)]

use crate::core::Core;
use crate::core::call;
use crate::core::key::WaitKey;
use crate::core::task::Flags;
use crate::time::PhaseIndex;

use super::Lists;

impl Core {
    /// Calls the foreign wakers of all waits that are due in the run that has
    /// begun. This comes before the first poll. Each coroutine is then polled once,
    /// and a combinator in it knows all of its futures that are ready.
    pub(super) fn fire_due(&self, lists: &Lists, phase: PhaseIndex) {
        if !self.entries.borrow().has_foreign() {
            return;
        }
        let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
        let waits = lists.waiters.iter().chain(&lists.counts).copied();
        for key in waits.chain(timers) {
            self.fire(key, Some(phase));
        }
        for &key in &lists.parked {
            self.fire_parked(key);
        }
    }

    /// Calls the foreign waker of a timer that would be due if its coroutine were not
    /// paused. A combinator that polls only what was woken may hide the timer from
    /// others that wait for it: the waker is their only link. The one that polls the
    /// timer then goes on with it.
    fn fire_parked(&self, key: WaitKey) {
        let taken = self.entries.borrow_mut().take_waker(key);
        if let Some((task, waker)) = taken {
            let paused = self.tasks.get(task);
            let was_spare = paused.is_some_and(|paused| self.has_spare_wake(paused));
            call::quietly(|| waker.into_inner().wake());
            // The waker may have ended the task.
            if let Some(task) = self.tasks.get(task).filter(|_| was_spare) {
                self.note_spare_wake(task);
            }
        }
    }

    /// Calls the foreign waker of a wait that is due: in a run of `phase`, or at the
    /// home of its coroutine. The waker may wake the same coroutine. The run then
    /// polls it for the wait, or for the wake if the wait is gone by then.
    pub(in crate::core) fn fire(&self, key: WaitKey, phase: Option<PhaseIndex>) {
        if !key.is_entry() {
            return;
        }
        let taken = self.entries.borrow_mut().take_waker(key);
        if let Some((task, waker)) = taken {
            let task = self.tasks.get(task);
            if let Some(task) = task.filter(|task| task.has(Flags::PAUSED) && task.is_alive()) {
                // The wait comes first, before the wake by its own waker.
                self.remember_wake(task, phase.unwrap_or_else(|| task.home()));
            }
            call::quietly(|| waker.into_inner().wake());
        }
    }
}
