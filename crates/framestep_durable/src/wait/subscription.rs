//! Subscriptions of scripts: all events of a signal, also between two waits.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::{
    Event, Refused, RuntimeEvents, SourceName, Stream, in_runtime, limit_of_signal, name_of,
    signal_of_name, subscription,
};
use framestep::sync::{Signal, Subscription};
use framestep::wait::NextItem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::topic::interned;
use crate::bytes::{Bytes, Mark};
use crate::events::{DEFAULT_LIMIT, Typed};
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::caller::{Here, in_script_of};
use crate::script::{Awaited, NextWait, Numbered, ScriptCell, Slot, context, counts, hand_over};
use crate::wait::removal::Removed;
use crate::wait::signal::{Limit, limit_of, read};

/// A subscription that a script has. Dropping this ends it.
struct Held {
    base: &'static str,
    cell: Weak<ScriptCell>,
    number: u64,
    /// Its signal.
    name: Box<str>,
    limit: Limit,
    /// Whether it is in the state of another chapter, which drops it.
    is_handed_over: Cell<bool>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_handed_over.get() {
            return;
        }
        if let Some(cell) = counts(&self.cell, Hold::Stream(self.number)) {
            let unread = cell.events().drop_stream((cell.id, self.number));
            if let Some(unread) = unread {
                cell.note_unread(unread);
            }
        }
    }
}

/// The events of a subscription, in its script.
pub(super) struct Subscribed<T> {
    base: &'static str,
    /// `None` in the destructor of a script that is taken back: nothing comes.
    held: Option<Held>,
    /// The wait for the next event. It stays if its future is dropped.
    numbered: Numbered,
    value: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned + 'static> Subscribed<T> {
    pub(super) fn new(
        signal: SourceName<'_>,
        limit: Limit,
        at: &'static Location<'static>,
    ) -> Result<Self, Refused> {
        let held = subscribe(signal, limit, Mark::of::<T>(), at)?;
        Ok(Subscribed::of(signal.base, held))
    }

    fn of(base: &'static str, held: Option<Held>) -> Self {
        Subscribed {
            base,
            held,
            numbered: Numbered::reading::<T>(),
            value: PhantomData,
        }
    }
}

fn subscribe(
    signal: SourceName<'_>,
    limit: Limit,
    read_as: Mark,
    at: &'static Location<'static>,
) -> Result<Option<Held>, Refused> {
    let cell = in_script_of("subscribe")?;
    let events = cell.events();
    let number = cell.effect(Call::at("subscribe", signal.base, at), || {
        Bytes::of(&events.subscribe(cell.id, signal.full, limit).1)
    });
    let Some(number) = number.and_then(|number| number.read()) else {
        return Ok(None);
    };
    // In a replay, it is noted as what type its events are read.
    cell.note_held(Typed::Events(number, read_as));
    Ok(Some(Held {
        base: signal.base,
        cell: Rc::downgrade(&cell),
        number,
        name: signal.full.into(),
        limit,
        is_handed_over: Cell::new(false),
    }))
}

fn poll_next(
    numbered: &mut Numbered,
    held: &Held,
    at: &'static Location<'static>,
) -> Result<Poll<Bytes>, Refused> {
    let kind = "subscription.next()";
    let cell = in_script_of(kind)?;
    if !ptr::eq(held.cell.as_ptr(), Rc::as_ptr(&cell)) {
        return Err(format!(
            "`{kind}` was polled by another script than that which has subscribed: durable scripts cannot \
             share subscriptions"
        ));
    }
    let (stream, name) = ((cell.id, held.number), &*held.name);
    let begin = |cell: &ScriptCell| {
        Slot::Next(Box::new(NextWait {
            number: cell.latest_wait().1,
            listing: cell.events().await_signal(cell.latest_wait(), name),
            stream,
            guard: None,
        }))
    };
    let awaited = Awaited::at(kind, Some(Event::Signal(held.base)), at);
    let polled = numbered.poll_at(&cell, awaited, begin, |cell, _| {
        match cell.events().next_event(stream) {
            Some(event) => Poll::Ready(event.into_value()),
            None => Poll::Pending,
        }
    });
    if polled.is_pending() {
        numbered.note(|wait| Typed::Next(wait, held.number));
    }
    Ok(polled)
}

/// Reads something of a subscription, as an effect.
fn reads<R: Serialize + DeserializeOwned + Default>(
    held: Option<&Held>,
    call: &'static str,
    at: &'static Location<'static>,
    read: impl FnOnce(&ScriptCell, u64) -> R,
) -> Result<R, Refused> {
    let cell = in_script_of(call)?;
    let Some(Held { base, number, .. }) = held else {
        return Ok(R::default());
    };
    let found = cell.effect(Call::at(call, base, at), || {
        Bytes::of(&read(&cell, *number))
    });
    Ok(found.and_then(|found| found.read()).unwrap_or_default())
}

impl<T: DeserializeOwned + 'static> RuntimeEvents<T> for Subscribed<T> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        _: &mut Context<'_>,
        _: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused> {
        let Some(held) = &self.held else {
            return Ok(Poll::Pending);
        };
        let polled = poll_next(&mut self.numbered, held, at)?;
        Ok(polled.map(|value| {
            self.numbered = self.numbered.again();
            read(self.base, &value)
        }))
    }

    fn missed(&self, at: &'static Location<'static>) -> Result<u64, Refused> {
        let missed = |cell: &ScriptCell, number| cell.events().missed_events((cell.id, number));
        reads(self.held.as_ref(), "missed", at, missed)
    }

    fn is_empty(&self, at: &'static Location<'static>) -> Result<bool, Refused> {
        let is_empty =
            |cell: &ScriptCell, number| cell.events().stored_events((cell.id, number)) == 0;
        reads(self.held.as_ref(), "is_empty", at, is_empty)
    }

    fn removals(&self) -> Option<Box<dyn RuntimeEvents<()>>> {
        let held = self.held.as_ref()?;
        Some(Removed::Signal.wait(&held.name))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A subscription that can stand in the state of a script, with the events that it has not read.
///
/// It is used like the [`Subscription`] that it is made of. [`Chapter::Next`](crate::Chapter::Next) hands it to the
/// next chapter, and [`start`](crate::start()) to another script: a chapter for each event misses none.
/// [`of`](Self::of) makes one for a parameter, and `into` one of a subscription that a script has.
///
/// A script that ends, or begins another chapter, drops its other subscriptions.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const KNOCK: Signal<String> = signal("knock");
///
/// #[durable]
/// async fn porter(mut knocks: Unread<String>, guests: usize) -> Chapter<usize> {
///     let _guest = knocks.next().await;
///     wait_seconds(1).await; // the door squeaks
///     match guests {
///         3 => Chapter::Done(guests),
///         _ => Chapter::Next(porter(knocks, guests + 1)),
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(porter));
/// let porter = runtime.spawn(porter(Unread::of(&KNOCK), 1));
/// for guest in ["Anna", "Bert", "Carl"] {
///     runtime.named(&KNOCK).emit(guest.into());
/// }
/// for _ in 0..13 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(porter), Some(Ok(3)));
/// ```
#[must_use = "a subscription that is dropped receives nothing"]
pub struct Unread<T> {
    inner: Inner<T>,
}

enum Inner<T> {
    /// In a state whose script has not used it.
    State(State),
    Open(Subscription<T>),
}

/// A subscription in a state, and in its bytes.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Subscription")]
struct State {
    /// The name of the signal, without a key.
    base: Box<str>,
    signal: Box<str>,
    /// `None`: as many events as the runtime says.
    limit: Limit,
    /// The number that it has in its script. `None` before it is in a script.
    number: Option<u64>,
}

impl<T: Serialize + DeserializeOwned + 'static> Unread<T> {
    /// A subscription for a parameter of a durable script. It begins when the script is made, even if that is polled
    /// later.
    ///
    /// # Panics
    ///
    /// If the signal has no name by which it is found.
    #[track_caller]
    pub fn of(signal: &Signal<T>) -> Self {
        let Some(name) = name_of(signal) else {
            panic!(
                "`Unread::of` got a signal without a name by which it is found: declare it as a constant, with \
                 `framestep_durable::signal`"
            )
        };
        Unread {
            inner: Inner::State(State {
                base: name.base.into(),
                signal: name.full.into(),
                limit: limit_of(limit_of_signal(signal)),
                number: None,
            }),
        }
    }

    /// The subscription, in the script that has the state, or in a plain one.
    #[track_caller]
    fn open(&mut self, call: &str) -> &mut Subscription<T> {
        if let Inner::State(state) = &mut self.inner {
            let base = interned(&state.base);
            let opened = match context::current() {
                Some(cell) => {
                    cell.expect_outside_of_closures(call, Location::caller());
                    let held = state.bind(base, &cell, call);
                    subscription(Box::new(Subscribed::<T>::of(base, Some(held))))
                }
                None => plain(base, state).subscribe(),
            };
            self.inner = Inner::Open(opened);
        }
        match &mut self.inner {
            Inner::Open(subscription) => subscription,
            Inner::State(_) => unreachable!("it has been opened"),
        }
    }

    /// As [`Subscription::next`].
    ///
    /// # Panics
    ///
    /// As all calls on it: in a script that does not have it, or in a closure of a durable script.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Subscription<T>>
    where
        T: Clone,
    {
        self.open("Unread::next").next()
    }

    /// As [`Subscription::missed`].
    #[track_caller]
    pub fn missed(&mut self) -> u64 {
        self.open("Unread::missed").missed()
    }

    /// As [`Subscription::is_empty`].
    #[track_caller]
    pub fn is_empty(&mut self) -> bool {
        self.open("Unread::is_empty").is_empty()
    }
}

/// The signal of a plain script.
#[track_caller]
fn plain<T: Serialize + DeserializeOwned + 'static>(
    base: &'static str,
    state: &State,
) -> Signal<T> {
    let full = &*state.signal;
    let keyed = (full != base).then(|| full.into());
    let name = SourceName {
        base,
        full,
        keyed: keyed.as_ref(),
    };
    let limit = usize::try_from(state.limit.unwrap_or(DEFAULT_LIMIT));
    signal_of_name::<T, Here>(name, limit.unwrap_or(usize::MAX))
}

impl State {
    /// Makes it one of the script that has the state.
    ///
    /// # Panics
    ///
    /// If it was never in the state of this script.
    #[track_caller]
    fn bind(&self, base: &'static str, cell: &Rc<ScriptCell>, call: &str) -> Held {
        let is_its_own =
            |number: &u64| !cell.is_live() || cell.events().has_stream((cell.id, *number));
        let Some(number) = self.number.filter(is_its_own) else {
            panic!(
                "`{call}` was called on a subscription to `{}` that the script `{}` does not have: a \
                 script has what `subscribe` returns in it, and what is in its parameters when its \
                 chapter begins",
                self.signal,
                cell.name()
            );
        };
        Held {
            base,
            cell: Rc::downgrade(cell),
            number,
            name: self.signal.clone(),
            limit: self.limit,
            is_handed_over: Cell::new(false),
        }
    }
}

impl<T: Serialize + DeserializeOwned + Clone + 'static> Stream for Unread<T> {
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(self.open("Unread::poll_next")).poll_next(cx)
    }
}

/// For the state of the next chapter, or of another script.
impl<T> From<Subscription<T>> for Unread<T> {
    fn from(subscription: Subscription<T>) -> Self {
        Unread {
            inner: Inner::Open(subscription),
        }
    }
}

/// In the state of a chapter, so that its script has it.
impl<T: 'static> Serialize for Unread<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (base, signal, limit, number, held) = match &self.inner {
            Inner::State(state) => (
                &*state.base,
                &*state.signal,
                state.limit,
                state.number,
                None,
            ),
            Inner::Open(subscription) => {
                let subscribed = in_runtime(subscription).and_then(RuntimeEvents::as_any);
                let subscribed = subscribed.and_then(|events| events.downcast_ref());
                match subscribed.map(|Subscribed::<T> { base, held, .. }| (base, held)) {
                    // The state itself goes on, and nobody reads its bytes.
                    None if hand_over::is_plain() => ("", "", None, None, None),
                    None => {
                        return Err(serde::ser::Error::custom(
                            "a subscription of a plain script cannot be saved",
                        ));
                    }
                    Some((_, Some(held))) => (
                        held.base,
                        &*held.name,
                        held.limit,
                        Some(held.number),
                        Some(held),
                    ),
                    Some((base, None)) => (*base, *base, None, None, None),
                }
            }
        };
        let of = held.and_then(|held| held.cell.upgrade());
        let noted = hand_over::note_subscription(number, of.map(|cell| cell.id), signal, limit);
        if let (Some(held), Some(_)) = (held, noted) {
            held.is_handed_over.set(true);
        }
        let state = State {
            base: base.into(),
            signal: signal.into(),
            limit,
            number: noted.or(number),
        };
        state.serialize(serializer)
    }
}

impl<'de, T: Serialize + DeserializeOwned + 'static> Deserialize<'de> for Unread<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let state = State::deserialize(deserializer)?;
        if let Some(number) = state.number {
            hand_over::note_read(Typed::Events(number, Mark::of::<T>()));
        }
        Ok(Unread {
            inner: Inner::State(state),
        })
    }
}

impl<T> fmt::Debug for Unread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("Unread");
        match &self.inner {
            Inner::State(state) => shown.field(&state.signal),
            Inner::Open(subscription) => shown.field(subscription),
        };
        shown.finish()
    }
}
