//! Calling the wakers that due waits were polled with, where those are not their
//! coroutines' own: a combinator must hear which of its futures are ready.

#![forbid(unsafe_code)]

use crate::core::Core;
use crate::core::call;
use crate::core::key::WaitKey;

use super::Lists;

impl Core {
    /// Calls the wakers of all waits due in the run that has begun. That comes
    /// first, so that a combinator finds all of its futures that are ready in
    /// the one poll its coroutine gets.
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

    /// Calls the waker of a wait that makes its coroutine due by itself: what the
    /// waker does to that very coroutine changes nothing.
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
