//! Values: named state that scripts share, and whose changes they can await.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName, Keyed, Type};
use crate::journal::Call;
use crate::script::place::{Place, in_place, place};
use crate::script::{Registry, unreadable};
use crate::wait::{Changed, ValueChanges, WaitValue};

/// A value with a name, such as a quest's stage. Declare it as a constant: the runtime keeps
/// its current state, and saves it.
///
/// Before it is first set, it is the default of its type. Changes resume scripts in their home
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
/// const STAGE: Value<u32> = Value::new("stage");
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
pub struct Value<T, N = &'static str> {
    name: N,
    value: PhantomData<fn(T) -> T>,
}

impl<T: Serialize + DeserializeOwned + Default + 'static> Value<T> {
    /// A value with this name. Values of the same name are the same, and must have the same
    /// type.
    pub const fn new(name: &'static str) -> Self {
        Value {
            name,
            value: PhantomData,
        }
    }

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
    pub fn keyed(&self, key: impl Serialize) -> Value<T, Keyed> {
        Value {
            name: Keyed::new(self.name, &key),
            value: PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned + Default + 'static, N: EventName> Value<T, N> {
    pub(crate) fn full_name(&self) -> &str {
        self.name.full()
    }

    /// Its current state. [`Runtime::get`](crate::Host::get) is for the host.
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
                    value.unwrap_or_else(|| Bytes::of(&T::default()))
                })
            }
            Place::Runtime(events) => events.value(name).1,
            Place::Outside(outside) => outside.value(name),
        };
        value.map_or_else(T::default, |value| read(name, &value))
    }

    /// Sets it. This counts as a change even if the new state is equal.
    /// [`Runtime::set`](crate::Host::set) is for the host.
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
    /// const GOLD: Value<u32> = Value::new("gold");
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
    /// const BEST: Value<u32> = Value::new("best score");
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
    /// const ORDERS: Value<Vec<String>> = Value::new("orders");
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

    /// Removes it: it is the default of its type again, and nothing is kept for it. If it was set,
    /// this counts as a change. Returns whether it was set. [`Runtime::remove`](crate::Host::remove)
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
            wait: WaitValue::new(self.name.clone(), true, |_| true),
        }
    }

    /// A stream of its changes from now on, which loses none between two items: the latest state, if it
    /// has changed several times meanwhile.
    ///
    /// # Panics
    ///
    /// Outside of a script, and in a closure of one, such as that of [`with`](crate::with()).
    #[track_caller]
    pub fn subscribe(&self) -> ValueChanges<T, N> {
        ValueChanges::new(self)
    }

    /// Waits until `condition` holds for it. Ready at once if it holds already.
    ///
    /// `condition` is an `Fn`, and keeps nothing from one call to the next: after a restore, it is a
    /// new closure.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call checks the current state first.
    pub fn wait_for<P: Fn(&T) -> bool>(&self, condition: P) -> WaitValue<T, P, N> {
        WaitValue::new(self.name.clone(), false, condition)
    }
}

pub(crate) fn read<T: DeserializeOwned>(name: &str, value: &Bytes) -> T {
    value.read().unwrap_or_else(|| {
        unreadable::<T>(format_args!(
            "the value `{name}` is not a `{}`: another value has the same name",
            std::any::type_name::<T>()
        ))
    })
}

impl<T, N: Clone> Clone for Value<T, N> {
    fn clone(&self) -> Self {
        Value {
            name: self.name.clone(),
            value: PhantomData,
        }
    }
}

impl<T, N: Copy> Copy for Value<T, N> {}

impl<T, N: fmt::Debug> fmt::Debug for Value<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value").field(&self.name).finish()
    }
}

impl Registry {
    /// Adds a value, also for all its [keys](Value::keyed), whose type the registry must know to
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
    /// const STAGE: Value<u32> = Value::new("stage");
    ///
    /// let registry = Registry::new().with_value(&STAGE);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_value<T>(mut self, value: &Value<T>) -> Self
    where
        T: Serialize + DeserializeOwned + Default + 'static,
    {
        self.add_value(value.name(), Type::of::<T>());
        self
    }
}
