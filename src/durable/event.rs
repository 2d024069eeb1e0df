//! Waits for events of other crates, as snapshots and traces of an executor show them.

use std::borrow::Cow;
use std::panic::Location;

use crate::core::view::View;
use crate::inspect::events::{self, EventWait};
use crate::inspect::{Source, SourceKind, awaited};
use crate::task::coroutine::CoroutineId;

use super::door::Door;

/// What a durable script waits for outside the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A signal of this name.
    Signal(&'static str),
    /// A value of this name.
    Value(&'static str),
    /// A permit of the semaphore of this name.
    Permit(&'static str),
    /// The answer to a question, or the value of a promise, of this name.
    Answer(&'static str),
    /// A request to stop.
    Stop,
}

impl Event {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Event::Signal(name)
            | Event::Value(name)
            | Event::Permit(name)
            | Event::Answer(name) => name,
            Event::Stop => "",
        }
    }

    /// `full_name` also says which one of this name it is, if there are several.
    fn source(self, full_name: Option<&str>) -> Source {
        let name = match full_name {
            Some(name) => Cow::Owned(name.to_owned()),
            None => Cow::Borrowed(self.name()),
        };
        let kind = match self {
            Event::Signal(_) => SourceKind::Signal,
            Event::Value(_) => SourceKind::Watch,
            Event::Permit(_) => SourceKind::Semaphore,
            Event::Answer(_) => SourceKind::Question,
            Event::Stop => return events::stop_request(),
        };
        events::known_by_name(kind, name)
    }
}

/// Takes the line of the last wait for a signal, a watch or a semaphore of the crate that began outside
/// of an executor, as in a replay.
#[must_use]
pub fn take_outside_wait() -> Option<&'static Location<'static>> {
    events::take_outside()
}

/// Calls `f`, in which the current coroutine polls the wait of an `.await` in the line `at`.
pub fn in_line<R>(at: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    awaited::in_line(at, f)
}

/// A wait that snapshots and traces of the executor show. It is over when this is dropped.
#[derive(Debug)]
pub struct EventNote {
    _wait: EventWait,
}

impl EventNote {
    /// Records that the current coroutine waits for `event`, at an `.await` in the line `at`.
    /// `full_name` is its name with its key, if it has one. `None` outside a poll.
    #[must_use]
    pub fn begin(
        event: Event,
        full_name: Option<&str>,
        at: &'static Location<'static>,
    ) -> Option<Self> {
        let wait = EventWait::begin(Some(&event.source(full_name)), at)?;
        Some(EventNote { _wait: wait })
    }
}

impl Door {
    /// Records that an [inserted](Self::insert) coroutine waits for `event`.
    #[must_use]
    pub fn note_event(
        &self,
        id: CoroutineId,
        event: Event,
        full_name: Option<&str>,
    ) -> Option<EventNote> {
        let core = self.core();
        let key = core.key_of(id)?;
        let wait = EventWait::restored(View::new(core), key, event.source(full_name));
        Some(EventNote { _wait: wait })
    }
}
