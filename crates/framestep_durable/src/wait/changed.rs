//! Waiting for the changes of a watch in a script.

use std::cell::Cell;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use framestep::durable::{Event, Refused, RuntimeChanges, RuntimeEvents};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, SourceTopic};
use crate::script::{Awaited, Numbered, ScriptCell, Slot, poll_again};
use crate::wait::removal::Removed;
use crate::wait::value::read;

/// The wait of a script for a value that a condition accepts, and for the next ones of a stream.
pub(super) struct Waits<T> {
    numbered: Numbered,
    name: SourceTopic,
    start: fn() -> T,
    /// Whether the value at the first poll does not count.
    skips_present: bool,
    /// Whether the next wait begins when this one ends: a change between two items ends it.
    is_stream: bool,
}

impl<T: Serialize + DeserializeOwned + 'static> Waits<T> {
    pub(super) fn new(name: SourceTopic, start: fn() -> T, skips_present: bool) -> Self {
        Waits {
            numbered: Numbered::reading::<T>(),
            name,
            start,
            skips_present,
            is_stream: false,
        }
    }

    /// Begins the stream of its changes.
    pub(super) fn into_stream(mut self, at: &'static Location<'static>) -> Result<Self, Refused> {
        self.is_stream = true;
        // It is polled with the waker of the script before that waits for it.
        self.begin(at, &mut Context::from_waker(Waker::noop()))?;
        Ok(self)
    }

    fn begin(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
    ) -> Result<(), Refused> {
        let begun = self.poll_once(at, cx, &mut |_| true)?;
        debug_assert!(begun.is_pending(), "nothing has changed since it has begun");
        Ok(())
    }

    fn poll_once(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused> {
        let (name, start) = (&self.name, self.start);
        let mut holds = |value: Option<Bytes>| {
            let value = value.unwrap_or_else(|| Bytes::of(&start()));
            accept(&read(name.full(), &value)).then_some(value)
        };
        let polled = poll_value(
            &mut self.numbered,
            name,
            self.skips_present,
            at,
            cx,
            &mut holds,
        )?;
        let polled = self.numbered.note_event::<T>(polled);
        Ok(polled.map(|value| read(name.full(), &value)))
    }
}

/// The call that begins such a wait.
pub(super) fn call_of(skips_present: bool) -> &'static str {
    if skips_present {
        "value.changed()"
    } else {
        "value.wait_for()"
    }
}

/// Polls a wait for a value that `holds` accepts. `None` is the start value; `holds` returns
/// its bytes, if it accepts it.
fn poll_value(
    numbered: &mut Numbered,
    name: &SourceTopic,
    skips_present: bool,
    at: &'static Location<'static>,
    cx: &mut Context<'_>,
    holds: &mut dyn FnMut(Option<Bytes>) -> Option<Bytes>,
) -> Result<Poll<Bytes>, Refused> {
    let kind = call_of(skips_present);
    let cell = numbered.own_script(kind)?;
    let name_of = name.full();
    let begins = Cell::new(false);
    let begin = |cell: &ScriptCell| {
        begins.set(true);
        Slot::Value {
            listing: cell.events().await_value(cell.latest_wait(), name_of),
            is_new: !skips_present,
        }
    };
    let awaited = Awaited::at(kind, Some(Event::Value(name.base)), at);
    Ok(numbered.poll_at(&cell, awaited, begin, |cell, slot| {
        let Slot::Value { listing, is_new } = slot else {
            return Poll::Pending;
        };
        if !std::mem::take(is_new) {
            return Poll::Pending;
        }
        let (change, value) = cell.events().value(name_of);
        if let Some(value) = cell.in_closure(|| holds(value)) {
            return Poll::Ready(value);
        }
        if !begins.get() {
            cell.events().await_change_again(listing);
        }
        if cell.events().value(name_of).0 != change {
            // The condition has changed it, and is called again: while the wait is
            // being polled, a change does not find it.
            *is_new = true;
            poll_again(cx);
        }
        Poll::Pending
    }))
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeChanges<T> for Waits<T> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused> {
        let polled = self.poll_once(at, cx, accept)?;
        if self.is_stream && polled.is_ready() {
            self.numbered = self.numbered.again();
            self.skips_present = true;
            self.begin(at, cx)?;
        }
        Ok(polled)
    }

    fn removals(&self) -> Box<dyn RuntimeEvents<()>> {
        Removed::Watch.wait(self.name.full())
    }

    fn unsee(&mut self) {
        self.numbered = self.numbered.again();
        self.skips_present = false;
    }
}
