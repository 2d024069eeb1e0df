//! Messages from other threads to the executor.

use std::mem;
use std::sync::PoisonError;
use std::task::Waker;

use crate::core::call::{self, Foreign};
use crate::core::task::TaskKey;

use super::remote::RemoteWake;
use super::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering};

/// A call that another thread sends to the executor's thread. It receives the number
/// of the executor.
pub(crate) type Order = Box<dyn FnOnce(u32) + Send>;

pub(crate) enum Message {
    /// A waker of this task was called.
    Wake(Arc<RemoteWake>),
    /// `Remote::spawn` was called.
    Spawn(Foreign<Order>),
    /// `Remote::call` or `Remote::stop` was called, or a `SendOwner` was dropped.
    /// It is user code, so it is called when a run begins.
    Call(Foreign<Order>),
}

/// The one door between threads: a list in order of arrival, behind a lock. The
/// lock is held only to push one message or to take all of them.
#[derive(Default)]
pub(crate) struct InjectionQueue {
    messages: Mutex<Messages>,
    /// Whether there are messages. The executor reads it without the lock.
    waiting: AtomicBool,
    /// Whether the host has been notified since it last looked or a run began.
    is_notified: AtomicBool,
    /// Shared, so that the waker can be called without the lock: that is user code.
    host: Mutex<Option<Arc<Foreign<Waker>>>>,
}

#[derive(Default)]
struct Messages {
    list: Vec<Message>,
    closed: bool,
}

/// Locks a mutex. User code never runs under these locks, so the data of a
/// poisoned one is good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InjectionQueue {
    /// Adds a message. Returns it as an error if the executor is gone.
    pub(crate) fn push(&self, message: Message) -> Result<(), Message> {
        {
            let mut messages = lock(&self.messages);
            if messages.closed {
                return Err(message);
            }
            messages.list.push(message);
            // Under the lock: the call that clears the flag also takes the message.
            self.waiting.store(true, Ordering::Release);
        }
        self.notify_host();
        Ok(())
    }

    /// Notifies the host that there is something to do: once, until the host looks
    /// or runs.
    pub(crate) fn notify_host(&self) {
        if !self.is_notified.swap(true, Ordering::AcqRel) {
            let host = lock(&self.host).clone();
            if let Some(host) = host {
                // A waker may be called in a destructor.
                call::in_drop(|| host.get().wake_by_ref());
            }
        }
    }

    /// Notes that the host is about to look, and wants a new notification after
    /// that.
    pub(crate) fn acknowledge(&self) {
        if self.is_notified.load(Ordering::Relaxed) {
            // A swap, not a store. A thread whose swap in `notify_host` reads `true`
            // does not notify the host. That swap comes before this one, which so
            // acquires what the thread has pushed.
            self.is_notified.swap(false, Ordering::AcqRel);
        }
    }

    /// Whether there are or an announcement that has not been acknowledged.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.is_notified.load(Ordering::Relaxed) || self.has_messages()
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

    /// Calls `f` with the tasks whose wakes have not been taken.
    pub(crate) fn each_woken(&self, mut f: impl FnMut(TaskKey)) {
        for message in &lock(&self.messages).list {
            if let Message::Wake(wake) = message {
                f(wake.key);
            }
        }
    }

    /// Sets the waker of the host, which is called for events from outside.
    pub(crate) fn set_host(&self, waker: Waker) {
        let previous = lock(&self.host).replace(Arc::new(Foreign::new(waker)));
        // This host has not been notified of anything yet.
        self.acknowledge();
        drop(previous);
    }

    /// Refuses messages from now on. Returns those that have not been taken.
    pub(crate) fn close(&self) -> Vec<Message> {
        let host = lock(&self.host).take();
        drop(host);
        let mut messages = lock(&self.messages);
        messages.closed = true;
        self.waiting.store(false, Ordering::Relaxed);
        mem::take(&mut messages.list)
    }
}
