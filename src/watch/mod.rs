//! Values that remember, and that coroutines wait for.

#![forbid(unsafe_code)]

mod changes;
mod wait;
mod waiter;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::rc::Rc;

use crate::core::named::Source;
use crate::waiters::Waiters;

use waiter::Waiter;

pub use changes::Changes;
pub use wait::{Changed, WaitWatch};

/// A value that is kept, and that any number of coroutines watch: health, a score,
/// the state of a door.
///
/// A [`Signal`](crate::Signal) is an event, which is over when it has been heard. A
/// watch remembers: [`get`](Watch::get) reads the present value at any time, and
/// [`wait_for`](Watch::wait_for) a condition that holds already ends at once.
///
/// The handle is cheap to clone; all clones are the same value. It belongs to the
/// thread on which it was made.
///
/// # What a change is
///
/// Each [`set`](Watch::set) and [`update`](Watch::update) is a change, also to an
/// equal value. Those who watch see **the latest value, not each one**: of several
/// changes before a coroutine resumes it sees the last. Where each one counts, emit a
/// [`Signal`](crate::Signal).
///
/// [`changed`](Watch::changed) waits for a change after its call, so a loop around it
/// may miss a change that happens while the loop waits for something else. A
/// [`subscribe`](Watch::subscribe)r remembers the version of the value that it has
/// seen, and misses none: [`Changes`].
///
/// # Resumes
///
/// As with a [`Signal`](crate::Signal): in the phase in which the coroutine was last
/// polled. If a coroutine changes the value during a run of that phase: later in the
/// same run. If the host does, or a coroutine in another phase: in the next run of
/// that phase. Those who wait resume in the order in which they began to.
///
/// # Re-entry
///
/// No code of the caller runs while the value is borrowed: conditions, closures,
/// clones and destructors may read, set and wait for the same watch.
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
///         wait_seconds(1).await; // the bar slides; hits go on meanwhile
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
/// executor.run_frame(0.25); // 8 is shown
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

/// What a watch and its waits share.
struct Shared<T> {
    /// Borrowed for bookkeeping alone: values are read, cloned and dropped, and wakers
    /// cloned, called and dropped, while it is not.
    state: RefCell<State<T>>,
}

struct State<T> {
    /// Shared by those who are reading it, while they do.
    value: Rc<T>,
    /// How often it has changed.
    version: u64,
    /// How many `Watch`es there are.
    handles: usize,
    waiters: Waiters<()>,
}

impl<T> Watch<T> {
    /// A watch with a first value.
    pub fn new(value: T) -> Self {
        Watch {
            shared: Rc::new(Shared {
                state: RefCell::new(State {
                    value: Rc::new(value),
                    version: 0,
                    handles: 1,
                    waiters: Waiters::new(),
                }),
            }),
        }
    }

    /// Names the watch, all its clones included: [snapshots](crate::Wait::Watch) show
    /// who waits for it, and [traces](crate::TraceEvent::by) which coroutines it has woken.
    /// Returns the watch.
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
    #[must_use = "the name is for those who wait for the watch"]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = Source::watch(name.into());
        self.shared.state.borrow_mut().waiters.set_source(source);
        self
    }

    /// A clone of the present value.
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Calls `read` with the present value, which is not cloned.
    ///
    /// If `read` sets the watch, it goes on reading the value that it was given.
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

    /// Replaces the value, and wakes those who wait.
    ///
    /// It may be called from anywhere: by the host, by a coroutine, by a destructor, or
    /// by a condition on this very watch. The earlier value is dropped last.
    pub fn set(&self, value: T) {
        let replaced = self.shared.state.borrow_mut().replace(value);
        self.shared.wake(replaced.began_before);
        // Last: its destructor may do what it likes, and may panic.
        drop((replaced.own, replaced.shared));
    }

    /// Changes the value by `change`, which gets a clone of it, and wakes those who
    /// wait. Returns what `change` returns.
    ///
    /// Until `change` returns, everybody sees the earlier value; if it panics, nothing
    /// has changed. A value that is set inside it is overwritten when it returns, as
    /// with [`Cell::update`](std::cell::Cell::update). To replace a value that cannot
    /// be cloned, [`set`](Watch::set) it.
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
        let result = change(&mut value);
        self.set(value);
        result
    }

    /// Waits for the next change after this call.
    ///
    /// The wait counts **from the call**, not from the first poll. It is owned: it
    /// borrows nothing, and may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// See [`Watch`]. If all clones of the watch are dropped before a change, it
    /// waits without end, and can be stopped.
    ///
    /// # Cancel safety
    ///
    /// Dropping it forgets it; a new one waits for a change after its own call. In a
    /// loop, use [`subscribe`](Watch::subscribe).
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
    /// assert!(executor.run_until(hero, 0.25).unwrap().is_ok());
    /// ```
    pub fn changed(&self) -> Changed<T> {
        Changed::new(Waiter::new(&self.shared))
    }

    /// Waits until `condition` holds for the value.
    ///
    /// # Resumes
    ///
    /// At once, without waiting, if the condition holds for the present value. Else as
    /// in [`Watch`]: the condition is asked once in each poll of the coroutine, which
    /// sleeps until the next change; unlike [`wait_until`](crate::wait_until), it
    /// costs nothing in between. A value that has been replaced before the coroutine
    /// resumes is not seen.
    ///
    /// If all clones of the watch are dropped, it waits without end, and can be
    /// stopped.
    ///
    /// # Output
    ///
    /// `()`, as for the other simple waits, and so that values need not be `Clone`.
    /// Right after it, [`get`](Watch::get) returns the value for which the condition
    /// held.
    ///
    /// # Cancel safety
    ///
    /// Dropping it forgets it; a new one looks at the present value first.
    ///
    /// # Panics
    ///
    /// A panic of the condition is one of the coroutine.
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
    ///     door.wait_for(|door| *door == Door::Open).await;
    ///     door.wait_for(|door| *door == Door::Open).await; // holds: no wait
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
    pub fn wait_for<P: FnMut(&T) -> bool>(&self, condition: P) -> WaitWatch<T, P> {
        WaitWatch::new(Waiter::new(&self.shared), condition)
    }

    /// A subscriber, which remembers the version of the value that it has seen: first
    /// the present one.
    pub fn subscribe(&self) -> Changes<T> {
        Changes::new(Waiter::new(&self.shared))
    }
}

impl<T> Shared<T> {
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let value = self.state.borrow().value.clone();
        read(&value)
    }

    /// Wakes those who began to wait before `limit`, in that order.
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

/// A value that has been replaced, for the caller to drop.
struct Replaced<T> {
    /// `None`: somebody is reading it, and so it is `shared`.
    own: Option<T>,
    shared: Option<Rc<T>>,
    /// The waits that began before this are woken.
    began_before: u64,
}

impl<T> State<T> {
    fn replace(&mut self, value: T) -> Replaced<T> {
        self.version += 1;
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
            // Streams of changes end, which those who wait have to be told.
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
