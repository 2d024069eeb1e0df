//! Signals: events with a name.

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

/// An event with a name, such as a knock at a door. Declare it as a constant: the name alone
/// decides which scripts receive it, even after a restore.
///
/// An event reaches the scripts that wait for it at that moment. It resumes them in their home
/// phase, in the order in which they began to wait.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const KNOCK: Signal<u32> = Signal::new("knock");
///
/// #[derive(Serialize, Deserialize)]
/// struct Host;
///
/// impl DurableScript for Host {
///     const NAME: &'static str = "host";
///     type Output = u32;
///
///     async fn run(self) -> Chapter<Self> {
///         Chapter::Done(KNOCK.wait().await)
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Host>());
/// let host = runtime.start(Host);
/// runtime.emit(&KNOCK, &3);
/// runtime.run_frame(0.1);
/// assert_eq!(runtime.take(host), Some(Ok(3)));
/// ```
pub struct Signal<T> {
    name: &'static str,
    value: PhantomData<fn(T) -> T>,
}

impl<T: Serialize + DeserializeOwned + 'static> Signal<T> {
    /// A signal with this name. Signals of the same name are the same, and must have the
    /// same type.
    pub const fn new(name: &'static str) -> Self {
        Signal {
            name,
            value: PhantomData,
        }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Waits for the next event.
    ///
    /// # Cancel safety
    ///
    /// An event after the future is dropped is missed.
    pub fn wait(&self) -> WaitSignal<T> {
        WaitSignal {
            numbered: Numbered::default(),
            name: self.name,
            value: PhantomData,
        }
    }

    /// Emits an event from a script. [`Runtime::emit`](crate::Host::emit) does so for the
    /// host.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn emit(&self, value: &T) {
        let caller = Call::new("emit", self.name);
        let cell = context::expect("emit");
        let shared = cell.shared();
        cell.effect(caller, || {
            shared.emit(self.name, &Bytes::of(value));
            Bytes::EMPTY
        });
    }
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Signal<T> {}

impl<T> fmt::Debug for Signal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&self.name).finish()
    }
}

/// The future of [`Signal::wait`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignal<T> {
    numbered: Numbered,
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + 'static> Future for WaitSignal<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let name = self.name;
        let begin = |cell: &ScriptCell| Slot::Signal {
            ticket: cell.shared().await_signal(cell, name),
            given: None,
        };
        let polled = self.numbered.poll(
            "signal.wait()",
            Some(Event::Signal(name)),
            begin,
            |_, slot| match slot {
                Slot::Signal {
                    given: Some(value), ..
                } => Poll::Ready(value.clone()),
                _ => Poll::Pending,
            },
        );
        polled.map(|value| {
            value.read().unwrap_or_else(|| {
                unreadable::<T>(format_args!(
                    "the signal `{name}` did not carry a `{}`: another signal has the same name",
                    std::any::type_name::<T>()
                ))
            })
        })
    }
}

impl<T> Unpin for WaitSignal<T> {}

impl<T> fmt::Debug for WaitSignal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitSignal").field(&self.name).finish()
    }
}
