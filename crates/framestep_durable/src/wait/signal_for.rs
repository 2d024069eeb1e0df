//! The wait for an event of a signal that a condition accepts.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName};
use crate::events::signals::NO_LIMIT;
use crate::events::{OutsideWait, PlainSubscription, StreamGuard};
use crate::script::{NextWait, Numbered, ScriptCell, Slot, outside};
use crate::wait::signal::{Limit, read};

/// The future of [`Signal::wait_for`](crate::Signal::wait_for).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignalFor<T, P, N = &'static str> {
    pub(super) numbered: Numbered,
    pub(super) name: N,
    pub(super) limit: Limit,
    pub(super) accept: P,
    pub(super) value: PhantomData<fn() -> T>,
}

#[track_caller]
fn poll_accepted(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    limit: Limit,
    cx: &mut Context<'_>,
    accept: &mut dyn FnMut(&Bytes) -> bool,
) -> Poll<Bytes> {
    let kind = "signal.wait_for()";
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let signal = outside(kind).signal(name, limit);
            OutsideWait::Accepted(PlainSubscription::of(signal))
        });
        let polled = match slot.outside() {
            Some(OutsideWait::Accepted(events)) => events.poll_accepted(cx, accept),
            _ => Poll::Pending,
        };
        numbered.put_outside(slot, &polled);
        return polled;
    };
    let begin = |cell: &ScriptCell| {
        let events = cell.events();
        let stream = events.subscribe(cell.id, name, Some(NO_LIMIT));
        Slot::Next(Box::new(NextWait {
            number: cell.latest_wait().1,
            listing: events.await_signal(cell.latest_wait(), name),
            stream,
            guard: Some(StreamGuard::new(events, stream)),
        }))
    };
    let event = Some(Event::Signal(base));
    numbered.poll_known(&cell, kind, event, begin, |cell, slot| {
        let Slot::Next(wait) = slot else {
            return Poll::Pending;
        };
        let events = cell.events();
        // Those that are there now: what `accept` emits is read in a later poll.
        let mut stored = events.stored_events(wait.stream);
        let woken = stored > 0;
        if let Some(given) = events.take_given(wait.stream) {
            stored -= 1;
            if cell.in_closure(|| accept(given.value.value())) {
                return Poll::Ready(given.value.into_value());
            }
            events.pass_on(&wait.listing.topic, &given);
        }
        for _ in 0..stored {
            let Some(event) = events.next_event(wait.stream) else {
                break;
            };
            if cell.in_closure(|| accept(event.value())) {
                return Poll::Ready(event.into_value());
            }
        }
        if woken {
            events.await_again(cell.id, wait.number, &mut wait.listing);
            if events.stored_events(wait.stream) > 0 {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
}

impl<T, P, N> Future for WaitSignalFor<T, P, N>
where
    T: Serialize + DeserializeOwned + 'static,
    P: Fn(&T) -> bool,
    N: EventName,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let (base, name) = (this.name.base(), this.name.full());
        let accept = &this.accept;
        let mut accept = |event: &Bytes| accept(&read(name, event));
        let polled = poll_accepted(&mut this.numbered, base, name, this.limit, cx, &mut accept);
        let polled = this.numbered.note_event::<T>(polled);
        polled.map(|value| read(name, &value))
    }
}

impl<T, P, N> Unpin for WaitSignalFor<T, P, N> {}

impl<T, P, N: fmt::Debug> fmt::Debug for WaitSignalFor<T, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitSignalFor").field(&self.name).finish()
    }
}
