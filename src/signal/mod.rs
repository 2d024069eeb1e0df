//! Events that coroutines wait for.

#![forbid(unsafe_code)]

mod journal;
mod subscription;

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use futures::stream::Stream;

use crate::core::call;

use journal::Journal;

pub use subscription::Subscription;

/// An event that happens again and again, and that any number of coroutines
/// wait for: a door that was opened, a hit that was taken.
///
/// The handle is cheap to clone; whoever has one may [`emit`](Signal::emit).
/// [`wait`](Signal::wait) waits for the next event. Whoever must not miss any
/// [`subscribe`](Signal::subscribe)s: a [`Subscription`] is a stream of all
/// events from then on, also of those that are emitted while its coroutine waits
/// for something else.
///
/// # Resumes
///
/// In the phase in which the coroutine was last polled, like whoever waits for a
/// channel. If a coroutine emits during a run of that phase: later in the same
/// run. If it is the host that emits, or a coroutine in another phase: in the
/// next run of it. Those who wait resume in the order in which they began to.
///
/// # Memory
///
/// A value is stored once, however many wait for it, and dropped when the last
/// subscriber has read it; the last one gets the value itself, the others
/// clones. An event that nobody has subscribed to is dropped at once.
///
/// At most 1,024 events are stored, or as many as
/// [`with_limit`](Signal::with_limit) says. When there is no room for another
/// one the oldest is dropped: so a subscriber that does not read in time loses
/// the oldest events, and [`missed`](Subscription::missed) tells it how many. In
/// the steady state, emitting allocates nothing.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let hit = Signal::new();
/// let health = executor.start({
///     let hit = hit.clone();
///     async move {
///         let mut health = 10;
///         while health > 0 {
///             health -= hit.wait().await;
///         }
///         health
///     }
/// });
/// hit.emit(4);
/// executor.run_frame(0.1);
/// hit.emit(7);
/// assert_eq!(executor.run_until(health, 0.1).unwrap(), -1);
/// ```
///
/// Several kinds of events in one loop, none of which is missed:
///
/// ```
/// # use framestep::prelude::*;
/// use futures::StreamExt;
///
/// async fn door(opened: Signal<()>, shut: Signal<()>) -> u32 {
///     let (mut opened, mut shut) = (opened.subscribe(), shut.subscribe());
///     let mut count = 0;
///     loop {
///         select! {
///             Some(()) = opened.next() => count += 1,
///             Some(()) = shut.next() => return count,
///             else => return count,
///         }
///         wait_seconds(1).await; // it squeaks
///     }
/// }
///
/// let mut executor = Executor::new();
/// let (opened, shut) = (Signal::new(), Signal::new());
/// let count = executor.start(door(opened.clone(), shut.clone()));
/// opened.emit(());
/// opened.emit(());
/// shut.emit(());
/// assert_eq!(executor.run_until(count, 0.25).unwrap(), 2);
/// ```
///
/// # Source
///
/// `signal` of Godot, which coroutines `await`; `UnityEvent`, Unity scripting
/// reference.
#[doc(alias = "UnityEvent")]
pub struct Signal<T> {
    shared: Rc<Shared<T>>,
}

/// What a signal and its subscriptions share.
struct Shared<T> {
    /// Borrowed for bookkeeping alone: values are cloned and dropped, and wakers
    /// cloned, called and dropped, while it is not.
    journal: RefCell<Journal<T>>,
}

/// How many events are stored unless something else is asked for.
const DEFAULT_LIMIT: usize = 1024;

impl<T> Signal<T> {
    /// A signal that stores at most 1,024 events.
    pub fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }

    /// A signal that stores at most `events` events; with 1, whoever is late sees
    /// the latest alone.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn with_limit(events: usize) -> Self {
        assert!(
            events > 0,
            "a signal must be able to store at least 1 event: nobody would ever get one"
        );
        Signal {
            shared: Rc::new(Shared {
                journal: RefCell::new(Journal::new(events)),
            }),
        }
    }

    /// Lets everybody who waits know.
    ///
    /// It may be called from anywhere: by the host, by a coroutine, by a
    /// destructor or a `clone` of a value of this very signal.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let alarm = Signal::new();
    /// let (bell, guard) = (alarm.clone(), alarm.clone());
    /// let guard = executor.start(async move { guard.wait().await });
    /// executor.start(async move {
    ///     next_frame().await;
    ///     bell.emit("fire");
    /// });
    /// executor.run_frame(0.1);
    /// assert!(guard.is_finished()); // later in the same run
    /// ```
    pub fn emit(&self, value: T) {
        let emitted = self.shared.journal.borrow_mut().push(value);
        self.shared.wake(emitted.began_before);
        // Last: its destructor may do what it likes, and may panic.
        drop(emitted.discarded);
    }

    /// Waits for the next event after this call.
    ///
    /// Ready with the value, or a clone of it. Of several events that have been
    /// emitted when the coroutine resumes it gives the first; a loop around it
    /// may miss events between two rounds, for which there is
    /// [`subscribe`](Signal::subscribe).
    ///
    /// # Cancel safety
    ///
    /// Dropping it forgets it, and an event that it has not given yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let opened = Signal::new();
    /// let door = opened.clone();
    /// let hero = executor.start(async move {
    ///     timeout(1, door.wait()).await.is_ok()
    /// });
    /// executor.run_frame(0.25);
    /// opened.emit(());
    /// assert!(executor.run_until(hero, 0.25).unwrap());
    /// ```
    pub fn wait(&self) -> WaitSignal<'_, T> {
        WaitSignal {
            subscription: Some(self.subscribe()),
            signal: PhantomData,
        }
    }

    /// A stream of all events after this call.
    pub fn subscribe(&self) -> Subscription<T> {
        Subscription::new(self.shared.clone())
    }
}

impl<T> Shared<T> {
    /// Wakes those who began to wait before `limit`, in that order.
    fn wake(&self, limit: u64) {
        loop {
            let waiter = self.journal.borrow_mut().next_waiter(limit);
            let Some(waker) = waiter else {
                return;
            };
            // A hostile waker takes nothing from those behind it.
            call::quietly(|| waker.wake());
        }
    }
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        self.shared.journal.borrow_mut().add_emitter();
        Signal {
            shared: self.shared.clone(),
        }
    }
}

impl<T> Drop for Signal<T> {
    fn drop(&mut self) {
        let last = self.shared.journal.borrow_mut().remove_emitter();
        if last {
            // Streams end, which those who wait have to be told.
            self.shared.wake(u64::MAX);
        }
    }
}

impl<T> Default for Signal<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Signal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let journal = self.shared.journal.borrow();
        f.debug_struct("Signal")
            .field("subscribers", &journal.subscribers())
            .field("stored", &journal.len())
            .finish_non_exhaustive()
    }
}

/// The future of [`Signal::wait`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignal<'a, T> {
    /// `None` once it has been ready.
    subscription: Option<Subscription<T>>,
    /// It holds on to the signal, so that there is one who may emit.
    signal: PhantomData<&'a Signal<T>>,
}

impl<T: Clone> Future for WaitSignal<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(subscription) = &mut self.subscription else {
            panic!("`Signal::wait()` was polled again after it had finished");
        };
        match Pin::new(subscription).poll_next(cx) {
            Poll::Ready(Some(value)) => {
                self.subscription = None;
                Poll::Ready(value)
            }
            // It never ends while this borrows an emitter.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: Clone> FusedFuture for WaitSignal<'_, T> {
    fn is_terminated(&self) -> bool {
        self.subscription.is_none()
    }
}

impl<T> fmt::Debug for WaitSignal<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSignal")
            .field("done", &self.subscription.is_none())
            .finish_non_exhaustive()
    }
}
