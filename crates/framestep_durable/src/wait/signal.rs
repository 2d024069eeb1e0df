//! Signals: events with a name.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName, Keyed, Marked};
use crate::events::{Given, OutsideWait, SignalWait};
use crate::journal::Call;
use crate::script::place::{Place, in_place, place};
use crate::script::{Numbered, ScriptCell, Slot, expect_read, outside, unreadable};
use crate::wait::{Subscription, WaitSignalFor};

/// An event with a name, such as a knock at a door. Declare it as a constant: the name alone
/// decides which scripts receive it, even after a restore.
///
/// An event reaches the scripts that wait for it at that moment, and all
/// [subscriptions](Self::subscribe). It resumes scripts in their home phase, in the order in which
/// they began to wait.
///
/// # Keys
///
/// [`keyed`](Self::keyed) returns the signal of one entity: `KNOCK.keyed(door)`. It has the same methods.
///
/// # Memory
///
/// Nothing is kept for a signal without a wait or a subscription.
///
/// # Outside of durable scripts
///
/// A plain script, in any executor, emits and waits in the same way. Each executor has signals of
/// its own. Its host emits inside of [`framestep::Executor::enter`].
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const KNOCK: Signal<u32> = signal("knock");
///
/// #[durable]
/// async fn host(door: u32) -> u32 {
///     KNOCK.keyed(door).wait().await
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(host));
/// let host = runtime.start(host(7));
/// runtime.emit(&KNOCK.keyed(8), 1);
/// runtime.emit(&KNOCK.keyed(7), 3);
/// runtime.run_frame(0.1);
/// assert_eq!(runtime.take(host), Some(Ok(3)));
/// ```
///
/// In a plain script:
///
/// ```
/// # use framestep_durable::prelude::*;
/// const KNOCK: Signal<u32> = signal("knock");
///
/// let mut executor = framestep::Executor::new();
/// let knocks = executor.start(async { KNOCK.wait().await });
/// executor.enter(|| KNOCK.emit(3));
/// assert_eq!(executor.run_until(knocks, 0.1).unwrap(), 3);
/// ```
///
/// # Source
///
/// [`framestep::sync::Signal`].
pub struct Signal<T, N = &'static str> {
    name: N,
    limit: Limit,
    value: PhantomData<fn(T) -> T>,
}

/// The most events that a subscription stores. `None`: as many as the runtime says.
pub(super) type Limit = Option<u64>;

impl<T: Serialize + DeserializeOwned + 'static> Signal<T> {
    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The signal of this name for one key: an entity, an id, a text, or a tuple of these.
    ///
    /// Keys with the same text are the same: the type of a number does not matter, and an id is its
    /// number. In save states, snapshots and traces, the signal is named `knock[7]`.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of the key fails.
    #[track_caller]
    pub fn keyed(&self, key: impl Serialize) -> Signal<T, Keyed> {
        Signal {
            name: Keyed::new(self.name, &key),
            limit: self.limit,
            value: PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned + 'static, N: EventName> Signal<T, N> {
    pub(crate) fn full_name(&self) -> &str {
        self.name.full()
    }

    /// Waits for the next event after the first poll.
    ///
    /// # Resumes
    ///
    /// In the home phase: later in the same run, if another script emits during a run of that phase;
    /// else in the next run of it.
    ///
    /// # Output
    ///
    /// The value. If several events are emitted before the script resumes, that of the first, however
    /// many follow: of a paused script, too. A loop around `wait` may miss events between two rounds;
    /// [`subscribe`](Self::subscribe) misses none.
    ///
    /// # Cancel safety
    ///
    /// An event after the future is dropped is missed.
    pub fn wait(&self) -> WaitSignal<T, N> {
        WaitSignal {
            numbered: Numbered::reading::<T>(),
            name: self.name.clone(),
            limit: self.limit,
            value: PhantomData,
        }
    }

    /// Waits for the next event after the first poll that `accept` accepts.
    ///
    /// It reads each event that is emitted while the script waits, in order, when the script is polled.
    /// A script that is paused reads them when it goes on: they are kept until then, without a limit,
    /// and [reported](crate::RuntimeHandle::on_loss) at 1,000. So `accept` may read what the host lends.
    ///
    /// `accept` must not keep anything from one call to the next: after a restore, it is a new
    /// closure. An event that is emitted inside of it is read in the next run.
    ///
    /// # Cancel safety
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const KEY: Signal<char> = signal("key");
    ///
    /// #[durable]
    /// async fn answer() -> char {
    ///     KEY.wait_for(|key| matches!(key, 'y' | 'n')).await
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Answer>());
    /// let answer = runtime.start(answer());
    /// for key in ['x', 'n', 'y'] {
    ///     runtime.emit(&KEY, key);
    /// }
    /// runtime.run_frame(0.1);
    /// assert_eq!(runtime.take(answer), Some(Ok('n')));
    /// ```
    pub fn wait_for<P: Fn(&T) -> bool>(&self, accept: P) -> WaitSignalFor<T, P, N> {
        WaitSignalFor {
            numbered: Numbered::reading::<T>(),
            name: self.name.clone(),
            limit: self.limit,
            accept,
            value: PhantomData,
        }
    }

    /// Subscribes to all events from now on, including those that are emitted while the script does
    /// something else.
    ///
    /// # Panics
    ///
    /// Outside of an executor: for a parameter of a script, call [`subscription`](Self::subscription).
    #[track_caller]
    pub fn subscribe(&self) -> Subscription<T> {
        Subscription::new(&self.name, self.limit)
    }

    /// A subscription for a parameter of a durable script. It begins when the script is made, even if
    /// that is polled later. See [`Subscription`].
    pub fn subscription(&self) -> Subscription<T> {
        Subscription::of_state(&self.name, self.limit)
    }

    /// Emits an event from a script. [`Runtime::emit`](crate::RuntimeHandle::emit) does so for the
    /// host.
    ///
    /// # Panics
    ///
    /// Outside of an executor; or if the value does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn emit(&self, value: T) {
        let caller = Call::new("emit", self.name.base());
        let name = self.name.full();
        in_place(
            caller,
            |events| events.emit(name, &Marked::of(&value)),
            |outside| outside.emit(name, Bytes::of(&value)),
        );
    }

    /// Emits an event to one script: the one that has waited longest. Returns the value if none waits.
    /// [`Runtime::emit_one`](crate::RuntimeHandle::emit_one) does so for the host. See
    /// [`framestep::sync::Signal::emit_one`].
    ///
    /// A [subscription](Self::subscribe) whose [`next`](Subscription::next) waits receives it, too. If
    /// the script is stopped before it resumes, or if its [`wait_for`](Self::wait_for) refuses the
    /// value, the event goes to the next of those that waited at the call, and is dropped with the last.
    ///
    /// # Panics
    ///
    /// Outside of an executor; or if the value does not serialise.
    ///
    /// # Examples
    ///
    /// Jobs for the script that has waited longest:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const JOBS: Signal<String> = signal("jobs");
    ///
    /// #[durable]
    /// async fn worker() -> String {
    ///     JOBS.wait().await
    /// }
    ///
    /// #[durable]
    /// async fn boss() -> Vec<bool> {
    ///     let given = ["dig", "carry", "cook"].map(|job| JOBS.emit_one(job.into()).is_none());
    ///     given.to_vec()
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Worker>().with::<Boss>());
    /// let workers = [0, 1].map(|_| runtime.start(worker()));
    /// let boss = runtime.start(boss());
    /// assert_eq!(runtime.take(boss), Some(Ok(vec![true, true, false])));
    /// runtime.run_frame(0.25);
    /// let done = workers.map(|worker| runtime.take(worker).unwrap().unwrap());
    /// assert_eq!(done, ["dig", "carry"]);
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::sync::Signal::emit_one`].
    #[doc(alias = "notify_one")]
    #[track_caller]
    pub fn emit_one(&self, value: T) -> Option<T> {
        let caller = Call::new("emit_one", self.name.base());
        let name = self.name.full();
        let is_given = match place("emit_one") {
            Place::Script(cell) => {
                let events = cell.events();
                let given = cell.effect(caller, || {
                    Bytes::of(&events.emit_one(name, &Marked::of(&value)))
                });
                given.is_none_or(|given| expect_read(&given))
            }
            Place::Runtime(events) => events.emit_one(name, &Marked::of(&value)),
            Place::Outside(outside) => outside.emit_one(name, Bytes::of(&value)),
        };
        (!is_given).then_some(value)
    }
}

impl<T, N: Clone> Clone for Signal<T, N> {
    fn clone(&self) -> Self {
        Signal {
            name: self.name.clone(),
            ..*self
        }
    }
}

impl<T, N: Copy> Copy for Signal<T, N> {}

impl<T, N: fmt::Debug> fmt::Debug for Signal<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&self.name).finish()
    }
}

/// Declares a signal with this name. Signals of the same name are the same, and must have the same type.
///
/// # Source
///
/// [`framestep::sync::signal`], of which the constant is spelt the same.
pub const fn signal<T: Serialize + DeserializeOwned + 'static>(name: &'static str) -> Signal<T> {
    Signal {
        name,
        limit: None,
        value: PhantomData,
    }
}

/// Like [`signal`], for one whose [subscriptions](Signal::subscribe) store at most `events` events each,
/// instead of 1,024, or of what [`max_events`](crate::RuntimeBuilder::max_events) says.
///
/// # Panics
///
/// If `events` is zero: for a constant, this is an error of the compiler.
pub const fn signal_with_limit<T>(name: &'static str, events: usize) -> Signal<T>
where
    T: Serialize + DeserializeOwned + 'static,
{
    assert!(
        events > 0,
        "a subscription must be able to store at least 1 event"
    );
    Signal {
        name,
        limit: Some(events as u64),
        value: PhantomData,
    }
}

/// Reads the value of an event.
pub(super) fn read<T: DeserializeOwned>(name: &str, value: &Bytes) -> T {
    value.read().unwrap_or_else(|| {
        unreadable::<T>(format_args!(
            "the signal `{name}` did not carry a `{}`: another signal has the same name",
            std::any::type_name::<T>()
        ))
    })
}

/// The future of [`Signal::wait`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignal<T, N = &'static str> {
    numbered: Numbered,
    name: N,
    limit: Limit,
    value: PhantomData<fn() -> T>,
}

#[track_caller]
fn poll_wait(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    limit: Limit,
    cx: &mut Context<'_>,
) -> Poll<Bytes> {
    let kind = "signal.wait()";
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let of = outside(kind).signal(name, limit);
            let wait = of.of.signal.wait();
            OutsideWait::Signal { wait, _of: of }
        });
        let polled = match slot.outside() {
            Some(OutsideWait::Signal { wait, .. }) => {
                Pin::new(wait).poll(cx).map(|event| event.value)
            }
            _ => Poll::Pending,
        };
        numbered.put_outside(slot, &polled);
        return polled;
    };
    let begin = |cell: &ScriptCell| {
        Slot::Signal(SignalWait {
            listing: cell.events().await_signal(cell.latest_wait(), name),
            given: Given::Nothing,
        })
    };
    let event = Some(Event::Signal(base));
    numbered.poll_known(&cell, kind, event, begin, |_, slot| match slot {
        Slot::Signal(wait) => match mem::take(&mut wait.given) {
            Given::Nothing => Poll::Pending,
            Given::Event(value) => Poll::Ready(value.into_value()),
            Given::One(given) => Poll::Ready(given.value.into_value()),
        },
        _ => Poll::Pending,
    })
}

impl<T: Serialize + DeserializeOwned + 'static, N: EventName> Future for WaitSignal<T, N> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let (base, name) = (this.name.base(), this.name.full());
        let polled = poll_wait(&mut this.numbered, base, name, this.limit, cx);
        let polled = this.numbered.note_event::<T>(polled);
        polled.map(|value| read(name, &value))
    }
}

impl<T, N> Unpin for WaitSignal<T, N> {}

impl<T, N: fmt::Debug> fmt::Debug for WaitSignal<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitSignal").field(&self.name).finish()
    }
}
