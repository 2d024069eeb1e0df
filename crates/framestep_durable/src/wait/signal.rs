//! Signals of a runtime, and the wait for one event.

use std::marker::PhantomData;
use std::mem;
use std::panic::Location;
use std::task::{Context, Poll};

use framestep::durable::{
    Event, Refused, RuntimeEvents, RuntimeSignals, SignalsOf, SourceName, signal_for,
};
use framestep::sync::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, Marked, SourceTopic};
use crate::events::{DEFAULT_LIMIT, Given, SignalWait};
use crate::journal::Call;
use crate::script::caller::{Here, in_runtime, in_script_of};
use crate::script::{Awaited, Numbered, ScriptCell, Slot, unreadable};
use crate::wait::removal::Removed;
use crate::wait::signal_for::{WAIT_FOR, poll_accepted};
use crate::wait::subscription::Subscribed;

/// Declares a signal that scripts find by its name: durable ones in their runtime, others in their executor.
///
/// It is a [`framestep::sync::Signal`] whose values a runtime can save. Before and after a load, the name alone decides
/// which scripts receive an event.
///
/// In a runtime, a wait counts from its first poll; it does not end, and neither does a subscription. A
/// [`wait_for`](Signal::wait_for) of a paused script keeps its events without a limit, which is
/// [reported](crate::RuntimeHandle::on_loss) at 1,000. Signals of the same name must have the same type. Nothing is
/// kept for a signal without a wait or a subscription.
///
/// A signal that is made by [`Signal::new`] or [`framestep::sync::signal`] has values that nobody can save: in a
/// durable script, calls on it panic, except in a closure such as that of [`with`](crate::with()).
///
/// # Panics
///
/// Calls on the handle panic outside of an executor; in a durable script, those that wait or subscribe in a closure of
/// it; and [`emit`](Signal::emit), if the value does not serialise.
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
/// runtime.named(&KNOCK.keyed(8)).emit(1);
/// runtime.enter(|| KNOCK.keyed(7).emit(3));
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
/// executor.named(&KNOCK).emit(3);
/// assert_eq!(executor.run_until(knocks, 0.1).unwrap(), 3);
/// ```
///
/// # Source
///
/// [`framestep::sync::signal`].
#[track_caller]
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
pub const fn signal<T: Serialize + DeserializeOwned + 'static>(name: &'static str) -> Signal<T> {
    signal_for::<T, Here>(name, DEFAULT_LIMIT as usize)
}

/// Like [`signal`], for one whose [subscriptions](Signal::subscribe) store at most `events` events each,
/// instead of 1,024, or of what [`max_events`](crate::RuntimeBuilder::max_events) says.
///
/// # Panics
///
/// If `events` is zero: for a constant, this is an error of the compiler.
#[track_caller]
pub const fn signal_with_limit<T>(name: &'static str, events: usize) -> Signal<T>
where
    T: Serialize + DeserializeOwned + 'static,
{
    signal_for::<T, Here>(name, events)
}

impl<T: Serialize + DeserializeOwned + 'static> SignalsOf<T> for Here {
    fn signals() -> Box<dyn RuntimeSignals<T>> {
        Box::new(Here)
    }
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeSignals<T> for Here {
    fn emit(
        &self,
        signal: SourceName<'_>,
        at: &'static Location<'static>,
        value: T,
    ) -> Result<(), Refused> {
        let call = Call::at("emit", signal.base, at);
        in_runtime(call, |events| events.emit(signal.full, &Marked::of(&value)))
    }

    fn emit_one(
        &self,
        signal: SourceName<'_>,
        at: &'static Location<'static>,
        value: T,
    ) -> Result<Option<T>, Refused> {
        let call = Call::at("emit_one", signal.base, at);
        let is_kept = in_runtime(call, |events| {
            !events.emit_one(signal.full, &Marked::of(&value))
        })?;
        Ok(is_kept.then_some(value))
    }

    fn remove(
        &self,
        signal: SourceName<'_>,
        at: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let call = Call::at("remove", signal.base, at);
        in_runtime(call, |events| Removed::Signal.tell(signal.full, events))
    }

    fn wait(&self, signal: SourceName<'_>) -> Result<Box<dyn RuntimeEvents<T>>, Refused> {
        Ok(Waits::new(signal, false)?)
    }

    fn wait_for(&self, signal: SourceName<'_>) -> Result<Box<dyn RuntimeEvents<T>>, Refused> {
        Ok(Waits::new(signal, true)?)
    }

    fn subscribe(
        &self,
        signal: SourceName<'_>,
        limit: usize,
        at: &'static Location<'static>,
    ) -> Result<Box<dyn RuntimeEvents<T>>, Refused> {
        Ok(Box::new(Subscribed::<T>::new(signal, limit_of(limit), at)?))
    }
}

/// The most events that a subscription stores. `None`: as many as the runtime says.
pub(super) type Limit = Option<u64>;

/// A signal without a limit of its own has that of the runtime.
pub(super) fn limit_of(events: usize) -> Limit {
    Some(events as u64).filter(|events| *events != DEFAULT_LIMIT)
}

/// Checks that a script makes a wait. It is polled in the script's own code, or not at all.
pub(super) fn expect_script(call: &str) -> Result<(), Refused> {
    in_script_of(call).map(drop)
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

/// The wait of a script for an event: the next one, or the next one that a condition accepts.
struct Waits<T> {
    numbered: Numbered,
    name: SourceTopic,
    has_condition: bool,
    value: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned + 'static> Waits<T> {
    fn new(signal: SourceName<'_>, has_condition: bool) -> Result<Box<Self>, Refused> {
        expect_script(if has_condition { WAIT_FOR } else { WAIT })?;
        Ok(Box::new(Waits {
            numbered: Numbered::reading::<T>(),
            name: SourceTopic::of(signal),
            has_condition,
            value: PhantomData,
        }))
    }
}

const WAIT: &str = "signal.wait()";

/// Polls a wait for the next event. `call` is what the user has called.
pub(super) fn poll_event(
    call: &'static str,
    numbered: &mut Numbered,
    name: &SourceTopic,
    at: &'static Location<'static>,
) -> Result<Poll<Bytes>, Refused> {
    let cell = numbered.own_script(call)?;
    let begin = |cell: &ScriptCell| {
        Slot::Signal(SignalWait {
            listing: cell.events().await_signal(cell.latest_wait(), name.full()),
            given: Given::Nothing,
        })
    };
    let awaited = Awaited::at(call, Some(Event::Signal(name.base)), at);
    Ok(
        numbered.poll_at(&cell, awaited, begin, |_, slot| match slot {
            Slot::Signal(wait) => match mem::take(&mut wait.given) {
                Given::Nothing => Poll::Pending,
                Given::Event(value) => Poll::Ready(value.into_value()),
                Given::One(given) => Poll::Ready(given.value.into_value()),
            },
            _ => Poll::Pending,
        }),
    )
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeEvents<T> for Waits<T> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused> {
        let (numbered, name) = (&mut self.numbered, &self.name);
        let polled = if self.has_condition {
            let mut accept = |event: &Bytes| accept(&read(name.full(), event));
            poll_accepted(numbered, name, at, cx, &mut accept)?
        } else {
            poll_event(WAIT, numbered, name, at)?
        };
        let polled = self.numbered.note_event::<T>(polled);
        Ok(polled.map(|value| read(self.name.full(), &value)))
    }

    fn removals(&self) -> Option<Box<dyn RuntimeEvents<()>>> {
        Some(Removed::Signal.wait(self.name.full()))
    }
}
