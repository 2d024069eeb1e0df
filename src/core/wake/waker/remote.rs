//! The waker for other threads: it sends a remote wake, with the key of its task, to
//! the executor.

use crate::core::base::key::TaskKey;
use std::task::Waker;

use super::injection::{InjectionQueue, Message};
use super::sync::{Arc, AtomicBool, Ordering};

/// The state that all clones of a remote waker share.
pub(crate) struct RemoteWake {
    injected: Arc<InjectionQueue>,
    pub(crate) key: TaskKey,
    /// Whether the wake is in the injection queue. A million wakes send it once.
    sent: AtomicBool,
}

impl RemoteWake {
    fn send(this: &Arc<Self>) {
        if !this.sent.swap(true, Ordering::AcqRel) {
            // If the executor is gone, there is nothing to wake.
            drop(this.injected.push(Message::Wake(this.clone())));
        }
    }

    /// Notes that the executor has taken the wake: the next wake sends it again.
    pub(crate) fn taken(&self) {
        // A swap, not a store: it reads the value that the last waker wrote. So
        // everything that the waker's thread did before the wake is visible to the poll
        // that follows.
        self.sent.swap(false, Ordering::AcqRel);
    }
}

/// Makes a remote waker, which may be used on any thread.
pub(crate) fn remote_waker(injected: Arc<InjectionQueue>, key: TaskKey) -> Waker {
    let wake = Arc::new(RemoteWake {
        injected,
        key,
        sent: AtomicBool::new(false),
    });
    waker_fn::waker_fn(move || RemoteWake::send(&wake))
}
