//! Messages from other threads that have been taken, and what is left to the next run.

#![forbid(unsafe_code)]

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
    /// Whether there is anything to call when the next run begins.
    has_calls: Cell<bool>,
}

impl Arrivals {
    #[inline]
    pub(crate) fn has_calls(&self) -> bool {
        self.has_calls.get()
    }

    /// Notes that an earlier call has left ends or unread outputs to the next run.
    pub(crate) fn note_rest(&self) {
        self.has_calls.set(true);
    }

    pub(crate) fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.has_calls.set(true);
    }

    pub(crate) fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.has_calls.set(false);
        self.calls.take()
    }
}
