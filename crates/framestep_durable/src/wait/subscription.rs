//! Subscriptions: all events of a signal, also between two waits.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::{Event, Stream};
use serde::de::DeserializeOwned;

use crate::bytes::{self, Bytes};
use crate::cell::ScriptCell;
use crate::context;
use crate::events::counts;
use crate::outside::{Events, Place, outside, place_outside_of_closures};
use crate::site::Call;
use crate::slot::{NextWait, Slot};
use crate::topic::EventName;
use crate::typed::{ReadAs, Typed};

use super::Numbered;
use super::signal::read;

/// All events of a [`Signal`](crate::Signal) after the call of
/// [`subscribe`](crate::Signal::subscribe).
///
/// An event that is emitted between two items is not lost, up to the limit of the signal: 1,024
/// unless it says otherwise. At the limit, each new event replaces the oldest; [`missed`](Self::missed)
/// counts them. The events that a script has not read are saved with it.
///
/// A script that ends, or begins another chapter, drops its subscriptions.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const HIT: Signal<u32> = Signal::new("hit");
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
/// [`framestep::Subscription`]. A signal with a name never ends, so [`next`](Self::next) returns the
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
    },
    Outside(Box<Events>),
    /// In the destructor of a script that is taken back: nothing comes.
    Void,
}

impl Inner {
    #[track_caller]
    fn new<N: EventName>(name: &N, limit: usize) -> Self {
        let caller = Call::new("subscribe", name.base());
        let name = name.full();
        let Place::Script(cell) = place_outside_of_closures("subscribe") else {
            let signal = outside("subscribe").signal(name, limit);
            return Inner::Outside(Box::new(Events::of(signal)));
        };
        let shared = cell.shared();
        let number = cell.effect(caller, || {
            Bytes::of(&shared.subscribe(cell.id, name, limit).1)
        });
        match number.map(|number| number.read()) {
            Some(Some(number)) => Inner::Script {
                cell: Rc::downgrade(&cell),
                number,
                name: name.into(),
            },
            _ => Inner::Void,
        }
    }
}

impl<T: DeserializeOwned + 'static> Subscription<T> {
    #[track_caller]
    pub(super) fn new<N: EventName>(name: &N, limit: usize) -> Self {
        let inner = Inner::new(name, limit);
        if let Inner::Script { cell, number, .. } = &inner {
            if let Some(cell) = cell.upgrade() {
                cell.note_held(Typed::Events(*number, ReadAs::of::<T>()));
            }
        }
        Subscription {
            base: name.base(),
            inner,
            numbered: Numbered::default(),
            value: PhantomData,
        }
    }

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
        let caller = Call::new("missed", self.base);
        match &self.inner {
            Inner::Script { number, .. } => {
                let cell = context::expect_outside_of_closures("missed");
                let shared = cell.shared();
                let stream = (cell.id, *number);
                let missed = cell.effect(caller, || Bytes::of(&shared.missed_events(stream)));
                missed
                    .and_then(|missed| bytes::read(missed.get()))
                    .unwrap_or(0)
            }
            Inner::Outside(events) => events.missed(),
            Inner::Void => 0,
        }
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        if let Inner::Script { cell, number, .. } = &self.inner {
            if let Some(cell) = counts(cell) {
                cell.shared().drop_stream((cell.id, *number));
            }
        }
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.inner {
            Inner::Script { name, .. } => name,
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
    base: &'static str,
    inner: &mut Inner,
    cx: &mut Context<'_>,
) -> Poll<Bytes> {
    let kind = "subscription.next()";
    let (of, number, name) = match inner {
        Inner::Script { cell, number, name } => (&*cell, *number, &**name),
        Inner::Outside(events) => return events.poll_next(cx),
        Inner::Void => return Poll::Pending,
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
            number: cell.next_wait() - 1,
            listing: cell.shared().await_signal(cell, name),
            stream,
            guard: None,
        }))
    };
    let event = Some(Event::Signal(base));
    let polled = numbered.poll_known(&cell, kind, event, begin, |cell, _| {
        match cell.shared().next_event(stream) {
            Some(event) => Poll::Ready(event),
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
        match poll_next(&mut this.numbered, this.base, &mut this.inner, cx) {
            Poll::Ready(value) => {
                this.numbered = Numbered::default();
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
