//! Calling the foreign wakers of due waits. A combinator must be notified which
//! of its futures are ready.

#![forbid(unsafe_code)]

use crate::core::Core;
use crate::core::call;
use crate::core::key::WaitKey;

use super::Lists;

impl Core {
    /// Calls the foreign wakers of all waits that are due in the run that has
    /// begun. This comes before the first poll. Each coroutine is then polled once,
    /// and a combinator in it knows all of its futures that are ready.
    pub(super) fn fire_due(&self, lists: &Lists) {
        if !self.entries.borrow().has_foreign() {
            return;
        }
        let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
        let waits = lists.waiters.iter().chain(&lists.counts).copied();
        for key in waits.chain(timers) {
            self.fire(key);
        }
    }

    /// Calls the foreign waker of a wait that is due. The wait itself makes its
    /// coroutine due: if the waker wakes the same coroutine, that changes nothing.
    pub(in crate::core) fn fire(&self, key: WaitKey) {
        if !key.is_entry() {
            return;
        }
        let taken = self.entries.borrow_mut().take_waker(key);
        if let Some((task, waker)) = taken {
            let outer = self.runs.firing.replace(Some(task));
            call::quietly(|| waker.into_inner().wake());
            self.runs.firing.set(outer);
        }
    }
}
