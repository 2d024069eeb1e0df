//! Wakers: the one that polls borrow, and those that leave the executor.
//!
//! A coroutine is polled with a waker that exists only for the length of the
//! run and costs nothing to make: its data is the [`Level`] that polls. Whoever
//! clones it gets a thread-safe waker of the coroutine that is being polled,
//! made once for each coroutine; from then on the coroutine is polled with that
//! one, so that `will_wake` holds.
//!
//! Wakers hold the inbox and the coroutine's key, never the coroutine: dropping
//! one frees at most a few bytes, on whatever thread.

use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::context::{self, Level};
use crate::inbox::{Inbox, Message};
use crate::key::TaskKey;
use crate::sync::{Arc, AtomicBool, Ordering};

/// What the wakers of one coroutine share.
pub(crate) struct TaskWake {
    inbox: Arc<Inbox>,
    pub(crate) key: TaskKey,
    /// Whether a message for it is in the inbox: a million wakes are one.
    queued: AtomicBool,
}

impl TaskWake {
    fn wake(this: &Arc<Self>) {
        if context::wake_here(this.inbox.executor(), this.key) {
            return;
        }
        if !this.queued.swap(true, Ordering::AcqRel) {
            // Of a dead executor there is nothing to wake.
            drop(this.inbox.push(Message::Wake(this.clone())));
        }
    }

    /// The executor has taken the message over: later wakes count anew.
    pub(crate) fn taken(&self) {
        // A swap, not a store: it reads what the last waker wrote, so what that
        // waker's thread did before waking is visible to the poll that follows.
        self.queued.swap(false, Ordering::AcqRel);
    }
}

/// A waker that may go anywhere.
pub(crate) fn owned(inbox: Arc<Inbox>, key: TaskKey) -> Waker {
    let wake = Arc::new(TaskWake {
        inbox,
        key,
        queued: AtomicBool::new(false),
    });
    waker_fn::waker_fn(move || TaskWake::wake(&wake))
}

/// The waker that a level polls with.
///
/// # Safety
///
/// `level` must be valid, and must not move, for as long as the waker lives;
/// the waker must not be dropped after it, nor handed out by value.
pub(crate) unsafe fn borrowed(level: *const Level) -> Waker {
    // SAFETY: the functions of the table uphold the contract of `RawWaker` for
    // as long as `level` is valid, which the caller promises.
    unsafe { Waker::from_raw(RawWaker::new(level.cast(), &BORROWED)) }
}

static BORROWED: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, |_| ());

unsafe fn clone(level: *const ()) -> RawWaker {
    // SAFETY: whoever clones borrows the waker, which the level outlives.
    let level = unsafe { &*level.cast::<Level>() };
    let waker = std::mem::ManuallyDrop::new(level.owned_waker());
    RawWaker::new(waker.data(), waker.vtable())
}

unsafe fn wake_by_ref(level: *const ()) {
    // SAFETY: whoever wakes borrows the waker, which the level outlives.
    let level = unsafe { &*level.cast::<Level>() };
    level.wake_current();
}
