//! The state of a wait while it is pending. It lives beside the script's future, so that a
//! save need not poll the script.

use std::panic::Location;

use framestep::durable::{DurableWait, Event, EventNote};

use crate::bytes::Bytes;
use crate::cell::ScriptId;
use crate::events::{Listing, Owned, PermitWait, StreamGuard};
use crate::outside::OutsideWait;
use crate::site::{Call, SiteId};

/// A pending wait of a script.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Its number in the chapter.
    pub(crate) number: u32,
    pub(crate) awaited: Awaited,
    /// What a save says instead, if the code that began the wait is not there any more.
    pub(crate) site_of_save: Option<SiteId>,
    pub(crate) slot: Slot,
    /// Shows the wait in snapshots and traces of the executor, if it waits for an event.
    pub(crate) note: Option<EventNote>,
}

/// What a wait is for, and the line of its first poll. A restored script must wait for the
/// same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    /// The call that makes such waits: `wait_seconds()`.
    pub(crate) call: &'static str,
    pub(crate) event: Option<Event>,
    pub(crate) at: &'static Location<'static>,
}

impl Awaited {
    #[track_caller]
    pub(crate) fn new(call: &'static str, event: Option<Event>) -> Self {
        let at = Location::caller();
        Awaited { call, event, at }
    }

    /// The call, and the name of the signal, the value or the question.
    #[inline]
    pub(crate) fn call(&self) -> Call {
        Call {
            function: self.call,
            name: match self.event {
                Some(event) => event.name(),
                None => "",
            },
            at: self.at,
            within: "",
        }
    }
}

/// The state of a pending wait.
#[derive(Debug)]
pub(crate) enum Slot {
    /// It has begun in a replay, and gets its state when the replay ends.
    Replayed,
    /// It is being polled.
    Polled,
    /// A wait for a phase, a time, a number, or a condition.
    Plain(DurableWait),
    /// The end of a script.
    Join(ScriptId, DurableWait),
    /// A signal, with its value once it has been emitted.
    Signal {
        listing: Listing,
        given: Option<Bytes>,
    },
    /// The next event of a subscription.
    Next(Box<NextWait>),
    /// A change of a value, and whether it has changed since the wait has seen it.
    Value { listing: Listing, is_new: bool },
    /// A permit.
    Permit(Box<PermitWait>),
    /// The promise of this number.
    Promise(u64),
    /// An answer from outside.
    Request(Box<Request>),
    /// An animation.
    Animate(Box<Animation>),
    /// A tick of an interval: its timer, and when it is due on the script's clock.
    Tick { wait: DurableWait, due_ns: i128 },
    /// A wait outside of durable scripts.
    Outside(OutsideWait),
}

/// A wait for the next event of a subscription.
#[derive(Debug)]
pub(crate) struct NextWait {
    /// Its number in the chapter.
    pub(crate) number: u32,
    pub(crate) listing: Listing,
    pub(crate) stream: Owned,
    /// Of a wait that has a subscription of its own.
    pub(crate) guard: Option<StreamGuard>,
}

/// A question to the world outside.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: u64,
    /// Differs between questions of the same number, in timelines that a rollback separates.
    pub(crate) stamp: u64,
    pub(crate) name: String,
    pub(crate) content: Bytes,
    pub(crate) answer: Option<Bytes>,
}

/// An animation under way.
#[derive(Debug)]
pub(crate) struct Animation {
    /// The next frame or step.
    pub(crate) next: DurableWait,
    /// The end. `None` if it never comes.
    pub(crate) end: Option<DurableWait>,
    pub(crate) length_ns: u64,
    pub(crate) share: f32,
}

impl Slot {
    fn listing(&self) -> Option<&Listing> {
        match self {
            Slot::Signal { listing, .. } | Slot::Value { listing, .. } => Some(listing),
            Slot::Next(wait) => Some(&wait.listing),
            Slot::Permit(wait) => Some(&wait.listing),
            _ => None,
        }
    }

    /// The ticket of a wait in a list.
    pub(crate) fn ticket(&self) -> Option<u64> {
        Some(self.listing()?.ticket)
    }

    /// The full name of what a wait in a list is for.
    pub(crate) fn full_name(&self) -> Option<&str> {
        Some(self.listing()?.topic.as_ref())
    }

    /// Calls `f` with each wait of framestep in it.
    pub(crate) fn each_wait<'a>(&'a self, mut f: impl FnMut(&'a DurableWait)) {
        match self {
            Slot::Plain(wait) | Slot::Join(_, wait) | Slot::Tick { wait, .. } => f(wait),
            Slot::Animate(animation) => {
                f(&animation.next);
                animation.end.iter().for_each(f);
            }
            Slot::Replayed
            | Slot::Polled
            | Slot::Signal { .. }
            | Slot::Next(_)
            | Slot::Value { .. }
            | Slot::Permit(_)
            | Slot::Promise(_)
            | Slot::Request(_)
            | Slot::Outside(_) => {}
        }
    }
}
