//! Messages from other threads that have been taken, and what is left to the next run.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};

use super::call::Foreign;
use super::cell::Guarded;
use super::waker::{Message, Order};

/// What the next run has to do before it polls.
#[derive(Default)]
pub(super) struct Arrivals {
    /// Kept to reuse its memory.
    pub(super) messages: RefCell<Vec<Message>>,
    /// The calls that other threads have sent, to make when the next run begins.
    calls: Guarded<Vec<Foreign<Order>>>,
    /// Whether there is anything to call when the next run begins.
    has_calls: Cell<bool>,
}

impl Arrivals {
    #[inline]
    pub(super) fn has_calls(&self) -> bool {
        self.has_calls.get()
    }

    /// Notes that an earlier call has left ends or unread outputs to the next run.
    pub(super) fn note_rest(&self) {
        self.has_calls.set(true);
    }

    pub(super) fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.has_calls.set(true);
    }

    pub(super) fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.has_calls.set(false);
        self.calls.take()
    }
}
