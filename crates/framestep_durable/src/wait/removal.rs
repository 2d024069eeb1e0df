//! The wait for the removal of a signal or a watch. It is one for a signal that is named after that.

use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::durable::{Refused, RuntimeEvents, SourceName};

use crate::bytes::{Marked, SourceTopic};
use crate::events::Events;
use crate::script::Numbered;
use crate::wait::signal::poll_event;

/// The name of the signals of all removals, which nobody else uses. Each has the name of what is removed as its key.
const REMOVED: &str = "removal of";

/// What can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    Signal,
    Watch,
}

impl Removed {
    /// The key: a signal and a watch may have the same name.
    fn full_name(self, name: &str) -> String {
        let kind = match self {
            Removed::Signal => "signal",
            Removed::Watch => "watch",
        };
        format!("{REMOVED}[{kind} {name}]")
    }

    /// Ends the waits for the removal of what has this name.
    pub(super) fn tell(self, name: &str, events: &Events) {
        events.emit(&self.full_name(name), &Marked::of(&()));
    }

    /// A wait for the removal of what has this name. Like all waits of a runtime, it counts from its first poll.
    pub(super) fn wait(self, name: &str) -> Box<dyn RuntimeEvents<()>> {
        let full: Rc<str> = self.full_name(name).into();
        let topic = SourceTopic::of(SourceName {
            base: REMOVED,
            full: &full,
            keyed: Some(&full),
        });
        Box::new(WaitRemoved {
            numbered: Numbered::reading::<()>(),
            topic,
        })
    }
}

struct WaitRemoved {
    numbered: Numbered,
    topic: SourceTopic,
}

impl RuntimeEvents<()> for WaitRemoved {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        _cx: &mut Context<'_>,
        _accept: &mut dyn FnMut(&()) -> bool,
    ) -> Result<Poll<()>, Refused> {
        let polled = poll_event("or_closed()", &mut self.numbered, &self.topic, at)?;
        let polled = self.numbered.note_event::<()>(polled);
        Ok(polled.map(|_| ()))
    }
}
