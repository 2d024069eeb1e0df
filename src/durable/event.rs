//! Waits for events of other crates, as snapshots and traces of an executor show them.

use std::borrow::Cow;
use std::panic::Location;

use crate::core::inspect::events::{self, EventWait};
use crate::core::inspect::named::Source;
use crate::coroutine::CoroutineId;

use super::door::Door;

/// What a durable script waits for outside the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A signal of this name.
    Signal(&'static str),
    /// A value of this name.
    Value(&'static str),
    /// The answer to a question of this name.
    Answer(&'static str),
}

impl Event {
    fn source(self) -> Source {
        match self {
            Event::Signal(name) => Source::signal(Cow::Borrowed(name)),
            Event::Value(name) => Source::watch(Cow::Borrowed(name)),
            Event::Answer(name) => Source::answer(Cow::Borrowed(name)),
        }
    }
}

/// Takes the line of the last wait for a signal, a watch or permits of the crate that began outside
/// of an executor, as in a replay.
#[must_use]
pub fn take_outside_wait() -> Option<&'static Location<'static>> {
    events::take_outside()
}

/// A wait that snapshots and traces of the executor show. It is over when this is dropped.
#[derive(Debug)]
pub struct EventNote {
    _wait: EventWait,
}

impl EventNote {
    /// Records that the current coroutine waits for `event`, at an `.await` in the line `at`.
    /// `None` outside a poll.
    #[must_use]
    pub fn begin(event: Event, at: &'static Location<'static>) -> Option<Self> {
        let wait = EventWait::begin(Some(&event.source()), at)?;
        Some(EventNote { _wait: wait })
    }
}

impl Door {
    /// Records that an [inserted](Self::insert) coroutine waits for `event`.
    #[must_use]
    pub fn note_event(&self, id: CoroutineId, event: Event) -> Option<EventNote> {
        let core = self.core();
        let key = core.key_of(id)?;
        let wait = EventWait::restored(core, key, event.source());
        Some(EventNote { _wait: wait })
    }
}
