//! Signals: which waits they have, and what their subscriptions store.

use std::collections::VecDeque;
use std::fmt;
use std::iter;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use crate::bytes::{Marked, Topic};
use crate::events::{
    Carried, Events, Listed, ListedWait, Listing, Lists, Loss, WaitOf, entry, is_reported, live,
    remove,
};
use crate::ids::{NamedScript, Owned, ScriptId};

/// The waits for a signal, and its subscriptions, in the order in which they began.
#[derive(Default)]
pub(crate) struct SignalEntry {
    pub(crate) waits: Vec<Listed>,
    pub(crate) streams: Vec<Owned>,
}

impl SignalEntry {
    pub(crate) fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.streams.is_empty()
    }
}

/// A subscription: the events that its script has not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stream {
    pub(crate) topic: Topic,
    /// The most events that it stores.
    pub(crate) limit: u64,
    /// How many events it has lost.
    pub(crate) missed: u64,
    pub(crate) events: VecDeque<Marked>,
    /// An event for this subscription alone, which it reads first.
    pub(crate) given: Option<GivenOne>,
    /// Whether the state of its script's chapter has it.
    pub(crate) is_carried: bool,
}

/// An event for the wait that has waited longest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenOne {
    pub(crate) value: Marked,
    /// If it is not taken, it goes to a wait with a ticket up to this one.
    pub(crate) up_to: u64,
}

/// The limit of what a `wait_for` keeps until it is polled.
pub(crate) const NO_LIMIT: u64 = u64::MAX;

/// How many events of a `wait_for` are reported first.
const MANY: u64 = 1_000;

impl Stream {
    /// Returns whether what it has missed, or keeps, is to be reported.
    fn push(&mut self, event: Marked) -> bool {
        let is_full = self.events.len() as u64 >= self.limit;
        if is_full {
            self.events.pop_front();
            self.missed += 1;
        }
        self.events.push_back(event);
        let kept = self.events.len() as u64;
        is_full && is_reported(self.missed)
            || self.limit == NO_LIMIT && kept >= MANY && is_reported(kept)
    }

    /// What is to be reported of it.
    fn loss(&self, script: ScriptId, name: &'static str) -> Loss {
        let signal = self.topic.to_string();
        if self.limit == NO_LIMIT {
            return Loss::Waiting {
                script,
                name,
                signal,
                events: self.events.len() as u64,
            };
        }
        Loss::Missed {
            script,
            name,
            signal,
            limit: self.limit,
            missed: self.missed,
        }
    }

    /// How many events its script has not read.
    fn unread(&self) -> u64 {
        self.events.len() as u64 + u64::from(self.given.is_some())
    }
}

#[derive(Debug)]
pub(crate) struct OfSignal;

impl Lists for OfSignal {
    fn unlist(events: &Events, topic: &Topic, ticket: u64) {
        let mut signals = events.signals.borrow_mut();
        if let Some(entry) = signals.get_mut(topic) {
            remove(&mut entry.waits, ticket);
            if entry.is_empty() {
                signals.remove(topic);
            }
        }
    }
}

/// A wait for a signal, with the value once there is one. If it is dropped before it has returned an
/// event that is for it alone, the next one gets that.
pub(crate) struct SignalWait {
    pub(crate) listing: Listing<OfSignal>,
    pub(crate) given: Given,
}

/// What a wait for a signal has been given. In boxes: waits without an event are many.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Given {
    #[default]
    Nothing,
    Event(Box<Marked>),
    /// An event for it alone.
    One(Box<GivenOne>),
}

impl Given {
    pub(crate) fn value(&self) -> Option<&Marked> {
        match self {
            Given::Nothing => None,
            Given::Event(value) => Some(value),
            Given::One(given) => Some(&given.value),
        }
    }
}

impl Drop for SignalWait {
    fn drop(&mut self) {
        let Given::One(given) = &self.given else {
            return;
        };
        if let Some(events) = live(&self.listing.events) {
            events.pass_on(&self.listing.topic, given);
        }
    }
}

impl fmt::Debug for SignalWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.listing, self.given)
    }
}

/// A subscription that is dropped with the wait that has made it.
pub(crate) struct StreamGuard {
    events: Weak<Events>,
    pub(crate) stream: Owned,
}

impl StreamGuard {
    pub(crate) fn new(events: &Rc<Events>, stream: Owned) -> Self {
        StreamGuard {
            events: Rc::downgrade(events),
            stream,
        }
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        if let Some(events) = live(&self.events) {
            events.drop_stream(self.stream);
        }
    }
}

impl fmt::Debug for StreamGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.stream)
    }
}

impl Events {
    /// Adds a wait to those for a signal.
    pub(crate) fn await_signal(self: &Rc<Self>, wait: WaitOf, name: &str) -> Listing<OfSignal> {
        let listed = self.listed(wait);
        let mut signals = self.signals.borrow_mut();
        let (topic, entry) = entry(&mut signals, name, SignalEntry::default);
        entry.waits.push(listed);
        Listing::new(self, &topic, listed.ticket)
    }

    /// Puts a wait for a signal at the end of the list, whether it still is in it or not.
    pub(crate) fn await_again(&self, script: ScriptId, wait: u32, listing: &mut Listing<OfSignal>) {
        OfSignal::unlist(self, &listing.topic, listing.ticket);
        listing.ticket = self.next_ticket();
        let listed = Listed {
            script,
            wait,
            ticket: listing.ticket,
        };
        let mut signals = self.signals.borrow_mut();
        let entry = signals.entry(listing.topic.clone()).or_default();
        entry.waits.push(listed);
    }

    /// Passes an event to all waits for a signal and to its subscriptions, and wakes the scripts
    /// that wait, in order.
    pub(crate) fn emit(&self, name: &str, value: &Marked) {
        let mut losses = Vec::new();
        let mut waits = {
            let mut signals = self.signals.borrow_mut();
            let Some(entry) = signals.get_mut(name) else {
                return;
            };
            let mut streams = self.streams.borrow_mut();
            for id in &entry.streams {
                if let Some(stream) = streams.get_mut(id) {
                    if stream.push(value.clone()) {
                        let name = self.scripts.name(id.0);
                        losses.push(stream.loss(id.0, name));
                    }
                }
            }
            let waits = std::mem::take(&mut entry.waits);
            if entry.is_empty() {
                signals.remove(name);
            }
            waits
        };
        waits.retain(|listed| {
            self.scripts.with_wait(listed, &mut |wait| {
                if let ListedWait::Signal(wait) = wait {
                    wait.given = Given::Event(Box::new(value.clone()));
                }
            })
        });
        self.scripts
            .wake(&mut waits.iter().map(|listed| listed.script));
        for loss in &losses {
            self.losses.report(loss);
        }
    }

    /// Passes an event to the wait for a signal that has waited longest. Returns `false` if there is
    /// none.
    pub(crate) fn emit_one(&self, name: &str, value: &Marked) -> bool {
        self.give(name, value, self.last_ticket.get())
    }

    /// Passes an event that was for one wait, and was not taken, to the next one.
    pub(crate) fn pass_on(&self, topic: &Topic, given: &GivenOne) {
        let is_taken =
            !self.keeps_misread.get() && self.give(topic.as_ref(), &given.value, given.up_to);
        if !is_taken {
            let signal = topic.to_string();
            self.losses.report(&Loss::NotTaken { signal });
        }
    }

    /// The same for a wait with a ticket up to this one.
    pub(crate) fn give(&self, name: &str, value: &Marked, up_to: u64) -> bool {
        while let Some(listed) = self.take_first_wait(name, up_to) {
            let mut stream = None;
            let is_given = self.scripts.with_wait(&listed, &mut |wait| match wait {
                ListedWait::Signal(wait) => {
                    let value = value.clone();
                    wait.given = Given::One(Box::new(GivenOne { value, up_to }));
                }
                ListedWait::Next(of) => stream = Some(of),
                _ => {}
            });
            let mut streams = self.streams.borrow_mut();
            if let Some(stream) = stream.and_then(|stream| streams.get_mut(&stream)) {
                let value = value.clone();
                stream.given = Some(GivenOne { value, up_to });
            }
            drop(streams);
            if is_given {
                self.scripts.wake(&mut iter::once(listed.script));
                return true;
            }
        }
        false
    }

    /// Takes the first wait for a signal out of its list, if its ticket is not above `up_to`.
    fn take_first_wait(&self, name: &str, up_to: u64) -> Option<Listed> {
        let mut signals = self.signals.borrow_mut();
        let entry = signals.get_mut(name)?;
        let listed = *entry.waits.first()?;
        if listed.ticket > up_to {
            return None;
        }
        entry.waits.remove(0);
        if entry.is_empty() {
            signals.remove(name);
        }
        Some(listed)
    }

    /// Makes a subscription of a script to a signal.
    pub(crate) fn subscribe(&self, script: ScriptId, name: &str, limit: Option<u64>) -> Owned {
        let id = (script, self.next_ticket());
        self.subscribe_as(id, name, limit);
        id
    }

    /// The same with a number.
    fn subscribe_as(&self, id: Owned, name: &str, limit: Option<u64>) {
        let mut signals = self.signals.borrow_mut();
        let (topic, entry) = entry(&mut signals, name, SignalEntry::default);
        entry.streams.push(id);
        let stream = Stream {
            topic,
            limit: limit.unwrap_or(self.limit),
            missed: 0,
            events: VecDeque::new(),
            given: None,
            is_carried: false,
        };
        self.streams.borrow_mut().insert(id, stream);
    }

    /// Gives a script the subscriptions of its state, with the events that they have not read.
    pub(crate) fn carry(&self, script: ScriptId, carried: &[Carried]) {
        for it in carried {
            let id = (script, it.number);
            if let Some(from) = it.from.filter(|from| *from != script) {
                self.move_stream((from, it.number), id);
            }
            if !self.has_stream(id) {
                self.subscribe_as(id, it.topic.as_ref(), it.limit);
            }
            if let Some(stream) = self.streams.borrow_mut().get_mut(&id) {
                stream.is_carried = true;
            }
        }
    }

    /// Drops the events that a script which restarts in other code cannot read as what they are there.
    pub(crate) fn drop_unreadable(&self, script: NamedScript, carried: &[Carried]) {
        for it in carried {
            let Some(read_as) = it.read_as else {
                continue;
            };
            let mut streams = self.streams.borrow_mut();
            let Some(stream) = streams.get_mut(&(script.id, it.number)) else {
                continue;
            };
            let stored = stream.events.len();
            stream.events.retain(|event| event.is(read_as));
            let events = (stored - stream.events.len()) as u64;
            let given = stream.given.take_if(|given| !given.value.is(read_as));
            let topic = stream.topic.clone();
            drop(streams);
            if let Some(given) = given {
                self.pass_on(&topic, &given);
            }
            if events > 0 {
                self.losses.report(&Loss::Unreadable {
                    script: script.id,
                    name: script.name,
                    signal: topic.to_string(),
                    events,
                });
            }
        }
    }

    /// Gives a subscription to another script.
    fn move_stream(&self, from: Owned, to: Owned) {
        let mut streams = self.streams.borrow_mut();
        let Some(stream) = streams.remove(&from) else {
            return;
        };
        let mut signals = self.signals.borrow_mut();
        let of_signal = signals.get_mut(&stream.topic);
        let mut ids = of_signal.into_iter().flat_map(|entry| &mut entry.streams);
        if let Some(id) = ids.find(|id| **id == from) {
            *id = to;
        }
        streams.insert(to, stream);
    }

    /// Whether there is a subscription.
    pub(crate) fn has_stream(&self, id: Owned) -> bool {
        self.streams.borrow().contains_key(&id)
    }

    /// Drops a subscription. Returns the events that it had not read.
    pub(crate) fn drop_stream(&self, id: Owned) -> Option<(Topic, u64)> {
        let stream = self.streams.borrow_mut().remove(&id)?;
        let mut signals = self.signals.borrow_mut();
        if let Some(entry) = signals.get_mut(&stream.topic) {
            entry.streams.retain(|other| *other != id);
            if entry.is_empty() {
                signals.remove(&stream.topic);
            }
        }
        drop(signals);
        let unread = stream.events.len() as u64;
        if let Some(given) = &stream.given {
            self.pass_on(&stream.topic, given);
        }
        (unread > 0).then_some((stream.topic, unread))
    }

    /// The next event of a subscription.
    pub(crate) fn next_event(&self, id: Owned) -> Option<Marked> {
        let mut streams = self.streams.borrow_mut();
        let stream = streams.get_mut(&id)?;
        match stream.given.take() {
            Some(given) => Some(given.value),
            None => stream.events.pop_front(),
        }
    }

    /// The event that is for a subscription alone, if it has one.
    pub(crate) fn take_given(&self, id: Owned) -> Option<GivenOne> {
        let mut streams = self.streams.borrow_mut();
        streams.get_mut(&id)?.given.take()
    }

    /// How many events a subscription stores.
    pub(crate) fn stored_events(&self, id: Owned) -> usize {
        let streams = self.streams.borrow();
        let unread = streams.get(&id).map_or(0, Stream::unread);
        usize::try_from(unread).unwrap_or(usize::MAX)
    }

    /// How many events a subscription has lost.
    pub(crate) fn missed_events(&self, id: Owned) -> u64 {
        let streams = self.streams.borrow();
        streams.get(&id).map_or(0, |stream| stream.missed)
    }
}
