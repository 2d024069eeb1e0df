//! Signals: events that coroutines wait for.

mod journal;
mod subscription;
mod wait;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use journal::{Gift, Journal, ReaderKind};

use crate::core::base::call::Value;
use crate::durable::{RuntimeSignals, SignalsOf};
use crate::inspect::events::{self, Emission};
use crate::inspect::{Source, SourceKind};
use crate::sync::key::Key;
use crate::sync::named::{At, Missing, Name, Named, Place, Sealed, State, find_here, write_name};
use crate::sync::source::SourceName;

pub use subscription::Subscription;
pub use wait::{WaitSignal, WaitSignalFor};

/// A repeated event that any number of coroutines can wait for: a door opens, the
/// hero takes a hit.
///
/// The handle is cheap to clone, and every clone may [`emit`](Signal::emit).
/// [`wait`](Signal::wait) waits for the next event. A script that must not miss an
/// event calls [`subscribe`](Signal::subscribe). It returns a [`Subscription`]: a
/// stream of all events from then on, including those that are emitted while the
/// script waits for something else.
///
/// # Resumes
///
/// In the home phase of the waiting coroutine:
///
/// - later in the same run, if another coroutine emits during a run of that phase;
/// - in the next run of that phase, if the host emits, or a coroutine in another
///   phase.
///
/// Several coroutines resume in the order they began to wait. One whose condition refuses the
/// event begins to wait anew, behind the others.
///
/// # Memory
///
/// A value is stored once for all subscribers, and removed when the last of them
/// has read it. The last subscriber receives the value itself, the others receive
/// clones. Without a wait or a subscription, the value is dropped at once.
///
/// A signal stores at most 1,024 events for its subscriptions, or the limit of
/// [`with_limit`](Signal::with_limit). At the limit, each new event replaces the
/// oldest. So a subscriber that does not read in time loses the oldest events.
/// [`missed`](Subscription::missed) counts them, and the next read reports them
/// ([`Report::EventsMissed`](crate::inspect::Report::EventsMissed)). A [`wait`](Signal::wait) has one event,
/// which it never loses. In the steady state, emitting allocates nothing.
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
/// A loop that waits for two kinds of events and misses none:
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
pub struct Signal<T> {
    place: Place<Shared<T>>,
}

/// The state that a signal and its subscriptions share.
pub(super) struct Shared<T> {
    /// Borrowed only for bookkeeping. Values are cloned and dropped, and wakers are
    /// cloned, called and dropped, outside the borrow.
    journal: RefCell<Journal<Value<T>>>,
}

/// The default limit of stored events.
const DEFAULT_LIMIT: usize = 1024;

impl<T> Signal<T> {
    /// Makes a signal that stores at most 1,024 events.
    pub fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }

    /// Makes a signal that stores at most `events` events for its subscriptions. With 1, a late
    /// subscriber sees only the latest event. (For the latest value alone, a
    /// [`Watch`](crate::sync::Watch) reports no loss.)
    ///
    /// # Panics
    ///
    /// If `events` is zero.
    #[track_caller]
    pub fn with_limit(events: usize) -> Self {
        expect_room(events);
        Signal {
            place: Place::own(Shared::with_limit(events)),
        }
    }

    /// Names the signal and all its clones, and returns it.
    /// [Snapshots](crate::inspect::Wait::Signal) show which coroutines wait for a named
    /// signal, and [traces](crate::inspect::TraceKind::Resumed) show which coroutines it has
    /// woken.
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
    ///
    /// The name is for tools. Scripts find a signal by its name if it is made by [`signal`].
    ///
    /// # Panics
    ///
    /// If it has been made by [`signal`]: then it has a name.
    #[must_use = "the signal is returned with its name: use it"]
    #[track_caller]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = events::born(SourceKind::Signal, name.into());
        self.place.expect_own("named").set_source(source);
        self
    }

    /// The signal of this name for one key, such as an entity: `KNOCK.keyed(door)`. Snapshots and traces
    /// show it as `knock[3]`.
    ///
    /// # Memory
    ///
    /// A key for which nothing waits costs nothing: those that have been used are removed now and then.
    ///
    /// # Panics
    ///
    /// If it has not been made by [`signal`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// const KNOCK: Signal<&str> = signal("knock");
    ///
    /// async fn host(door: u32) -> &'static str {
    ///     KNOCK.keyed(door).wait().await
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let host = executor.start(host(3));
    /// executor.enter(|| KNOCK.keyed(4).emit("Ben"));
    /// executor.enter(|| KNOCK.keyed(3).emit("Anna"));
    /// assert_eq!(executor.run_until(host, 0.25).unwrap(), "Anna");
    /// ```
    #[must_use = "it is another signal: use it"]
    #[track_caller]
    pub fn keyed(&self, key: impl Key) -> Self {
        Signal {
            place: self.place.keyed(&key),
        }
    }

    /// Removes a signal that is found by its name: when its entity is gone, for example. Waits that are made with
    /// [`or_closed`](WaitSignal::or_closed) end with an error, unless they have their event. Others wait for the
    /// next signal of this name, and so do subscriptions.
    ///
    /// # Panics
    ///
    /// If it has not been made by [`signal`], also on what [`Executor::named`](crate::Executor::named) returns; or
    /// outside of an executor.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::sync::Closed;
    ///
    /// const OPENED: Signal<&str> = signal("opened");
    ///
    /// async fn guest(door: u32) -> &'static str {
    ///     match OPENED.keyed(door).wait().or_closed().await {
    ///         Ok(host) => host,
    ///         Err(Closed) => "the house has burnt down",
    ///     }
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let guests = [1, 2].map(|door| executor.start(guest(door)));
    /// executor.enter(|| {
    ///     OPENED.keyed(1).emit("Anna");
    ///     OPENED.keyed(2).remove();
    /// });
    /// executor.run_frame(0.25);
    /// let said = guests.map(|guest| guest.take_output().unwrap().unwrap());
    /// assert_eq!(said, ["Anna", "the house has burnt down"]);
    /// ```
    #[doc(alias = "close")]
    #[track_caller]
    pub fn remove(&self) {
        if let Place::Own(_) = &self.place {
            panic!(
                "`remove` was called on a signal without a name by which it is found: drop the handles; what `named` \
                 returns is the one of an executor, where the constant is removed: `executor.enter(|| KNOCK.remove())`"
            );
        }
        let shared = match self.place.find("Signal::remove") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime.call(|signals, name, _| signals.remove(name, at));
            }
        };
        let began = {
            let readers = &mut shared.journal.borrow_mut().readers;
            readers.note_removed();
            readers.began()
        };
        shared.wake(began);
    }

    /// Emits an event with `value`, and wakes the coroutines that wait for it.
    ///
    /// It may be called anywhere: by the host, by a coroutine, and by the
    /// destructor or the `clone` of a value of this signal.
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
    #[track_caller]
    pub fn emit(&self, value: T) {
        let shared = match self.place.find_now("Signal::emit") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime.call(|signals, name, _| signals.emit(name, at, value));
            }
        };
        events::note_emitted(|| shared.emission());
        let emitted = shared.journal.borrow_mut().push(Value::new(value));
        shared.wake(emitted.began_before);
        // Dropped last: the destructor is user code, and may panic.
        drop(emitted.discarded);
    }

    /// Emits an event to one coroutine: the one that has waited longest. Returns the value
    /// if none waits.
    ///
    /// A waiting [subscription](Signal::subscribe) receives it, too; subscriptions that do not
    /// wait, and all others, do not. If the coroutine is stopped before it resumes, or if its
    /// [`wait_for`](Signal::wait_for) refuses the value or panics, the event goes to the next of
    /// those that have waited since the call. With the last it is dropped, and reported
    /// ([`Report::EventUntaken`](crate::inspect::Report::EventUntaken)). If it keeps the wait and does not
    /// poll it any more, no other coroutine gets the event, which is
    /// [reported](crate::inspect::Report::GrantUntaken), too.
    ///
    /// # Examples
    ///
    /// Jobs for the script that has waited longest:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let jobs = Signal::new();
    /// let workers = [1, 2].map(|_| executor.start(jobs.wait()));
    /// assert_eq!(jobs.emit_one("dig"), None);
    /// assert_eq!(jobs.emit_one("carry"), None);
    /// assert_eq!(jobs.emit_one("cook"), Some("cook"));
    /// executor.run_frame(0.25);
    /// let done = workers.map(|worker| worker.take_output().unwrap().unwrap());
    /// assert_eq!(done, ["dig", "carry"]);
    /// ```
    ///
    /// # Source
    ///
    /// `Notify::notify_one` of tokio, without its stored permit.
    #[doc(alias = "notify_one")]
    #[track_caller]
    pub fn emit_one(&self, value: T) -> Option<T> {
        let shared = match self.place.find_now("Signal::emit_one") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime.call(|signals, name, _| signals.emit_one(name, at, value));
            }
        };
        events::note_emitted(|| shared.emission());
        let gift = Gift {
            grant: None,
            value: Value::new(value),
            began_before: shared.journal.borrow().readers.began(),
            place: Location::caller(),
        };
        let returned = shared.give(gift);
        returned.map(|gift| gift.value.into_inner())
    }

    /// Waits for the next event after this call.
    ///
    /// The wait counts **from the call**, not from the first poll. The future
    /// borrows nothing: it may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// See [`Signal`]. **If all clones of the signal are dropped before an event, the
    /// wait never ends.** It can be stopped. To notice that case, await
    /// [`wait().or_closed()`](WaitSignal::or_closed), or use a [`Subscription`], which ends.
    ///
    /// # Output
    ///
    /// The value of the event, or a clone. If several events are emitted before the
    /// coroutine resumes, it is the value of the first, however many they are. A loop around `wait` may
    /// miss events between two rounds; [`subscribe`](Signal::subscribe) misses
    /// none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. An event that it has not returned is
    /// lost.
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
    #[track_caller]
    pub fn wait(&self) -> WaitSignal<T> {
        let subscription = match self.place.find("Signal::wait") {
            Ok(shared) => Subscription::new(&shared, ReaderKind::Wait),
            Err(runtime) => {
                Subscription::of_runtime(runtime.call(|signals, name, _| signals.wait(name)))
            }
        };
        WaitSignal {
            subscription: Some(subscription),
        }
    }

    /// Waits for the next event after this call that `accept` accepts.
    ///
    /// This is [`wait`](Signal::wait) with a filter. It checks every event that is
    /// emitted while the coroutine sleeps. An event that `accept` refuses is not cloned.
    ///
    /// `accept` may borrow from the script, so it can only be called when the script is polled:
    /// in each run that follows an event. While the script is paused, the events are stored, up to
    /// the limit of the signal. What is lost beyond that is reported
    /// ([`Report::EventsMissed`](crate::inspect::Report::EventsMissed)), since the event that the script
    /// waits for may be among it.
    ///
    /// `accept` is called once for each event, when the coroutine is polled. It may
    /// emit. An event that it emits is checked in the next run.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new wait does not see the events
    /// that this one has refused.
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
    #[track_caller]
    pub fn wait_for<P: Fn(&T) -> bool>(&self, accept: P) -> WaitSignalFor<T, P> {
        let subscription = match self.place.find_now("Signal::wait_for") {
            Ok(shared) => Subscription::new(&shared, ReaderKind::Stream),
            Err(runtime) => {
                Subscription::of_runtime(runtime.call(|signals, name, _| signals.wait_for(name)))
            }
        };
        WaitSignalFor {
            subscription: Some(subscription),
            accept,
        }
    }

    /// Returns a stream of all events after this call.
    #[track_caller]
    pub fn subscribe(&self) -> Subscription<T> {
        match self.place.find_now("Signal::subscribe") {
            Ok(shared) => Subscription::new(&shared, ReaderKind::Stream),
            Err(runtime) => {
                let at = Location::caller();
                let subscribed =
                    runtime.call(|signals, name, limit| signals.subscribe(name, *limit, at));
                Subscription::of_runtime(subscribed)
            }
        }
    }

    pub(crate) fn declared_limit(&self) -> usize {
        match &self.place {
            Place::Own(shared) => shared.journal.borrow().limit(),
            Place::Named(name) => *name.start(),
        }
    }

    /// A handle of a state that others have, too.
    fn of(shared: &Rc<Shared<T>>) -> Self {
        Signal {
            place: Signal::place_of(shared),
        }
    }

    fn place_of(shared: &Rc<Shared<T>>) -> Place<Shared<T>> {
        shared.journal.borrow_mut().add_emitter();
        Place::Own(shared.clone())
    }
}

impl<T: 'static> Signal<T> {
    /// One that is found in the runtime of the caller, else in the executor.
    #[track_caller]
    pub(crate) const fn declared_for<R: SignalsOf<T>>(name: &'static str, events: usize) -> Self {
        expect_room(events);
        Signal {
            place: Place::Named(Name::found_by(name, events, find_for::<T, R>)),
        }
    }

    /// The same with a name that is known.
    #[track_caller]
    pub(crate) fn of_name<R: SignalsOf<T>>(name: SourceName<'_>, events: usize) -> Self {
        let found = Name::found_by(name.base, events, find_for::<T, R>);
        Signal {
            place: Place::Named(found.with_full_name(name.full)),
        }
    }
}

fn find_for<T: 'static, R: SignalsOf<T>>(name: &Name<Shared<T>>) -> Result<At<Shared<T>>, Missing> {
    find_here::<_, R>(name, R::signals)
}

#[track_caller]
const fn expect_room(events: usize) {
    assert!(
        events > 0,
        "a signal must be able to store at least 1 event, or no coroutine would receive one"
    );
}

/// Declares a signal that scripts find by its name, in the executor that runs them.
///
/// The result is a handle with all methods of [`Signal`], for a constant: scripts use it without a
/// parameter, and without a field of the game's state. Each executor has a signal of its own behind the
/// name, so two games in one process do not hear each other.
///
/// A call on the handle is about the executor that runs the caller: in a script, or in the host's
/// [`enter`](crate::Executor::enter). [`named`](crate::Executor::named) returns a handle that works anywhere.
///
/// The signal ends with its executor. Otherwise it behaves like one that is made by [`Signal::new`].
///
/// # Panics
///
/// If the name has a `[`, which begins a key. Calls on the handle panic outside of an executor, and if other code has
/// declared a signal of that name with another type or limit in this executor.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// const HIT: Signal<u32> = signal("hit");
///
/// async fn hero() -> u32 {
///     let mut health = 10;
///     while health > 0 {
///         health -= HIT.wait().await.min(health);
///     }
///     time().frame as u32
/// }
///
/// let mut executor = Executor::new();
/// let hero = executor.start(hero());
/// executor.enter(|| HIT.emit(4));
/// executor.run_frame(0.25);
/// executor.named(&HIT).emit(7);
/// assert_eq!(executor.run_until(hero, 0.25).unwrap(), 2);
/// ```
///
/// # Source
///
/// The event bus of many engines; signals of Godot, which are found by name.
#[track_caller]
pub const fn signal<T: 'static>(name: &'static str) -> Signal<T> {
    signal_with_limit(name, DEFAULT_LIMIT)
}

/// Like [`signal`], for one that stores at most `events` events for its subscriptions. See
/// [`Signal::with_limit`].
///
/// # Panics
///
/// If `events` is zero: for a constant, this is an error of the compiler.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// const POSITION: Signal<f32> = signal_with_limit("position", 1);
///
/// let executor = Executor::new();
/// executor.enter(|| {
///     let positions = POSITION.subscribe();
///     POSITION.emit(1.0);
///     POSITION.emit(2.0);
///     assert_eq!(positions.missed(), 1);
/// });
/// ```
#[track_caller]
pub const fn signal_with_limit<T: 'static>(name: &'static str, events: usize) -> Signal<T> {
    expect_room(events);
    Signal {
        place: Place::Named(Name::new(name, events)),
    }
}

impl<T> State for Shared<T> {
    type Start = usize;
    type Runtime = dyn RuntimeSignals<T>;

    const KIND: SourceKind = SourceKind::Signal;
    const A_KIND: &'static str = "a signal";

    fn new(limit: &usize) -> Self {
        Shared::with_limit(*limit)
    }

    fn set_source(&self, source: Source) {
        self.journal.borrow_mut().readers.set_source(source);
    }

    fn is_new(&self) -> bool {
        true
    }

    fn end(&self) {
        self.remove_emitter();
    }

    fn number(limit: &usize) -> usize {
        *limit
    }

    fn describe(limit: usize) -> String {
        let of = std::any::type_name::<T>();
        match limit {
            DEFAULT_LIMIT => format!("a `Signal<{of}>`"),
            limit => format!("a `Signal<{of}>` with a limit of {limit}"),
        }
    }
}

impl<T> Named for Signal<T> {}

impl<T> Sealed for Signal<T> {
    fn source_name(&self) -> Option<SourceName<'_>> {
        self.place.source_name()
    }

    fn found(&self) -> Result<Self, String> {
        let place = self.place.found(Signal::place_of)?;
        Ok(Signal { place })
    }
}

impl<T> Shared<T> {
    fn with_limit(events: usize) -> Self {
        Shared {
            journal: RefCell::new(Journal::new(events)),
        }
    }

    fn remove_emitter(&self) {
        let (is_last, began) = {
            let mut journal = self.journal.borrow_mut();
            (journal.remove_emitter(), journal.readers.began())
        };
        if is_last {
            // The subscriptions end: wake their waiters. A wait that begins in such a
            // wake is not woken: a waker that polls would otherwise be called without
            // end.
            self.wake(began);
        }
    }

    /// The event that is about to be sent, as a trace shows it.
    fn emission(&self) -> Option<Emission> {
        let readers = &self.journal.borrow().readers;
        Some(Emission {
            source: readers.source()?,
            listeners: readers.len(),
            value: None,
        })
    }

    /// Gives an event to the waiter that has waited longest. Returns it if none began to wait
    /// before its limit.
    fn give(&self, gift: Gift<Value<T>>) -> Option<Gift<Value<T>>> {
        let given = self.journal.borrow_mut().give(gift);
        match given {
            Ok(waiting) => {
                waiting.wake();
                None
            }
            Err(gift) => Some(gift),
        }
    }

    /// Wakes the waiters that began to wait before `limit`, in order.
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
        match &self.place {
            Place::Own(shared) => Signal::of(shared),
            Place::Named(name) => Signal {
                place: Place::Named(name.clone()),
            },
        }
    }
}

impl<T> Drop for Signal<T> {
    fn drop(&mut self) {
        if let Place::Own(shared) = &self.place {
            shared.remove_emitter();
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
        let shared = match &self.place {
            Place::Own(shared) => shared,
            Place::Named(name) => return write_name("Signal", name.full(), f),
        };
        // The writer is user code: no borrow during the write.
        let (source, subscribers, stored) = {
            let journal = shared.journal.borrow();
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
