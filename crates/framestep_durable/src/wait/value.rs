//! Values: named state that scripts share, and whose changes they can await.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, unreadable};
use crate::outside::{OutsideWait, Place, outside, place};
use crate::site::Call;
use crate::slot::Slot;
use crate::topic::{EventName, Keyed};
use crate::typed::{ReadAs, Typed};

use super::{Numbered, ValueChanges};

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
        let caller = Call::new("get", self.name.base());
        let name = self.name.full();
        let value = match place("get") {
            Place::Script(cell) => {
                let shared = cell.shared();
                cell.effect(caller, || {
                    let (_, value) = shared.value(name);
                    value.unwrap_or_else(|| Bytes::of(&T::default()))
                })
            }
            Place::Runtime(shared) => shared.value(name).1,
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
        let caller = Call::new("set", self.name.base());
        let name = self.name.full();
        match place("set") {
            Place::Script(cell) => {
                let shared = cell.shared();
                cell.effect(caller, || {
                    shared.set(name, Some(Bytes::of(&value)));
                    Bytes::EMPTY
                });
            }
            Place::Runtime(shared) => drop(shared.set(name, Some(Bytes::of(&value)))),
            Place::Outside(outside) => drop(outside.set(name, Some(Bytes::of(&value)))),
        }
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
        match place("remove") {
            Place::Script(cell) => {
                let shared = cell.shared();
                let removed = cell.effect(caller, || Bytes::of(&shared.set(name, None)));
                removed.and_then(|removed| removed.read()).unwrap_or(false)
            }
            Place::Runtime(shared) => shared.set(name, None),
            Place::Outside(outside) => outside.set(name, None),
        }
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

/// The future of [`Value::wait_for`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitValue<T, P, N = &'static str> {
    numbered: Numbered,
    name: N,
    /// Whether the state at the first poll does not count.
    skips_present: bool,
    condition: P,
    value: PhantomData<fn() -> T>,
}

impl<T, P, N> WaitValue<T, P, N> {
    fn new(name: N, skips_present: bool, condition: P) -> Self {
        WaitValue {
            numbered: Numbered::default(),
            name,
            skips_present,
            condition,
            value: PhantomData,
        }
    }
}

/// Polls a wait for a state that `holds` accepts. `None` is the default of the type; `holds` returns
/// its bytes, if it accepts it.
#[track_caller]
fn poll_value(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    skips_present: bool,
    cx: &mut Context<'_>,
    holds: &mut dyn FnMut(Option<Bytes>) -> Option<Bytes>,
) -> Poll<Bytes> {
    let kind = if skips_present {
        "value.changed()"
    } else {
        "value.wait_for()"
    };
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let of = outside(kind).watch(name);
            let changed = of.of.changed();
            let is_new = !skips_present;
            OutsideWait::Value {
                changed,
                of,
                is_new,
            }
        });
        let polled = poll_outside(&mut slot, cx, holds);
        numbered.put_outside(slot, &polled);
        return polled;
    };
    let begins = Cell::new(false);
    let begin = |cell: &ScriptCell| {
        begins.set(true);
        Slot::Value {
            listing: cell.shared().await_value(cell, name),
            is_new: !skips_present,
        }
    };
    let event = Some(Event::Value(base));
    numbered.poll_known(&cell, kind, event, begin, |cell, slot| {
        let Slot::Value { listing, is_new } = slot else {
            return Poll::Pending;
        };
        if !std::mem::take(is_new) {
            return Poll::Pending;
        }
        let (change, value) = cell.shared().value(name);
        if let Some(value) = cell.in_closure(|| holds(value)) {
            return Poll::Ready(value);
        }
        if !begins.get() {
            cell.shared().await_change_again(listing);
        }
        if cell.shared().value(name).0 != change {
            // The condition has changed it, and is called again: while the wait is
            // being polled, a change does not find it.
            *is_new = true;
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

/// The same outside of durable scripts.
#[track_caller]
fn poll_outside(
    slot: &mut Slot,
    cx: &mut Context<'_>,
    holds: &mut dyn FnMut(Option<Bytes>) -> Option<Bytes>,
) -> Poll<Bytes> {
    let Some(OutsideWait::Value {
        changed,
        of,
        is_new,
    }) = slot.outside()
    else {
        return Poll::Pending;
    };
    if Pin::new(&mut *changed).poll(cx).is_ready() {
        *changed = of.of.changed();
        *is_new = true;
    }
    if !std::mem::take(is_new) {
        return Poll::Pending;
    }
    if let Some(value) = holds(of.of.get()) {
        return Poll::Ready(value);
    }
    if Pin::new(&mut *changed).poll(cx).is_ready() {
        // The condition has changed it, and is called again in the next run.
        *changed = of.of.changed();
        *is_new = true;
        cx.waker().wake_by_ref();
    }
    Poll::Pending
}

impl<T, P, N> Future for WaitValue<T, P, N>
where
    T: Serialize + DeserializeOwned + Default + 'static,
    P: Fn(&T) -> bool,
    N: EventName,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let (base, name, skips) = (this.name.base(), this.name.full(), this.skips_present);
        let condition = &this.condition;
        let mut holds = |value: Option<Bytes>| {
            let value = value.unwrap_or_else(|| Bytes::of(&T::default()));
            let holds = condition(&read(name, &value));
            holds.then_some(value)
        };
        match poll_value(&mut this.numbered, base, name, skips, cx, &mut holds) {
            Poll::Ready(value) => Poll::Ready(read(name, &value)),
            Poll::Pending => {
                this.numbered
                    .note(|number| Typed::Event(number, ReadAs::of::<T>()));
                Poll::Pending
            }
        }
    }
}

impl<T, P, N> Unpin for WaitValue<T, P, N> {}

impl<T, P, N: fmt::Debug> fmt::Debug for WaitValue<T, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitValue").field(&self.name).finish()
    }
}

/// The future of [`Value::changed`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Changed<T, N = &'static str> {
    wait: WaitValue<T, fn(&T) -> bool, N>,
}

impl<T, N> Future for Changed<T, N>
where
    T: Serialize + DeserializeOwned + Default + 'static,
    N: EventName,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.wait).poll(cx)
    }
}

impl<T, N: fmt::Debug> fmt::Debug for Changed<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changed").field(&self.wait.name).finish()
    }
}
