//! Events that coroutines wait for.

#![forbid(unsafe_code)]

mod journal;
mod subscription;
mod wait;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::core::named::Source;

use journal::Journal;

pub use subscription::Subscription;
pub use wait::{WaitSignal, WaitSignalFor};

/// An event that happens again and again, and that any number of coroutines
/// wait for: a door that was opened, a hit that was taken.
///
/// The handle is cheap to clone; every clone may [`emit`](Signal::emit).
/// [`wait`](Signal::wait) waits for the next event. A script that must not miss any
/// [`subscribe`](Signal::subscribe)s: a [`Subscription`] is a stream of all
/// events from then on, also of those that are emitted while its coroutine waits
/// for something else.
///
/// # Resumes
///
/// In the phase in which the coroutine was last polled, like a coroutine that waits for a
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

    /// A signal that stores at most `events` events; with 1, a late reader sees
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

    /// Names the signal, all its clones included: [snapshots](crate::Wait::Signal) show
    /// who waits for it, and [traces](crate::TraceEvent::by) which coroutines it has woken.
    /// Returns the signal.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let opened = Signal::<()>::new().named("door opened");
    /// executor.start(opened.wait()).named("hero");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 1 coroutine
    ///   id   name  state
    ///   0v1  hero  signal door opened
    /// "
    /// );
    /// ```
    #[must_use = "the name is for those who wait for the signal"]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = Source::signal(name.into());
        self.shared.journal.borrow_mut().readers.set_source(source);
        self
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
    /// The wait counts **from the call**, not from the first poll. It is owned: it
    /// borrows nothing, and may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// See [`Signal`]. If all clones of the signal are dropped before an event,
    /// it waits without end, and can be stopped. Where that matters, read a
    /// [`Subscription`], which ends.
    ///
    /// # Output
    ///
    /// The value, or a clone of it. Of several events that were emitted before the
    /// coroutine resumes, the first; a loop around it may miss events between two
    /// rounds, for which there is [`subscribe`](Signal::subscribe).
    ///
    /// # Cancel safety
    ///
    /// Dropping it forgets it, and an event that it has not returned yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let opened = Signal::new();
    /// let hero = executor.start(timeout(1, opened.wait()));
    /// executor.run_frame(0.25);
    /// opened.emit(());
    /// assert!(executor.run_until(hero, 0.25).unwrap().is_ok());
    /// ```
    pub fn wait(&self) -> WaitSignal<T> {
        WaitSignal {
            subscription: Some(self.subscribe()),
        }
    }

    /// Waits for the next event after this call that `accept` accepts.
    ///
    /// The same as [`wait`](Signal::wait) but for the filter. Of the events that
    /// are emitted while the coroutine sleeps, none is passed over, up to the limit
    /// of the signal. Those that `accept` refuses are not cloned.
    ///
    /// `accept` is called when the coroutine is polled, once for each event. It may
    /// emit: such an event comes in the next run.
    ///
    /// # Cancel safety
    ///
    /// Dropping it forgets it, and the events that it has refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let key = Signal::new();
    /// let answer = executor.start(key.wait_for(|key| matches!(key, 'y' | 'n')));
    /// for pressed in ['x', 'n', 'y'] {
    ///     key.emit(pressed);
    /// }
    /// assert_eq!(executor.run_until(answer, 0.25).unwrap(), 'n');
    /// assert_eq!(executor.time().frame, 1);
    /// ```
    pub fn wait_for<P: FnMut(&T) -> bool>(&self, accept: P) -> WaitSignalFor<T, P> {
        WaitSignalFor {
            subscription: Some(self.subscribe()),
            accept,
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
            let waiter = self.journal.borrow_mut().readers.next(limit);
            let Some(waiting) = waiter else {
                return;
            };
            waiting.wake();
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
        // What it is written to is user code.
        let (source, subscribers, stored) = {
            let journal = self.shared.journal.borrow();
            let source = journal.readers.source();
            (source, journal.readers.len(), journal.len())
        };
        let mut shown = f.debug_struct("Signal");
        if let Some(source) = source {
            shown.field("name", &source.name());
        }
        shown
            .field("subscribers", &subscribers)
            .field("stored", &stored)
            .finish_non_exhaustive()
    }
}
