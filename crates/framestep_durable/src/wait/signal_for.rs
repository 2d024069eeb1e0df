//! The wait for an event of a signal that a condition accepts.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::Location;
use std::task::{Context, Poll};

use framestep::durable::{Event, Refused, RuntimeEvents};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, SourceTopic};
use crate::events::StreamGuard;
use crate::events::signals::NO_LIMIT;
use crate::script::{Awaited, NextWait, Numbered, ScriptCell, Slot};
use crate::wait::signal::read;

/// The wait of a script for an event that a condition accepts.
pub(super) struct Accepted<T> {
    numbered: Numbered,
    name: SourceTopic,
    value: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Accepted<T> {
    pub(super) fn new(name: SourceTopic) -> Self {
        Accepted {
            numbered: Numbered::reading::<T>(),
            name,
            value: PhantomData,
        }
    }
}

fn poll_accepted(
    numbered: &mut Numbered,
    name: &SourceTopic,
    at: &'static Location<'static>,
    cx: &mut Context<'_>,
    accept: &mut dyn FnMut(&Bytes) -> bool,
) -> Result<Poll<Bytes>, Refused> {
    let kind = "signal.wait_for()";
    let cell = numbered.own_script(kind)?;
    let begin = |cell: &ScriptCell| {
        let events = cell.events();
        let stream = events.subscribe(cell.id, name.full(), Some(NO_LIMIT));
        Slot::Next(Box::new(NextWait {
            number: cell.latest_wait().1,
            listing: events.await_signal(cell.latest_wait(), name.full()),
            stream,
            guard: Some(StreamGuard::new(events, stream)),
        }))
    };
    let awaited = Awaited::at(kind, Event::Signal(name.base), at);
    Ok(numbered.poll_at(&cell, awaited, begin, |cell, slot| {
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
    }))
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeEvents<T> for Accepted<T> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused> {
        let name = &self.name;
        let mut accept = |event: &Bytes| accept(&read(name.full(), event));
        let polled = poll_accepted(&mut self.numbered, name, at, cx, &mut accept)?;
        let polled = self.numbered.note_event::<T>(polled);
        Ok(polled.map(|value| read(name.full(), &value)))
    }

    fn missed(&self, _: &'static Location<'static>) -> Result<u64, Refused> {
        Ok(0)
    }

    fn is_empty(&self, _: &'static Location<'static>) -> Result<bool, Refused> {
        Ok(true)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
