//! The waker of other threads: a letter to the executor, with its key in it.

#![forbid(unsafe_code)]

use std::task::Waker;

use crate::coroutine::TaskKey;

use super::inbox::{Inbox, Message};
use super::sync::{Arc, AtomicBool, Ordering};

/// What all outside wakers of one coroutine share.
pub(crate) struct Letter {
    inbox: Arc<Inbox>,
    pub(crate) key: TaskKey,
    /// Whether it is in the inbox: a million wakes are one.
    sent: AtomicBool,
}

impl Letter {
    fn send(this: &Arc<Self>) {
        if !this.sent.swap(true, Ordering::AcqRel) {
            // Of a dead executor there is nothing to wake.
            drop(this.inbox.push(Message::Wake(this.clone())));
        }
    }

    /// The executor has taken it over: later wakes count anew.
    pub(crate) fn taken(&self) {
        // A swap, not a store: it reads what the last waker wrote, so what that
        // waker's thread did before waking is visible to the poll that follows.
        self.sent.swap(false, Ordering::AcqRel);
    }
}

/// A waker that may go anywhere.
pub(crate) fn outside(inbox: Arc<Inbox>, key: TaskKey) -> Waker {
    let letter = Arc::new(Letter {
        inbox,
        key,
        sent: AtomicBool::new(false),
    });
    waker_fn::waker_fn(move || Letter::send(&letter))
}
