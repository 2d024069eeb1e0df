//! The waker for other threads: it sends a letter, with the key of its task, to
//! the executor.

#![forbid(unsafe_code)]

use std::task::Waker;

use crate::core::task::TaskKey;

use super::inbox::{Inbox, Message};
use super::sync::{Arc, AtomicBool, Ordering};

/// What all outside wakers of one coroutine share.
pub(crate) struct Letter {
    inbox: Arc<Inbox>,
    pub(crate) key: TaskKey,
    /// Whether the letter is in the inbox: a million wakes send it once.
    sent: AtomicBool,
}

impl Letter {
    fn send(this: &Arc<Self>) {
        if !this.sent.swap(true, Ordering::AcqRel) {
            // If the executor is gone, there is nothing to wake.
            drop(this.inbox.push(Message::Wake(this.clone())));
        }
    }

    /// Notes that the executor has taken the letter: the next wake sends it again.
    pub(crate) fn taken(&self) {
        // A swap, not a store. It reads what the last waker wrote, so what that
        // waker's thread did before the wake is visible to the poll that follows.
        self.sent.swap(false, Ordering::AcqRel);
    }
}

/// An outside waker, which may be used on any thread.
pub(crate) fn outside(inbox: Arc<Inbox>, key: TaskKey) -> Waker {
    let letter = Arc::new(Letter {
        inbox,
        key,
        sent: AtomicBool::new(false),
    });
    waker_fn::waker_fn(move || Letter::send(&letter))
}
