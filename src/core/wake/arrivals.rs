//! Messages from other threads that have been taken, and what is left to the next run.

use std::cell::{Cell, RefCell};

use crate::core::call::Foreign;
use crate::core::cell::Guarded;
use crate::core::waker::{Message, Order};

/// What the next run has to do before it polls.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// Kept to reuse its memory.
    pub(crate) messages: RefCell<Vec<Message>>,
    /// The calls that other threads have sent, to make when the next run begins.
    calls: Guarded<Vec<Foreign<Order>>>,
    /// Whether there is anything to do before the next run polls, or after it.
    has_news: Cell<bool>,
}

impl Arrivals {
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.get()
    }

    /// Notes that an earlier call has left something to the next run: starts, ends,
    /// unread outputs, or a panic that is to be passed on.
    pub(crate) fn note_news(&self) {
        self.has_news.set(true);
    }

    pub(crate) fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.has_news.set(true);
    }

    pub(crate) fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.has_news.set(false);
        self.calls.take()
    }
}
