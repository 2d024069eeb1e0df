//! The state of a wait while it is pending. It lives beside the script's future, so that a
//! save need not poll the script.

use std::panic::Location;

use framestep::durable::{DurableWait, Event, EventNote};

use crate::bytes::Bytes;
use crate::cell::ScriptId;
use crate::image::NamedWait;
use crate::site::{Call, Known};

/// A pending wait of a script.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Its number in the chapter.
    pub(crate) number: u32,
    /// What it is for, and where it began. A restored script must wait for the same.
    pub(crate) site: Known,
    pub(crate) slot: Slot,
    /// Of a wait for an event: what snapshots and traces of the executor show.
    pub(crate) shown: Option<Box<Shown>>,
}

// Each wait moves it into the list of its script.
const _: () = assert!(size_of::<Pending>() <= 88);

impl Pending {
    /// What it is for, by number.
    pub(crate) fn named(&self) -> NamedWait {
        NamedWait {
            number: self.number,
            site: self.site.id,
        }
    }
}

/// A wait for an event, as it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) event: Event,
    /// `None` while it is replayed, or if its coroutine is not polled.
    pub(crate) note: Option<EventNote>,
}

/// The pending waits of a script.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    list: Vec<Pending>,
}

impl Waits {
    /// The waits in the order of a save state, once they are [sorted](Self::sort).
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.list.iter_mut()
    }

    #[inline]
    pub(crate) fn push(&mut self, pending: Pending) {
        self.list.push(pending);
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Pending> {
        self.list.iter().find(|pending| pending.number == number)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Pending> {
        let mut list = self.list.iter_mut();
        list.find(|pending| pending.number == number)
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<Pending> {
        let at = self.list.iter().position(|it| it.number == number)?;
        Some(self.list.swap_remove(at))
    }

    /// Removes a wait of framestep that resumes the coroutine being polled. `None` if it does not.
    #[inline]
    pub(crate) fn take_resumed(&mut self, number: u32) -> Option<Known> {
        let at = self.list.iter().position(|it| it.number == number)?;
        let pending = &mut self.list[at];
        let site = pending.site;
        let Slot::Plain(wait) = &mut pending.slot else {
            return None;
        };
        if !wait.take_resumed() {
            return None;
        }
        // It is over, so its destructor does nothing.
        drop(self.list.swap_remove(at));
        Some(site)
    }

    /// Sorts them by number: the order in which they came depends on which have ended.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable_by_key(|pending| pending.number);
    }
}

impl FromIterator<Pending> for Waits {
    fn from_iter<I: IntoIterator<Item = Pending>>(waits: I) -> Self {
        let list = waits.into_iter().collect();
        Waits { list }
    }
}

/// What a wait is for, and the line that polls it.
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
                Some(Event::Signal(name) | Event::Value(name) | Event::Answer(name)) => name,
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
    Join(Box<Join>),
    /// A signal, with its value once it has been emitted.
    Signal { ticket: u64, given: Option<Bytes> },
    /// A change of a value, with the number of the last change that the wait knows.
    Value { ticket: u64, seen: u64 },
    /// An answer from outside.
    Request(Box<Request>),
    /// An animation.
    Animate(Box<Animation>),
    /// A tick of an interval.
    Tick(Box<Tick>),
}

/// The end of a script.
#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) script: ScriptId,
    pub(crate) end: DurableWait,
}

/// A tick of an interval: its timer, and when it is due on the script's clock.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) timer: DurableWait,
    pub(crate) due_ns: i128,
}

/// A question to the world outside.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: u64,
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
    /// The ticket of a wait in the list of a signal or a value.
    pub(crate) fn ticket(&self) -> Option<u64> {
        match self {
            Slot::Signal { ticket, .. } | Slot::Value { ticket, .. } => Some(*ticket),
            _ => None,
        }
    }

    /// Calls `f` with each wait of framestep in it.
    pub(crate) fn each_wait<'a>(&'a self, mut f: impl FnMut(&'a DurableWait)) {
        match self {
            Slot::Plain(wait) => f(wait),
            Slot::Join(join) => f(&join.end),
            Slot::Tick(tick) => f(&tick.timer),
            Slot::Animate(animation) => {
                f(&animation.next);
                animation.end.iter().for_each(f);
            }
            Slot::Replayed
            | Slot::Polled
            | Slot::Signal { .. }
            | Slot::Value { .. }
            | Slot::Request(_) => {}
        }
    }
}
