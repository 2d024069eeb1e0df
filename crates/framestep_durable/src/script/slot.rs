//! The state of a wait while it is pending. It lives beside the script's future, so that a
//! save need not poll the script.

use std::panic::Location;

use framestep::durable::{DurableWait, Event, EventNote, FrameWait, Shape};

use crate::bytes::Topic;
use crate::events::signals::OfSignal;
use crate::events::values::OfValue;
use crate::events::{ListedWait, Listing, PermitWait, Question, SignalWait, StreamGuard, Typed};
use crate::ids::{Owned, OwnerId, ScriptId};
use crate::journal::{Call, Known, NamedWait};
use crate::script::{Owners, SlotImage};

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
    /// The wait of a script that does something in every frame, apart from the others because it
    /// comes and goes so often; in a replay, any wait. Code that looks at all waits [adds](Self::all)
    /// it to them.
    frame: Option<Frame>,
    list: Vec<Pending>,
}

#[derive(Debug)]
struct Frame {
    number: u32,
    site: Known,
    /// `None` if it has begun in a replay.
    wait: Option<FrameWait>,
}

impl Waits {
    #[inline]
    fn all(&mut self) -> &mut Vec<Pending> {
        if let Some(frame) = self.frame.take() {
            self.list.push(Pending {
                number: frame.number,
                site: frame.site,
                slot: match frame.wait {
                    Some(wait) => Slot::Plain(wait.into()),
                    None => Slot::Replayed,
                },
                shown: None,
            });
        }
        &mut self.list
    }

    /// The waits in the order of a save state: by number.
    pub(crate) fn sorted(&mut self) -> &[Pending] {
        let all = self.all();
        // In which order they came depends on which others have ended.
        all.sort_unstable_by_key(|pending| pending.number);
        all
    }

    /// The same, if nothing has changed since they were sorted.
    pub(crate) fn as_sorted(&self) -> &[Pending] {
        debug_assert!(self.frame.is_none() && self.list.is_sorted_by_key(|it| it.number));
        &self.list
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.all().iter_mut()
    }

    #[inline]
    pub(crate) fn push(&mut self, pending: Pending) {
        self.all().push(pending);
    }

    /// Moves the wait for the next frame to the others, if there is one.
    // A function of its own: then the next one is moved only once, into its place.
    #[inline(always)]
    pub(crate) fn make_room(&mut self) {
        if self.frame.is_some() {
            self.all();
        }
    }

    /// Adds a wait for the next frame. There must be [room](Self::make_room).
    #[inline(always)]
    pub(crate) fn push_frame(&mut self, number: u32, site: Known, wait: FrameWait) {
        debug_assert!(self.frame.is_none());
        let wait = Some(wait);
        self.frame = Some(Frame { number, site, wait });
    }

    /// Adds a wait that has begun in a replay.
    #[inline(always)]
    pub(crate) fn push_replayed(&mut self, number: u32, site: Known) {
        self.make_room();
        let wait = None;
        self.frame = Some(Frame { number, site, wait });
    }

    #[inline]
    pub(crate) fn get(&mut self, number: u32) -> Option<&mut Pending> {
        let mut all = self.all().iter_mut();
        all.find(|pending| pending.number == number)
    }

    /// The ticket of a wait in the list of a signal or a value.
    pub(crate) fn ticket(&self, number: u32) -> Option<u64> {
        let pending = self.list.iter().find(|it| it.number == number)?;
        pending.slot.ticket()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frame.is_none() && self.list.is_empty()
    }

    /// Whether one of them is for the promise of this number.
    pub(crate) fn is_for_promise(&self, number: u64) -> bool {
        let is_it = |slot: &Slot| matches!(slot, Slot::Promise(other) if *other == number);
        self.list.iter().any(|pending| is_it(&pending.slot))
    }

    /// The places of those for a request to stop.
    pub(crate) fn stops(&self) -> impl Iterator<Item = u64> {
        self.list.iter().filter_map(|pending| match pending.slot {
            Slot::Stop(ticket) => Some(ticket),
            _ => None,
        })
    }

    /// The questions among them.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Question> {
        self.list.iter().filter_map(|pending| match &pending.slot {
            Slot::Request(request) => Some(&**request),
            _ => None,
        })
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<Pending> {
        let all = self.all();
        let at = all.iter().position(|it| it.number == number)?;
        Some(all.swap_remove(at))
    }

    /// Removes a wait of framestep that resumes the coroutine being polled. `None` if it does not.
    #[inline(always)]
    pub(crate) fn take_resumed(&mut self, number: u32) -> Option<Known> {
        match &mut self.frame {
            Some(frame) if frame.number == number => {
                let site = frame.site;
                if !frame.wait.as_mut()?.take_resumed() {
                    return None;
                }
                self.frame = None;
                Some(site)
            }
            _ => self.take_resumed_other(number),
        }
    }

    /// The site of a wait that has begun in a replay. `None` if it has been added to the others.
    #[inline]
    pub(crate) fn replayed(&self, number: u32) -> Option<Known> {
        let frame = self.frame.as_ref()?;
        (frame.number == number).then_some(frame.site)
    }

    /// Forgets it.
    #[inline]
    pub(crate) fn drop_replayed(&mut self) {
        self.frame = None;
    }

    #[inline(never)]
    fn take_resumed_other(&mut self, number: u32) -> Option<Known> {
        let at = self.list.iter().position(|it| it.number == number)?;
        let Pending { site, slot, .. } = &mut self.list[at];
        let site = *site;
        let Slot::Plain(wait) = slot else {
            return None;
        };
        if !wait.take_resumed() {
            return None;
        }
        // It is over, so its destructor does nothing.
        if at + 1 == self.list.len() {
            self.list.truncate(at);
        } else {
            drop(self.list.swap_remove(at));
        }
        Some(site)
    }
}

impl FromIterator<Pending> for Waits {
    fn from_iter<I: IntoIterator<Item = Pending>>(waits: I) -> Self {
        let list = waits.into_iter().collect();
        Waits { frame: None, list }
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
        Self::at(call, event, Location::caller())
    }

    pub(crate) fn at(
        call: &'static str,
        event: Option<Event>,
        at: &'static Location<'static>,
    ) -> Self {
        Awaited { call, event, at }
    }

    /// The call, and the name of the signal, the value or the question.
    #[inline]
    pub(crate) fn call(&self) -> Call {
        let name = match self.event {
            Some(event) => event.name(),
            None => "",
        };
        Call::at(self.call, name, self.at)
    }
}

/// The state of a pending wait.
#[derive(Debug)]
pub(crate) enum Slot {
    /// It has begun in a replay, and gets its state when the replay ends.
    Replayed,
    /// The same, of a wait for something that its name does not say.
    Typed(Box<Typed>),
    /// It is being polled.
    Polled,
    /// A wait for a phase, a time, a number, or a condition.
    Plain(DurableWait),
    /// The end of a script.
    Join(Box<Join>),
    /// The end of all scripts of an owner.
    OwnerEnd(Box<OwnerEnd>),
    /// A request to stop, with the place of the wait among those for one.
    Stop(u64),
    /// A signal, with its value once it has been emitted.
    Signal(SignalWait),
    /// The next event of a subscription.
    Next(Box<NextWait>),
    /// A change of a value, and whether it has changed since the wait has seen it.
    Value {
        listing: Listing<OfValue>,
        is_new: bool,
    },
    /// A permit.
    Permit(Box<PermitWait>),
    /// The promise of this number.
    Promise(u64),
    /// An answer from outside.
    Request(Box<Question>),
}

/// The end of a script.
#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) script: ScriptId,
    pub(crate) end: DurableWait,
}

/// The end of all scripts of an owner.
#[derive(Debug)]
pub(crate) struct OwnerEnd {
    pub(crate) owner: OwnerId,
    pub(crate) end: DurableWait,
}

impl OwnerEnd {
    /// The state of a wait that begins.
    pub(crate) fn begin(owners: &Owners, owner: OwnerId) -> Slot {
        match owners.get(owner) {
            Some(awaited) => Slot::OwnerEnd(Box::new(OwnerEnd {
                owner,
                end: DurableWait::owner_end(&awaited),
            })),
            // It has been dropped.
            None => Slot::Replayed,
        }
    }
}

/// A wait for the next event of a subscription.
#[derive(Debug)]
pub(crate) struct NextWait {
    /// Its number in the chapter.
    pub(crate) number: u32,
    pub(crate) listing: Listing<OfSignal>,
    pub(crate) stream: Owned,
    /// Of a wait that has a subscription of its own.
    pub(crate) guard: Option<StreamGuard>,
}

impl Slot {
    /// The name and the ticket of a wait in a list.
    fn listing(&self) -> Option<(&Topic, u64)> {
        match self {
            Slot::Signal(wait) => Some((&wait.listing.topic, wait.listing.ticket)),
            Slot::Next(wait) => Some((&wait.listing.topic, wait.listing.ticket)),
            Slot::Value { listing, .. } => Some((&listing.topic, listing.ticket)),
            Slot::Permit(wait) => Some((&wait.listing.topic, wait.listing.ticket)),
            _ => None,
        }
    }

    /// The state of a wait in a list, for what it waits for.
    pub(crate) fn listed_wait(&mut self) -> Option<ListedWait<'_>> {
        match self {
            Slot::Signal(wait) => Some(ListedWait::Signal(wait)),
            Slot::Next(wait) => Some(ListedWait::Next(wait.stream)),
            Slot::Value { is_new, .. } => Some(ListedWait::Value { is_new }),
            Slot::Permit(wait) => Some(ListedWait::Permit(wait)),
            _ => None,
        }
    }

    /// The ticket of a wait in a list.
    pub(crate) fn ticket(&self) -> Option<u64> {
        Some(self.listing()?.1)
    }

    /// The full name of what a wait in a list is for.
    pub(crate) fn full_name(&self) -> Option<&str> {
        Some(self.listing()?.0.as_ref())
    }

    /// Calls `f` with each wait of framestep in it.
    pub(crate) fn each_wait<'a>(&'a self, mut f: impl FnMut(&'a DurableWait)) {
        match self {
            Slot::Plain(wait) => wait.each_part(f),
            Slot::Join(join) => f(&join.end),
            Slot::OwnerEnd(awaited) => f(&awaited.end),
            Slot::Replayed
            | Slot::Typed(_)
            | Slot::Polled
            | Slot::Stop(_)
            | Slot::Signal(_)
            | Slot::Next(_)
            | Slot::Value { .. }
            | Slot::Permit(_)
            | Slot::Promise(_)
            | Slot::Request(_) => {}
        }
    }

    /// What a save state has of it, besides waits of framestep.
    pub(crate) fn image(&self) -> SlotImage {
        match self {
            Slot::Plain(wait) => match wait.shape() {
                Shape::Single => SlotImage::Plain,
                Shape::Tick(due_ns) => SlotImage::Tick { due_ns },
                Shape::Animation(progress, has_end) => SlotImage::Animate {
                    has_end,
                    length_ns: progress.length_ns,
                    elapsed_ns: progress.elapsed_ns,
                },
            },
            Slot::Join(join) => SlotImage::Join(join.script),
            Slot::OwnerEnd(awaited) => SlotImage::OwnerEnd(awaited.owner),
            Slot::Stop(ticket) => SlotImage::Stop { ticket: *ticket },
            Slot::Signal(wait) => SlotImage::Signal {
                topic: wait.listing.topic.clone(),
                ticket: wait.listing.ticket,
                given: wait.given.clone(),
            },
            Slot::Next(wait) => SlotImage::Next {
                topic: wait.listing.topic.clone(),
                ticket: wait.listing.ticket,
                stream: wait.stream,
                is_own: wait.guard.is_some(),
            },
            Slot::Value { listing, is_new } => SlotImage::Value {
                topic: listing.topic.clone(),
                ticket: listing.ticket,
                is_new: *is_new,
            },
            Slot::Permit(wait) => SlotImage::Permit {
                topic: wait.listing.topic.clone(),
                ticket: wait.listing.ticket,
                wanted: wait.wanted,
                granted: wait.granted,
            },
            Slot::Promise(number) => SlotImage::Promise(*number),
            Slot::Request(request) => SlotImage::Request((**request).clone()),
            // Outside of polls and replays, a slot has its state.
            Slot::Replayed | Slot::Typed(_) | Slot::Polled => {
                unreachable!("the script is being polled")
            }
        }
    }
}
