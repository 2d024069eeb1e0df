//! Messages from other threads, and the work that is left to the next run.

use std::cell::{Cell, RefCell};

use crate::core::base::call::Foreign;
use crate::core::base::cell::Guarded;
use crate::core::wake::waker::{Message, Order};

/// The work of the next run beside its polls.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// A buffer for messages, kept to reuse its memory.
    pub(crate) messages: RefCell<Vec<Message>>,
    /// The calls that other threads have sent. The next run makes them as it begins.
    calls: Guarded<Vec<Foreign<Order>>>,
    /// Whether the next run has such work before its polls or after them.
    has_news: Cell<bool>,
}

impl Arrivals {
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.get()
    }

    /// Notes that a call has left work to the next run: starts, ends, unobserved outputs, or
    /// a panic that must be passed on.
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
