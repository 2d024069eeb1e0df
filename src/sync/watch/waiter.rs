//! The waiter of a watch.

use std::rc::Rc;
use std::task::Context;

use crate::sync::waiters::Waiting;

use super::Shared;

/// A waiter of a watch, with the version of the value that it has seen.
pub(super) struct Waiter<T> {
    pub(super) shared: Rc<Shared<T>>,
    index: usize,
    seen: u64,
}

impl<T> Waiter<T> {
    /// Makes a waiter that has seen the current value.
    pub(super) fn new(shared: &Rc<Shared<T>>) -> Self {
        let mut state = shared.state.borrow_mut();
        Waiter {
            shared: shared.clone(),
            index: state.waiters.add(()),
            seen: state.version,
        }
    }

    pub(super) fn has_news(&self) -> bool {
        self.shared.state.borrow().version != self.seen
    }

    /// Records that it has seen the current value.
    pub(super) fn see(&mut self) {
        self.seen = self.shared.state.borrow().version;
    }

    /// Records that it has not seen the current value.
    pub(super) fn unsee(&mut self) {
        self.seen = self.shared.state.borrow().version.wrapping_sub(1);
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.shared.state.borrow().handles == 0
    }

    /// How often the watch has been removed.
    pub(super) fn removals(&self) -> u64 {
        self.shared.state.borrow().waiters.removals()
    }

    /// Whether it has seen the last value.
    pub(super) fn is_closed(&self) -> bool {
        self.is_abandoned() && !self.has_news()
    }

    /// Whether a closure changes the value. If so, waits until it has returned.
    #[track_caller]
    pub(super) fn defers(&self, cx: &Context<'_>) -> bool {
        let defers = self.shared.defers();
        if defers {
            self.wait(cx);
        }
        defers
    }

    /// Waits with the waker in `cx`. Calls user code, which may change the value.
    #[track_caller]
    pub(super) fn wait(&self, cx: &Context<'_>) {
        let state = &self.shared.state;
        let (is_waiting, shown) = {
            let state = state.borrow();
            let is_waiting = state.waiters.waits_with(self.index, cx.waker());
            let shows = !is_waiting && state.show.is_some();
            (is_waiting, shows.then(|| state.waiters.source()).flatten())
        };
        if !is_waiting {
            if let Some(source) = &shown {
                self.shared.show(source);
            }
            let noted = state.borrow().waiters.note();
            let waiting = Waiting::new(cx, noted);
            let previous = state.borrow_mut().waiters.wait(self.index, waiting);
            drop(previous);
        }
    }

    /// Stops waiting.
    pub(super) fn stop(&self) {
        let waiting = self.shared.state.borrow_mut().waiters.stop(self.index);
        drop(waiting);
    }
}

impl<T> Drop for Waiter<T> {
    fn drop(&mut self) {
        let ((), waiting) = self.shared.state.borrow_mut().waiters.remove(self.index);
        drop(waiting);
    }
}
