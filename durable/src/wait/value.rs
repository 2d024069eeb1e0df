//! Values: named state that scripts share, and whose changes they can await.

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
use crate::context;
use crate::site::Call;
use crate::slot::Slot;

use super::Numbered;

/// A value with a name, such as a quest's stage. Declare it as a constant: the runtime keeps
/// its current state, and saves it.
///
/// Before it is first set, it is the default of its type. Changes resume scripts in their home
/// phase, in the order in which they began to wait.
pub struct Value<T> {
    name: &'static str,
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

    /// Its current state.
    ///
    /// # Panics
    ///
    /// Outside of a durable script: [`Runtime::get`](crate::Host::get) is for the host.
    #[track_caller]
    pub fn get(&self) -> T {
        let caller = Call::new("get", self.name);
        let cell = context::expect("get");
        let shared = cell.shared();
        let value = cell.effect(caller, || {
            let (_, value) = shared.value(self.name);
            value.unwrap_or_else(|| Bytes::of(&T::default()))
        });
        value.map_or_else(T::default, |value| read(self.name, &value))
    }

    /// Sets it. This counts as a change even if the new state is equal.
    ///
    /// # Panics
    ///
    /// Outside of a durable script: [`Runtime::set`](crate::Host::set) is for the host.
    #[track_caller]
    pub fn set(&self, value: &T) {
        let caller = Call::new("set", self.name);
        let cell = context::expect("set");
        let shared = cell.shared();
        cell.effect(caller, || {
            shared.set(self.name, Bytes::of(value));
            Bytes::EMPTY
        });
    }

    /// Waits for the next change, and returns the new state.
    ///
    /// # Cancel safety
    ///
    /// A change after the future is dropped is missed.
    pub fn changed(&self) -> Changed<T> {
        Changed {
            wait: WaitValue::new(self.name, true, |_| true),
        }
    }

    /// Waits until `condition` holds for it. Ready at once if it holds already.
    ///
    /// `condition` must not keep anything from one call to the next: after a restore, it is a new
    /// closure.
    pub fn wait_for<P: FnMut(&T) -> bool>(&self, condition: P) -> WaitValue<T, P> {
        WaitValue::new(self.name, false, condition)
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

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Value<T> {}

impl<T> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value").field(&self.name).finish()
    }
}

/// The future of [`Value::wait_for`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitValue<T, P> {
    numbered: Numbered,
    name: &'static str,
    /// Whether the state at the first poll does not count.
    skips_present: bool,
    condition: P,
    value: PhantomData<fn() -> T>,
}

impl<T, P> WaitValue<T, P> {
    fn new(name: &'static str, skips_present: bool, condition: P) -> Self {
        WaitValue {
            numbered: Numbered::default(),
            name,
            skips_present,
            condition,
            value: PhantomData,
        }
    }
}

impl<T, P> Future for WaitValue<T, P>
where
    T: Serialize + DeserializeOwned + Default + 'static,
    P: FnMut(&T) -> bool,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let (name, skips_present) = (this.name, this.skips_present);
        let condition = &mut this.condition;
        let begin = |cell: &ScriptCell| {
            let (ticket, changes) = cell.shared().await_value(cell, name);
            // No change has this number, so the state at the first poll counts like a change.
            let seen = if skips_present { changes } else { u64::MAX };
            Slot::Value { ticket, seen }
        };
        let polled = this.numbered.poll(
            "value.wait_for()",
            Some(Event::Value(name)),
            begin,
            |cell, slot| {
                let Slot::Value { seen, .. } = slot else {
                    return Poll::Pending;
                };
                let (changes, value) = cell.shared().value(name);
                if *seen == changes {
                    return Poll::Pending;
                }
                *seen = changes;
                let value = value.unwrap_or_else(|| Bytes::of(&T::default()));
                let read: T = read(name, &value);
                if cell.in_closure(|| condition(&read)) {
                    return Poll::Ready(value);
                }
                if cell.shared().value(name).0 != changes {
                    // The condition has changed it, and is called again: while the wait is
                    // being polled, a change does not find it.
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            },
        );
        polled.map(|value| read(name, &value))
    }
}

impl<T, P> Unpin for WaitValue<T, P> {}

impl<T, P> fmt::Debug for WaitValue<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitValue").field(&self.name).finish()
    }
}

/// The future of [`Value::changed`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Changed<T> {
    wait: WaitValue<T, fn(&T) -> bool>,
}

impl<T: Serialize + DeserializeOwned + Default + 'static> Future for Changed<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.wait).poll(cx)
    }
}

impl<T> fmt::Debug for Changed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changed").field(&self.wait.name).finish()
    }
}
