//! Subscriptions: all events of a signal, also between two waits.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::{Event, Stream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes;
use crate::bytes::topic::interned;
use crate::bytes::{Bytes, EventName, Mark};
use crate::events::{PlainSubscription, Typed};
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::place::Place;
use crate::script::{
    NextWait, Numbered, ScriptCell, Slot, context, counts, hand_over, outside,
    place_outside_of_closures,
};
use crate::wait::signal::read;

/// All events of a [`Signal`](crate::Signal) after the call of
/// [`subscribe`](crate::Signal::subscribe).
///
/// An event that is emitted between two items is not lost, up to the limit of the signal: 1,024
/// unless it or the [runtime](crate::RuntimeBuilder::max_events) says otherwise. At the limit, each new
/// event replaces the oldest; [`missed`](Self::missed) counts them, and the host
/// [hears](crate::RuntimeHandle::on_loss) of it. The events that a script has not read are saved with it.
///
/// # Chapters
///
/// A subscription can be a parameter of a script. Then [`Chapter::Next`](crate::Chapter::Next) hands it
/// to the next chapter, and [`start`](crate::start()) to another script, with the events that it has
/// not read: a chapter for each event misses none. [`Signal::subscription`](crate::Signal::subscription)
/// makes the first one.
///
/// A script that ends, or begins another chapter, drops its other subscriptions.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const KNOCK: Signal<String> = signal("knock");
///
/// #[durable]
/// async fn porter(mut knocks: Subscription<String>, guests: usize) -> Chapter<usize> {
///     let _guest = knocks.next().await;
///     wait_seconds(1).await; // the door squeaks
///     match guests {
///         3 => Chapter::Done(guests),
///         _ => Chapter::Next(porter(knocks, guests + 1)),
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Porter>());
/// let porter = runtime.spawn(porter(KNOCK.subscription(), 1));
/// for guest in ["Anna", "Bert", "Carl"] {
///     runtime.emit(&KNOCK, guest.into());
/// }
/// for _ in 0..13 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(porter), Some(Ok(3)));
/// ```
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const HIT: Signal<u32> = signal("hit");
///
/// #[durable]
/// async fn hero() -> u32 {
///     let mut hits = HIT.subscribe();
///     let mut health = 10;
///     while health > 0 {
///         health -= hits.next().await.min(health);
///         wait_seconds(0.25).await; // hits are not lost meanwhile
///     }
///     health
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Hero>());
/// let hero = runtime.start(hero());
/// for hit in [4, 5, 6] {
///     runtime.emit(&HIT, hit);
/// }
/// let save = runtime.save().unwrap();
/// let mut runtime = Runtime::new(Registry::new().with::<Hero>());
/// runtime.restore(&save, Policy::Fail).unwrap();
/// let hero = runtime.handle::<u32>(hero.id()).unwrap();
/// for _ in 0..4 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(hero), Some(Ok(0)));
/// ```
///
/// # Source
///
/// [`framestep::sync::Subscription`]. A signal with a name never ends, so [`next`](Self::next) returns the
/// value itself.
#[must_use = "a subscription that is dropped receives nothing"]
pub struct Subscription<T> {
    base: &'static str,
    inner: Inner,
    /// The wait for the next event. It stays if a [`NextEvent`] is dropped.
    numbered: Numbered,
    value: PhantomData<fn() -> T>,
}

enum Inner {
    /// The subscription of this number of a script.
    Script {
        cell: Weak<ScriptCell>,
        number: u64,
        /// Its signal.
        name: Box<str>,
        limit: Option<u64>,
        /// Whether it is in the state of another chapter, which drops it.
        is_handed_over: Cell<bool>,
    },
    /// In a state whose script has not used it.
    State(State),
    Outside(Box<PlainSubscription>),
    /// In the destructor of a script that is taken back: nothing comes.
    Void,
}

/// A subscription in a state, and in its bytes.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Subscription")]
struct State {
    /// The name of the signal, without a key.
    base: Box<str>,
    signal: Box<str>,
    /// `None`: as many events as the runtime says.
    limit: Option<u64>,
    /// The number that it has in its script. `None` before it is in a script.
    number: Option<u64>,
}

impl Inner {
    #[track_caller]
    fn new<N: EventName>(name: &N, limit: Option<u64>) -> Self {
        let caller = Call::new("subscribe", name.base());
        let name = name.full();
        let Place::Script(cell) = place_outside_of_closures("subscribe") else {
            let signal = outside("subscribe").signal(name, limit);
            return Inner::Outside(Box::new(PlainSubscription::of(signal)));
        };
        let events = cell.events();
        let number = cell.effect(caller, || {
            Bytes::of(&events.subscribe(cell.id, name, limit).1)
        });
        match number.map(|number| number.read()) {
            Some(Some(number)) => Inner::Script {
                cell: Rc::downgrade(&cell),
                number,
                name: name.into(),
                limit,
                is_handed_over: Cell::new(false),
            },
            _ => Inner::Void,
        }
    }

    /// Makes one of a state that of the script that has the state, or of a plain one. `call` uses it.
    ///
    /// # Panics
    ///
    /// If it was never in the state of this script.
    #[track_caller]
    fn bind(&mut self, base: &mut &'static str, name: &str) {
        let Inner::State(state) = self else {
            return;
        };
        *base = interned(&state.base);
        let limit = state.limit;
        let Some(cell) = context::find_outside_of_closures(name) else {
            let signal = outside(name).signal(&state.signal, limit);
            *self = Inner::Outside(Box::new(PlainSubscription::of(signal)));
            return;
        };
        let is_its_own =
            |number: &u64| !cell.is_live() || cell.events().has_stream((cell.id, *number));
        let Some(number) = state.number.filter(is_its_own) else {
            panic!(
                "`{name}` was called on a subscription to `{}` that the script `{}` does not have: a \
                 script has what `subscribe` returns in it, and what is in its parameters when its \
                 chapter begins",
                state.signal,
                cell.name()
            );
        };
        *self = Inner::Script {
            cell: Rc::downgrade(&cell),
            number,
            name: std::mem::take(&mut state.signal),
            limit,
            is_handed_over: Cell::new(false),
        };
    }

    /// Notes in a replay as what type its events are read.
    fn note_held(&self, read_as: Mark) {
        if let Inner::Script { cell, number, .. } = self {
            if let Some(cell) = cell.upgrade() {
                cell.note_held(Typed::Events(*number, read_as));
            }
        }
    }
}

impl<T: Serialize + DeserializeOwned + 'static> Subscription<T> {
    #[track_caller]
    pub(super) fn new<N: EventName>(name: &N, limit: Option<u64>) -> Self {
        let inner = Inner::new(name, limit);
        inner.note_held(Mark::of::<T>());
        let mut made = Self::of_inner(inner);
        made.base = name.base();
        made
    }

    fn of_inner(inner: Inner) -> Self {
        Subscription {
            base: "",
            inner,
            numbered: Numbered::reading::<T>(),
            value: PhantomData,
        }
    }

    /// One for the state of a script.
    pub(super) fn of_state<N: EventName>(name: &N, limit: Option<u64>) -> Self {
        Self::of_inner(Inner::State(State {
            base: name.base().into(),
            signal: name.full().into(),
            limit,
            number: None,
        }))
    }
}

impl<T: DeserializeOwned + 'static> Subscription<T> {
    /// Waits for the next event that this subscription has not returned, and returns its value. The
    /// subscription is also a [`Stream`], which does not end.
    ///
    /// # Resumes
    ///
    /// At once if there is one. Else as [`Signal::wait`](crate::Signal::wait).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextEvent<'_, T> {
        NextEvent { subscription: self }
    }

    /// How many events it has lost, because it was at its limit.
    ///
    /// # Panics
    ///
    /// Inside of a closure of a durable script, such as that of `with`.
    #[track_caller]
    pub fn missed(&self) -> u64 {
        let (base, number) = match &self.inner {
            Inner::Script { number, .. } => (self.base, Some(*number)),
            Inner::State(state) => (interned(&state.base), state.number),
            Inner::Outside(_) | Inner::Void => (self.base, None),
        };
        let caller = Call::new("missed", base);
        match (&self.inner, number) {
            (_, Some(number)) => {
                let cell = context::expect_outside_of_closures("missed");
                let events = cell.events();
                let stream = (cell.id, number);
                let missed = cell.effect(caller, || Bytes::of(&events.missed_events(stream)));
                missed
                    .and_then(|missed| bytes::read(missed.get()))
                    .unwrap_or(0)
            }
            (Inner::Outside(events), None) => events.missed(),
            _ => 0,
        }
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        let Inner::Script {
            cell,
            number,
            is_handed_over,
            ..
        } = &self.inner
        else {
            return;
        };
        if is_handed_over.get() {
            return;
        }
        if let Some(cell) = counts(cell, Hold::Stream(*number)) {
            let unread = cell.events().drop_stream((cell.id, *number));
            if let Some(unread) = unread {
                cell.note_unread(unread);
            }
        }
    }
}

/// In the state of a chapter, so that its script has it: see [Chapters](Subscription#chapters).
impl<T> Serialize for Subscription<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (signal, limit, number, of) = match &self.inner {
            Inner::Script {
                cell,
                number,
                name,
                limit,
                ..
            } => (&**name, *limit, Some(*number), cell.upgrade()),
            Inner::State(state) => (&*state.signal, state.limit, state.number, None),
            Inner::Outside(events) => (events.name(), None, None, None),
            Inner::Void => (self.base, None, None, None),
        };
        let base = match &self.inner {
            Inner::State(state) => &*state.base,
            _ => self.base,
        };
        let of = of.map(|cell| cell.id);
        let noted = hand_over::note_subscription(number, of, signal, limit);
        if let (Inner::Script { is_handed_over, .. }, Some(_)) = (&self.inner, noted) {
            is_handed_over.set(true);
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

impl<'de, T: Serialize + DeserializeOwned + 'static> Deserialize<'de> for Subscription<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let state = State::deserialize(deserializer)?;
        if let Some(number) = state.number {
            hand_over::note_read(Typed::Events(number, Mark::of::<T>()));
        }
        Ok(Self::of_inner(Inner::State(state)))
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.inner {
            Inner::Script { name, .. } => name,
            Inner::State(state) => &state.signal,
            Inner::Outside(_) | Inner::Void => self.base,
        };
        f.debug_tuple("Subscription").field(&name).finish()
    }
}

/// The future of [`Subscription::next`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextEvent<'a, T> {
    subscription: &'a mut Subscription<T>,
}

#[track_caller]
fn poll_next(
    numbered: &mut Numbered,
    base: &mut &'static str,
    inner: &mut Inner,
    cx: &mut Context<'_>,
) -> Poll<Bytes> {
    let kind = "subscription.next()";
    inner.bind(base, kind);
    let (of, number, name) = match inner {
        Inner::Script {
            cell, number, name, ..
        } => (&*cell, *number, &**name),
        Inner::Outside(events) => return events.poll_next(cx),
        Inner::State(_) | Inner::Void => return Poll::Pending,
    };
    let cell = numbered.expect_script(kind);
    assert!(
        std::ptr::eq(of.as_ptr(), Rc::as_ptr(&cell)),
        "`{kind}` was polled by another script than that which has subscribed: durable scripts cannot \
         share subscriptions"
    );
    let stream = (cell.id, number);
    let begin = |cell: &ScriptCell| {
        Slot::Next(Box::new(NextWait {
            number: cell.latest_wait().1,
            listing: cell.events().await_signal(cell.latest_wait(), name),
            stream,
            guard: None,
        }))
    };
    let event = Some(Event::Signal(base));
    let polled = numbered.poll_known(&cell, kind, event, begin, |cell, _| {
        match cell.events().next_event(stream) {
            Some(event) => Poll::Ready(event.into_value()),
            None => Poll::Pending,
        }
    });
    if polled.is_pending() {
        numbered.note(|wait| Typed::Next(wait, number));
    }
    polled
}

impl<T: DeserializeOwned + 'static> Stream for Subscription<T> {
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        match poll_next(&mut this.numbered, &mut this.base, &mut this.inner, cx) {
            Poll::Ready(value) => {
                this.numbered = this.numbered.again();
                Poll::Ready(Some(read(this.base, &value)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Unpin for Subscription<T> {}

impl<T: DeserializeOwned + 'static> Future for NextEvent<'_, T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match Pin::new(&mut *self.subscription).poll_next(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            // A signal with a name does not end.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for NextEvent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NextEvent")
            .field(&self.subscription)
            .finish()
    }
}
