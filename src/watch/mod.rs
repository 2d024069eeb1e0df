//! Watches: values that coroutines read, and wait for.

mod changes;
mod wait;
mod waiter;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::rc::Rc;

use crate::core::base::call::{self, Value};
use crate::core::inspect::events;
use crate::core::inspect::named::Source;
use crate::waiters::Waiters;

use waiter::Waiter;

pub use changes::Changes;
pub use wait::{Changed, WaitWatch};

/// A value that any number of coroutines can read, and wait for: health, a score,
/// the state of a door.
///
/// A [`Signal`](crate::Signal) is an event, which is over once it has been
/// received. A watch keeps its value: [`get`](Watch::get) reads it at any time, and
/// [`wait_for`](Watch::wait_for) is ready at once if its condition already holds.
///
/// The waits return a clone of the value. A value that cannot be cloned, or is large,
/// goes into an [`Rc`].
///
/// The handle is cheap to clone, and all clones share the value. It stays on the
/// thread that made it.
///
/// # Changes
///
/// Each [`set`](Watch::set) and [`update`](Watch::update) is a change, even if the
/// new value is equal. A coroutine sees **the latest value, not every value**: if
/// the value changes several times before the coroutine resumes, it sees the last
/// one. If every value counts, use a [`Signal`](crate::Signal).
///
/// [`changed`](Watch::changed) waits for a change after its call, so a loop around
/// it may miss a change that happens while the loop waits for something else.
/// [`subscribe`](Watch::subscribe) misses none: it returns [`Changes`], a stream
/// that remembers the version of the value that it has seen.
///
/// # Resumes
///
/// In the home phase of the waiting coroutine, as with a [`Signal`](crate::Signal):
///
/// - later in the same run, if another coroutine changes the value during a run of
///   that phase;
/// - in the next run of that phase, if the host changes it, or a coroutine in
///   another phase.
///
/// Several coroutines resume in the order they began to wait.
///
/// # Re-entry
///
/// Conditions, closures, clones and destructors may read, set and wait for the same
/// watch: the watch is never borrowed while they run.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
///
/// async fn health_bar(health: Watch<i32>) -> Vec<i32> {
///     let mut shown = Vec::new();
///     let mut changes = health.subscribe();
///     while let Some(left) = changes.next().await {
///         shown.push(left);
///         if left <= 0 {
///             break;
///         }
///         wait_seconds(1).await; // the bar slides; more hits may follow
///     }
///     shown
/// }
///
/// let mut executor = Executor::new();
/// let health = Watch::new(10);
/// let bar = executor.start(health_bar(health.clone()));
/// let dies = executor.start(health.wait_for(|&health| health <= 0));
///
/// health.set(8);
/// executor.run_frame(0.25); // shows 8
/// health.update(|health| *health -= 3);
/// health.update(|health| *health -= 9);
/// executor.run_until(dies, 0.25).unwrap();
/// assert_eq!(executor.time().frame, 2);
/// assert_eq!(executor.run_until(bar, 0.25).unwrap(), [8, -4]);
/// ```
///
/// # Source
///
/// `tokio::sync::watch`; `ReactiveProperty` of `UniRx`.
#[doc(alias = "ReactiveProperty")]
pub struct Watch<T> {
    shared: Rc<Shared<T>>,
}

/// The state that a watch and its waits share.
struct Shared<T> {
    /// Borrowed only for bookkeeping. Values are read, cloned and dropped, and
    /// wakers are cloned, called and dropped, outside the borrow.
    state: RefCell<State<T>>,
}

struct State<T> {
    /// Closures share it while they read it.
    value: Rc<Value<T>>,
    /// How often it has changed.
    version: u64,
    /// The number of `Watch` handles.
    handles: usize,
    waiters: Waiters<()>,
}

impl<T> Watch<T> {
    /// Makes a watch with an initial value.
    pub fn new(value: T) -> Self {
        Watch {
            shared: Rc::new(Shared {
                state: RefCell::new(State {
                    value: Rc::new(Value::new(value)),
                    version: 0,
                    handles: 1,
                    waiters: Waiters::new(),
                }),
            }),
        }
    }

    /// Names the watch and all its clones, and returns it.
    /// [Snapshots](crate::Wait::Watch) show which coroutines wait for a named
    /// watch, and [traces](crate::Traced::Resumed) show which coroutines it has
    /// woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let health = Watch::new(10).named("health");
    /// executor.start(health.wait_for(|&health| health <= 0)).named("funeral");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 1 coroutine
    ///   id   name     state
    ///   0v1  funeral  watch health
    /// "
    /// );
    /// ```
    #[must_use = "the watch is returned with its name: use it"]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = Source::watch(name.into());
        self.shared.state.borrow_mut().waiters.set_source(source);
        self
    }

    /// Returns a clone of the current value.
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Calls `read` with the current value, without cloning it.
    ///
    /// If `read` sets the watch, its argument is still the value from before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let inventory = Watch::new(vec!["sword", "rope"]);
    /// assert!(inventory.with(|items| items.contains(&"rope")));
    /// ```
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.shared.with(read)
    }

    /// Replaces the value, and wakes the coroutines that wait for a change.
    ///
    /// It may be called anywhere: by the host, by a coroutine, by a destructor, and
    /// by a condition on this watch. The previous value is dropped last.
    pub fn set(&self, value: T) {
        events::note_emitted(|| self.shared.state.borrow().waiters.source());
        let replaced = self.shared.state.borrow_mut().replace(value);
        self.shared.wake(replaced.began_before);
        // Dropped last: the destructor is user code, and may panic.
        drop((replaced.own, replaced.shared));
    }

    /// Calls `change` with a clone of the value, stores the changed clone, and
    /// wakes the coroutines that wait for a change. Returns the output of `change`.
    ///
    /// Until `change` returns, [`get`](Watch::get) returns the previous value. If
    /// `change` panics, the value does not change. A value that is set inside
    /// `change` is overwritten when it returns, as with
    /// [`Cell::update`](std::cell::Cell::update). To replace a value that cannot be
    /// cloned, use [`set`](Watch::set).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let health = Watch::new(10);
    /// let left = health.update(|health| {
    ///     *health -= 4;
    ///     *health
    /// });
    /// assert_eq!((left, health.get()), (6, 6));
    /// ```
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R
    where
        T: Clone,
    {
        let mut value = self.get();
        let result = call::out(|| change(&mut value));
        self.set(value);
        result
    }

    /// Waits for the next change after this call.
    ///
    /// The wait counts **from the call**, not from the first poll. The future
    /// borrows nothing: it may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// See [`Watch`]. If all clones of the watch are dropped before a change, the
    /// wait never ends, and can be stopped.
    ///
    /// # Output
    ///
    /// A clone of the value when the coroutine resumes: the latest one, if it has
    /// changed several times.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call waits for a change after
    /// that call. In a loop, use [`subscribe`](Watch::subscribe).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let door = Watch::new("shut");
    /// let hero = executor.start(timeout(1, door.changed()));
    /// executor.run_frame(0.25);
    /// door.set("open");
    /// assert_eq!(executor.run_until(hero, 0.25).unwrap(), Ok("open"));
    /// ```
    pub fn changed(&self) -> Changed<T>
    where
        T: Clone,
    {
        Changed::new(Waiter::new(&self.shared))
    }

    /// Waits until `condition` holds for the value.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if the condition holds for the current value.
    /// Otherwise as described at [`Watch`]. The condition is checked once in each
    /// poll of the coroutine, which sleeps until the next change. Unlike with
    /// [`wait_until`](crate::wait_until), it costs nothing in between. The
    /// condition does not see a value that is replaced before the coroutine
    /// resumes.
    ///
    /// If all clones of the watch are dropped, the wait never ends, and can be
    /// stopped.
    ///
    /// # Output
    ///
    /// A clone of the value that met the condition.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call checks the current value
    /// first.
    ///
    /// # Panics
    ///
    /// A panic of the condition is a panic of the coroutine.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// #[derive(Clone, PartialEq)]
    /// enum Door {
    ///     Shut,
    ///     Open,
    /// }
    ///
    /// async fn hero(door: Watch<Door>) -> u64 {
    ///     door.wait_for(|door| *door != Door::Shut).await;
    ///     // Already open: no wait.
    ///     assert!(door.wait_for(|door| *door != Door::Shut).await == Door::Open);
    ///     time().frame
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let door = Watch::new(Door::Shut);
    /// let hero = executor.start(hero(door.clone()));
    /// executor.run_frame(0.25);
    /// door.set(Door::Open);
    /// assert_eq!(executor.run_until(hero, 0.25).unwrap(), 2);
    /// ```
    pub fn wait_for<P: FnMut(&T) -> bool>(&self, condition: P) -> WaitWatch<T, P>
    where
        T: Clone,
    {
        WaitWatch::new(Waiter::new(&self.shared), condition)
    }

    /// Returns a stream of changes. It remembers the version of the value that it
    /// has seen, beginning with the current version.
    pub fn subscribe(&self) -> Changes<T> {
        Changes::new(Waiter::new(&self.shared))
    }
}

impl<T> Shared<T> {
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let value = self.state.borrow().value.clone();
        call::out(|| read(value.get()))
    }

    /// Wakes the waiters that began to wait before `limit`, in order.
    fn wake(&self, limit: u64) {
        loop {
            let waiter = self.state.borrow_mut().waiters.next(limit);
            let Some(waiting) = waiter else {
                return;
            };
            waiting.wake();
        }
    }
}

/// A value that has been replaced. The caller drops it.
struct Replaced<T> {
    /// The value, or `None` if a closure is reading it: then it is in `shared`.
    own: Option<Value<T>>,
    shared: Option<Rc<Value<T>>>,
    /// The waiters that began to wait before this are woken.
    began_before: u64,
}

impl<T> State<T> {
    fn replace(&mut self, value: T) -> Replaced<T> {
        self.version += 1;
        let value = Value::new(value);
        let (own, shared) = match Rc::get_mut(&mut self.value) {
            Some(present) => (Some(mem::replace(present, value)), None),
            None => (None, Some(mem::replace(&mut self.value, Rc::new(value)))),
        };
        Replaced {
            own,
            shared,
            began_before: self.waiters.began(),
        }
    }
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        self.shared.state.borrow_mut().handles += 1;
        Watch {
            shared: self.shared.clone(),
        }
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        let (is_last, began) = {
            let mut state = self.shared.state.borrow_mut();
            state.handles -= 1;
            (state.handles == 0, state.waiters.began())
        };
        if is_last {
            // The streams of changes end: wake their waiters.
            self.shared.wake(began);
        }
    }
}

impl<T: Default> Default for Watch<T> {
    fn default() -> Self {
        Watch::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.shared.state.borrow().waiters.source();
        let mut shown = f.debug_struct("Watch");
        if let Some(source) = source {
            shown.field("name", &source.name());
        }
        self.with(|value| shown.field("value", value).finish_non_exhaustive())
    }
}
