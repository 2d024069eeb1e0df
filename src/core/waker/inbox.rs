//! What reaches the executor from other threads.

#![forbid(unsafe_code)]

use std::mem;
use std::sync::PoisonError;
use std::task::Waker;

use crate::core::Core;
use crate::core::call::{self, Foreign};
use crate::coroutine::TaskKey;

use super::outside::Letter;
use super::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering};

/// What another thread has the executor's thread do.
pub(crate) type Order = Box<dyn FnOnce(&Core) + Send>;

pub(crate) enum Message {
    /// A waker of this task was called.
    Wake(Arc<Letter>),
    /// `Remote::spawn` was called.
    Spawn(Foreign<Order>),
    /// `Remote::call` or `Remote::stop` was called, or a `SendOwner` dropped: for when
    /// a run begins, since that is user code.
    Call(Foreign<Order>),
}

/// The one door between threads: an ordered list behind a lock that is held
/// only to push one message or to take them all.
#[derive(Default)]
pub(crate) struct Inbox {
    messages: Mutex<Messages>,
    /// Whether there are messages: lets the executor look without the lock.
    waiting: AtomicBool,
    /// Whether the host has been told since the last run began.
    announced: AtomicBool,
    /// Shared, so that the waker can be called, which is user code, without the
    /// lock.
    host: Mutex<Option<Arc<Waker>>>,
}

#[derive(Default)]
struct Messages {
    list: Vec<Message>,
    closed: bool,
}

/// User code never runs under these locks, so a poisoned one holds good data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inbox {
    /// Hands the message over, or back if the executor is gone.
    pub(crate) fn push(&self, message: Message) -> Result<(), Message> {
        {
            let mut messages = lock(&self.messages);
            if messages.closed {
                return Err(message);
            }
            messages.list.push(message);
            // Under the lock: a taker that clears it also takes the message.
            self.waiting.store(true, Ordering::Release);
        }
        self.announce();
        Ok(())
    }

    /// Tells the host that there is something to do, once until it runs.
    pub(crate) fn announce(&self) {
        if !self.announced.swap(true, Ordering::AcqRel) {
            let host = lock(&self.host).clone();
            if let Some(host) = host {
                call::out(|| host.wake_by_ref());
            }
        }
    }

    /// The host is about to look: from now on it has to be told anew.
    pub(crate) fn acknowledge(&self) {
        if self.announced.load(Ordering::Relaxed) {
            // A swap, not a store: a thread that finds the host told already, and so
            // does not tell it, comes before this, and with it what it pushed.
            self.announced.swap(false, Ordering::AcqRel);
        }
    }

    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        self.waiting.load(Ordering::Acquire)
    }

    /// Swaps the messages into `list`, which is empty, in order of arrival.
    pub(crate) fn take(&self, list: &mut Vec<Message>) {
        debug_assert!(list.is_empty());
        let mut messages = lock(&self.messages);
        self.waiting.store(false, Ordering::Relaxed);
        mem::swap(&mut messages.list, list);
    }

    /// Shows the tasks to `f` whose wakes have not been taken.
    pub(crate) fn each_woken(&self, mut f: impl FnMut(TaskKey)) {
        for message in &lock(&self.messages).list {
            if let Message::Wake(wake) = message {
                f(wake.key);
            }
        }
    }

    /// The waker of the host, to call when something arrives from outside.
    pub(crate) fn set_host(&self, waker: Waker) {
        let previous = lock(&self.host).replace(Arc::new(waker));
        // Nothing of what came before has been told to this one.
        self.acknowledge();
        drop(previous.map(Foreign::new));
    }

    /// Refuses messages from now on; gives back what had not been taken.
    pub(crate) fn close(&self) -> Vec<Message> {
        let host = lock(&self.host).take();
        drop(host.map(Foreign::new));
        let mut messages = lock(&self.messages);
        messages.closed = true;
        self.waiting.store(false, Ordering::Relaxed);
        mem::take(&mut messages.list)
    }
}
