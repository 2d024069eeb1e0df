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
    /// What the next run has to do before its polls or after them: [`NEWS`] and [`REQUESTS`].
    work: Cell<u8>,
}

/// Calls, or what a call has left to the next run.
const NEWS: u8 = 1;

/// Requests to stop with a time: each run looks at them.
const REQUESTS: u8 = 2;

impl Arrivals {
    /// Whether the next run has anything to do beside its polls.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.work.get() != 0
    }

    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.work.get() & NEWS != 0
    }

    #[inline]
    pub(crate) fn has_requests(&self) -> bool {
        self.work.get() & REQUESTS != 0
    }

    /// Notes that a call has left work to the next run: starts, ends, unread outputs, or
    /// a panic that must be passed on.
    pub(crate) fn note_news(&self) {
        self.work.set(self.work.get() | NEWS);
    }

    /// Notes whether there are requests to stop with a time.
    pub(crate) fn note_requests(&self, any: bool) {
        self.work
            .set(self.work.get() & NEWS | if any { REQUESTS } else { 0 });
    }

    pub(crate) fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.note_news();
    }

    pub(crate) fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.work.set(self.work.get() & REQUESTS);
        self.calls.take()
    }
}
