//! Messages from other threads to the executor, and the waker that sends them: with the key of its
//! task.

use std::mem;
use std::sync::PoisonError;
use std::task::Waker;

use crate::core::base::call::{self, Foreign};
use crate::core::base::key::TaskKey;

use super::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering};

/// A call that another thread sends to the executor's thread. It receives the number
/// of the executor.
pub(crate) type Order = Box<dyn FnOnce(u32) + Send>;

pub(crate) enum Message {
    /// A waker of this task was called.
    Wake(Arc<RemoteWake>),
    /// `RemoteHandle::spawn` was called.
    Spawn(Foreign<Order>),
    /// `RemoteHandle::call` or `RemoteHandle::stop` was called, or a `SendOwner` was dropped. The
    /// order is user code, so it is called when a run begins.
    Call(Foreign<Order>),
}

/// The only way from other threads to the executor: a list in order of arrival, behind a
/// lock. The lock is held only to push one message, or to take or read all of them.
#[derive(Default)]
pub(crate) struct InjectionQueue {
    messages: Mutex<Messages>,
    /// Whether there are messages. The executor reads this flag without the lock.
    waiting: AtomicBool,
    /// Whether the host has been notified since it last looked or a run began.
    is_notified: AtomicBool,
    /// The waker of the host. It is shared, so that it can be called without the lock:
    /// that call is user code.
    host: Mutex<Option<Arc<Foreign<Waker>>>>,
}

#[derive(Default)]
struct Messages {
    list: Vec<Message>,
    closed: bool,
}

/// Locks a mutex. User code never runs under these locks. So the data of a poisoned
/// mutex is good.
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
            // Under the lock, so that a call that clears the flag takes the message, too.
            self.waiting.store(true, Ordering::Release);
        }
        self.notify_host();
        Ok(())
    }

    /// Notifies the host that there is something to do. Does so once, until the host looks
    /// or runs.
    pub(crate) fn notify_host(&self) {
        // The first message since the host looked notifies it. The others were pushed before the host
        // looks again, so it finds them then.
        if !self.is_notified.swap(true, Ordering::AcqRel) {
            let host = lock(&self.host).clone();
            if let Some(host) = host {
                // This call may come from a destructor.
                call::in_drop(|| host.get().wake_by_ref());
            }
        }
    }

    /// Notes that the host is about to look. After that, the host is notified again.
    pub(crate) fn acknowledge(&self) {
        if self.is_notified.load(Ordering::Relaxed) {
            // A swap, not a store. A thread whose swap in `notify_host` reads `true`
            // does not notify the host. Its swap comes before this swap, which thereby
            // acquires what the thread has pushed.
            self.is_notified.swap(false, Ordering::AcqRel);
        }
    }

    /// Whether there are messages, or a notification that has not been acknowledged.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.is_notified.load(Ordering::Relaxed) || self.has_messages()
    }

    /// Whether there are messages that have not been taken.
    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        self.waiting.load(Ordering::Acquire)
    }

    /// Swaps the messages into `list`, in order of arrival. `list` must be empty.
    pub(crate) fn take(&self, list: &mut Vec<Message>) {
        debug_assert!(list.is_empty());
        let mut messages = lock(&self.messages);
        // Under the lock, like the store of `true`: a message is never in the list while the flag says that
        // there is none.
        self.waiting.store(false, Ordering::Relaxed);
        mem::swap(&mut messages.list, list);
    }

    /// Calls `f` with each task that was woken, if the wake has not been taken.
    pub(crate) fn each_woken(&self, mut f: impl FnMut(TaskKey)) {
        for message in &lock(&self.messages).list {
            if let Message::Wake(wake) = message {
                f(wake.key);
            }
        }
    }

    /// Sets the waker of the host.
    pub(crate) fn set_host(&self, waker: Waker) {
        let previous = lock(&self.host).replace(Arc::new(Foreign::new(waker)));
        // This host has not been notified of anything yet.
        self.acknowledge();
        drop(previous);
    }

    /// Refuses messages from now on. Returns those that have not been taken.
    pub(crate) fn close(&self) -> Vec<Message> {
        // First, so that a push before the close calls no waker of a host whose executor ends.
        let host = lock(&self.host).take();
        drop(host);
        let mut messages = lock(&self.messages);
        messages.closed = true;
        self.waiting.store(false, Ordering::Relaxed);
        mem::take(&mut messages.list)
    }
}

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
