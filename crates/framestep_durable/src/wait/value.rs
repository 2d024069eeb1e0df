//! Values: named state that scripts share, and whose changes they can await.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName, Keyed, Type};
use crate::journal::Call;
use crate::script::place::{Place, in_place, place};
use crate::script::{Registry, unreadable};
use crate::wait::{Changed, Changes, WaitWatch};

/// A value with a name, such as a quest's stage. Declare it as a constant: the runtime keeps
/// its current state, and saves it.
///
/// Before it is first set, it is its start value. Changes resume scripts in their home
/// phase, in the order in which they began to wait; one whose condition refuses a change begins to wait
/// anew. A script sees the latest state, not every one.
///
/// # Keys
///
/// [`keyed`](Self::keyed) returns the value of one entity: `STAGE.keyed(quest)`. It has the same methods.
///
/// # Memory
///
/// A value that is set is kept, and saved, until it is [removed](Self::remove): do that when its
/// entity is gone. Nothing is kept for a value that is not set, and for which no script waits.
///
/// # Outside of durable scripts
///
/// A plain script, in any executor, uses it in the same way. Each executor has values of its own,
/// which end with it. Its host reads and sets them inside of [`framestep::Executor::enter`].
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const STAGE: Watch<u32> = watch("stage", Default::default);
///
/// #[durable]
/// async fn reward(quest: String) -> u32 {
///     let stage = STAGE.keyed(&quest).wait_for(|stage| *stage > 1).await;
///     STAGE.keyed(&quest).remove(); // the quest is over
///     stage
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Reward>());
/// let reward = runtime.start(reward("dragon".into()));
/// runtime.set(&STAGE.keyed("dragon"), 2);
/// runtime.run_frame(0.1);
/// assert_eq!(runtime.take(reward), Some(Ok(2)));
/// assert_eq!(runtime.get(&STAGE.keyed("dragon")), 0);
/// ```
///
/// # Source
///
/// [`framestep::sync::Watch`].
pub struct Watch<T, N = &'static str> {
    pub(super) name: N,
    start: fn() -> T,
}

impl<T: Serialize + DeserializeOwned + 'static> Watch<T> {
    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The value of this name for one key: an entity, an id, a text, or a tuple of these.
    ///
    /// Keys with the same text are the same: the type of a number does not matter, and an id is its
    /// number. In save states, snapshots and traces, the value is named `stage["dragon"]`.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of the key fails.
    #[track_caller]
    pub fn keyed(&self, key: impl Serialize) -> Watch<T, Keyed> {
        Watch {
            name: Keyed::new(self.name, &key),
            start: self.start,
        }
    }
}

impl<T, N> Watch<T, N> {
    /// What it is before it is set.
    pub(crate) fn start(&self) -> T {
        (self.start)()
    }
}

impl<T: Serialize + DeserializeOwned + 'static, N: EventName> Watch<T, N> {
    pub(crate) fn full_name(&self) -> &str {
        self.name.full()
    }

    /// Its current state. [`Runtime::get`](crate::RuntimeHandle::get) is for the host.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn get(&self) -> T {
        let caller = Call::new("get", self.name.base())
            .giving::<T>()
            .about::<T>();
        let name = self.name.full();
        let value = match place("get") {
            Place::Script(cell) => {
                let events = cell.events();
                cell.effect(caller, || {
                    let (_, value) = events.value(name);
                    value.unwrap_or_else(|| Bytes::of(&(self.start)()))
                })
            }
            Place::Runtime(events) => events.value(name).1,
            Place::Outside(outside) => outside.value(name),
        };
        value.map_or_else(self.start, |value| read(name, &value))
    }

    /// Sets it. This counts as a change even if the new state is equal.
    /// [`Runtime::set`](crate::RuntimeHandle::set) is for the host.
    ///
    /// # Panics
    ///
    /// Outside of an executor; or if the state does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn set(&self, value: T) {
        let caller = Call::new("set", self.name.base()).about::<T>();
        let name = self.name.full();
        in_place(
            caller,
            |events| {
                events.set(name, Some(Bytes::of(&value)));
            },
            |outside| {
                outside.set(name, Some(Bytes::of(&value)));
            },
        );
    }

    /// Calls `change` with the current state, and sets it to what `change` has made of it. Returns
    /// the output of `change`. This is [`get`](Self::get) and [`set`](Self::set): when the script is
    /// restored, `change` is called again with the recorded state.
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const GOLD: Watch<u32> = watch("gold", Default::default);
    ///
    /// # async fn script() {
    /// let left = GOLD.update(|gold| {
    ///     *gold -= 3;
    ///     *gold
    /// });
    /// # }
    /// ```
    #[track_caller]
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.get();
        let result = change(&mut value);
        self.set(value);
        result
    }

    /// Calls `change` with the current state, like [`update`](Self::update). Sets it only if `change`
    /// returns `true`, so that scripts which wait for a change are not woken otherwise. Returns that.
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const BEST: Watch<u32> = watch("best score", Default::default);
    ///
    /// # async fn script(score: u32) {
    /// let is_better = BEST.update_if(|best| {
    ///     let is_better = score > *best;
    ///     *best = score.max(*best);
    ///     is_better
    /// });
    /// # }
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::sync::Watch::update_if`].
    #[doc(alias = "send_if_modified")]
    #[track_caller]
    pub fn update_if(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        let mut value = self.get();
        let is_changed = change(&mut value);
        if is_changed {
            self.set(value);
        }
        is_changed
    }

    /// Sets it, and returns the state from before.
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const ORDERS: Watch<Vec<String>> = watch("orders", Default::default);
    ///
    /// # async fn script() {
    /// for order in ORDERS.replace(Vec::new()) {
    ///     effect(|| println!("{order}"));
    /// }
    /// # }
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::sync::Watch::replace`].
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        let before = self.get();
        self.set(value);
        before
    }

    /// Removes it: it is its start value again, and nothing is kept for it. If it was set,
    /// this counts as a change. Returns whether it was set. [`Runtime::remove`](crate::RuntimeHandle::remove)
    /// is for the host.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn remove(&self) -> bool {
        let caller = Call::new("remove", self.name.base());
        let name = self.name.full();
        in_place(
            caller,
            |events| events.set(name, None),
            |outside| outside.set(name, None),
        )
    }

    /// Waits for the next change after the first poll, and returns the new state.
    ///
    /// # Cancel safety
    ///
    /// A change after the future is dropped is missed.
    pub fn changed(&self) -> Changed<T, N> {
        Changed {
            wait: WaitWatch::new(self, true, |_| true),
        }
    }

    /// A stream of its changes from now on, which loses none between two items: the latest state, if it
    /// has changed several times meanwhile.
    ///
    /// # Panics
    ///
    /// Outside of a script, and in a closure of one, such as that of [`with`](crate::with()).
    #[track_caller]
    pub fn subscribe(&self) -> Changes<T, N> {
        Changes::new(self)
    }

    /// Waits until `condition` holds for it. Ready at once if it holds already.
    ///
    /// `condition` is an `Fn`, and keeps nothing from one call to the next: after a restore, it is a
    /// new closure.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call checks the current state first.
    pub fn wait_for<P: Fn(&T) -> bool>(&self, condition: P) -> WaitWatch<T, P, N> {
        WaitWatch::new(self, false, condition)
    }
}

/// Declares a value with this name. Values of the same name are the same, and must have the same type.
///
/// Before it is set, it is what `start` returns. That is called again each time: it must always return the
/// same. A save has no value that was not set, so another start value holds for earlier saves, too.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// const HEALTH: Watch<u32> = watch("health", || 10);
///
/// let runtime = Runtime::new(Registry::new());
/// assert_eq!(runtime.get(&HEALTH.keyed("goblin")), 10);
/// ```
///
/// # Source
///
/// [`framestep::sync::watch`], of which the constant is spelt the same.
pub const fn watch<T>(name: &'static str, start: fn() -> T) -> Watch<T>
where
    T: Serialize + DeserializeOwned + 'static,
{
    Watch { name, start }
}

pub(crate) fn read<T: DeserializeOwned>(name: &str, value: &Bytes) -> T {
    value.read().unwrap_or_else(|| {
        unreadable::<T>(format_args!(
            "the value `{name}` is not a `{}`: another value has the same name",
            std::any::type_name::<T>()
        ))
    })
}

impl<T, N: Clone> Clone for Watch<T, N> {
    fn clone(&self) -> Self {
        Watch {
            name: self.name.clone(),
            start: self.start,
        }
    }
}

impl<T, N: Copy> Copy for Watch<T, N> {}

impl<T, N: fmt::Debug> fmt::Debug for Watch<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.name).finish()
    }
}

impl Registry {
    /// Adds a value, also for all its [keys](Watch::keyed), whose type the registry must know to
    /// [describe](crate::SaveState::described) it, and to find out when a file is loaded or
    /// [checked](Self::check) that it is of another type now.
    ///
    /// # Panics
    ///
    /// If another type has the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const STAGE: Watch<u32> = watch("stage", Default::default);
    ///
    /// let registry = Registry::new().with_watch(&STAGE);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_watch<T>(mut self, value: &Watch<T>) -> Self
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        self.add_value(value.name(), Type::of::<T>());
        self
    }
}
