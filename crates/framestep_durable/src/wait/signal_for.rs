//! The wait for an event of a signal that a condition accepts.

use std::panic::Location;
use std::task::{Context, Poll};

use framestep::durable::{Event, Refused};

use crate::bytes::{Bytes, SourceTopic};
use crate::events::StreamGuard;
use crate::events::signals::NO_LIMIT;
use crate::script::{Awaited, NextWait, Numbered, ScriptCell, Slot, poll_again};

pub(super) const WAIT_FOR: &str = "signal.wait_for()";

/// Polls it. `accept` is the condition.
pub(super) fn poll_accepted(
    numbered: &mut Numbered,
    name: &SourceTopic,
    at: &'static Location<'static>,
    cx: &mut Context<'_>,
    accept: &mut dyn FnMut(&Bytes) -> bool,
) -> Result<Poll<Bytes>, Refused> {
    let cell = numbered.own_script(WAIT_FOR)?;
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
    let awaited = Awaited::at(WAIT_FOR, Some(Event::Signal(name.base)), at);
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
                poll_again(cx);
            }
        }
        Poll::Pending
    }))
}
