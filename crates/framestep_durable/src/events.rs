//! Signals, values, permits and promises of a runtime: which waits they have, and what they keep.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, ScriptId};
use crate::hand_over::Carried;
use crate::loss::{Loss, is_reported};
use crate::shared::Shared;
use crate::slot::Slot;
use crate::topic::Topic;

/// The number of a subscription, a permit or a promise: that of the script that has it, and one
/// that nothing else of the runtime has.
pub(crate) type Owned = (ScriptId, u64);

/// The signals, values, permits and promises of a runtime. Those in their first state, for which no
/// script waits, have no entry.
#[derive(Default)]
pub(crate) struct Events {
    pub(crate) signals: RefCell<BTreeMap<Topic, SignalEntry>>,
    pub(crate) streams: RefCell<BTreeMap<Owned, Stream>>,
    pub(crate) values: RefCell<BTreeMap<Topic, ValueEntry>>,
    pub(crate) permits: RefCell<BTreeMap<Topic, PermitsEntry>>,
    /// Which permits scripts have.
    pub(crate) held: RefCell<BTreeMap<Owned, Held>>,
    pub(crate) promises: RefCell<BTreeMap<Owned, PromiseEntry>>,
    /// The number of the last wait, subscription, permit or promise.
    pub(crate) last_ticket: Cell<u64>,
    /// The same of a restore that makes states of scripts anew.
    pub(crate) restored_ticket: Cell<u64>,
    /// The scripts of a restore which read an event as another type than it is.
    pub(crate) misread: RefCell<BTreeSet<ScriptId>>,
    /// Whether events for one wait are not passed on: they are not what others read, either.
    pub(crate) keeps_misread: Cell<bool>,
    /// How often a value has changed since the process began.
    changes: Cell<u64>,
}

/// The waits for a signal, and its subscriptions, in the order in which they began.
#[derive(Default)]
pub(crate) struct SignalEntry {
    pub(crate) waits: Vec<Listed>,
    pub(crate) streams: Vec<Owned>,
}

impl SignalEntry {
    fn is_empty(&self) -> bool {
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
    pub(crate) events: VecDeque<Bytes>,
    /// An event for this subscription alone, which it reads first.
    pub(crate) given: Option<GivenOne>,
    /// Whether the state of its script's chapter has it.
    pub(crate) is_carried: bool,
}

/// An event for the wait that has waited longest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenOne {
    pub(crate) value: Bytes,
    /// If it is not taken, it goes to a wait with a ticket up to this one.
    pub(crate) up_to: u64,
}

/// The limit of what a `wait_for` keeps until it is polled.
pub(crate) const NO_LIMIT: u64 = u64::MAX;

/// How many events of a `wait_for` are reported first.
const MANY: u64 = 1_000;

impl Stream {
    /// Returns whether what it has missed, or keeps, is to be reported.
    fn push(&mut self, event: Bytes) -> bool {
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

/// The waiters of a value, and its current state.
#[derive(Default)]
pub(crate) struct ValueEntry {
    /// `None` if it has not been set, or was removed.
    pub(crate) value: Option<Bytes>,
    /// A number that is another one after each change. Not saved.
    changes: u64,
    pub(crate) waits: Vec<Listed>,
}

impl ValueEntry {
    pub(crate) fn restored(value: Option<Bytes>, waits: Vec<Listed>) -> Self {
        ValueEntry {
            value,
            changes: 0,
            waits,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.value.is_none() && self.waits.is_empty()
    }
}

/// Permits that a script has.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) topic: Topic,
    pub(crate) count: u64,
}

/// A number of permits, and the waits for some. While as many are free as the first wait needs,
/// nothing waits.
#[derive(Debug)]
pub(crate) struct PermitsEntry {
    pub(crate) count: u64,
    /// Whether another number has been set than the code says.
    pub(crate) is_set: bool,
    /// How many permits scripts have.
    pub(crate) held: u64,
    pub(crate) waits: Vec<Listed>,
}

impl PermitsEntry {
    fn declared(count: u64) -> Self {
        PermitsEntry {
            count,
            is_set: false,
            held: 0,
            waits: Vec::new(),
        }
    }

    /// Whether so many are free.
    fn has_free(&self, wanted: u64) -> bool {
        self.held
            .checked_add(wanted)
            .is_some_and(|held| held <= self.count)
    }

    fn is_as_declared(&self) -> bool {
        !self.is_set && self.held == 0 && self.waits.is_empty()
    }
}

/// A promise that its script has not read or dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PromiseEntry {
    pub(crate) name: Topic,
    /// Differs between promises of the same number, in timelines that a rollback separates.
    pub(crate) stamp: u64,
    /// `None` as long as it is open.
    pub(crate) settled: Option<Settled>,
}

/// How a promise ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Settled {
    Resolved(Bytes),
    Cancelled,
}

/// A wait in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) script: ScriptId,
    /// The number of the wait in its chapter.
    pub(crate) wait: u32,
    /// A number that no other wait in a list has.
    pub(crate) ticket: u64,
}

/// What has a list of waits: a signal, a value or permits.
pub(crate) trait Lists {
    /// Removes a wait from the list of this name.
    fn unlist(events: &Events, topic: &Topic, ticket: u64);
}

#[derive(Debug)]
pub(crate) struct OfSignal;

#[derive(Debug)]
pub(crate) struct OfValue;

#[derive(Debug)]
pub(crate) struct OfSemaphores;

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

impl Lists for OfValue {
    fn unlist(events: &Events, topic: &Topic, ticket: u64) {
        let mut values = events.values.borrow_mut();
        if let Some(entry) = values.get_mut(topic) {
            remove(&mut entry.waits, ticket);
            if entry.is_empty() {
                values.remove(topic);
            }
        }
    }
}

impl Lists for OfSemaphores {
    fn unlist(events: &Events, topic: &Topic, ticket: u64) {
        let mut permits = events.permits.borrow_mut();
        if let Some(entry) = permits.get_mut(topic) {
            remove(&mut entry.waits, ticket);
            if entry.is_as_declared() {
                permits.remove(topic);
            }
        }
    }
}

/// The place of a wait in a list. It leaves the list when this is dropped.
pub(crate) struct Listing<L: Lists> {
    shared: Weak<Shared>,
    pub(crate) topic: Topic,
    pub(crate) ticket: u64,
    of: PhantomData<L>,
}

impl<L: Lists> Listing<L> {
    pub(crate) fn new(shared: &Rc<Shared>, topic: &Topic, ticket: u64) -> Self {
        Listing {
            shared: Rc::downgrade(shared),
            topic: topic.clone(),
            ticket,
            of: PhantomData,
        }
    }
}

impl<L: Lists> Drop for Listing<L> {
    fn drop(&mut self) {
        if let Some(shared) = live(&self.shared) {
            L::unlist(&shared.events, &self.topic, self.ticket);
        }
    }
}

impl<L: Lists> fmt::Debug for Listing<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.topic, self.ticket)
    }
}

/// The runtime, unless it is being replaced by a save state: then all lists are.
fn live(shared: &Weak<Shared>) -> Option<Rc<Shared>> {
    shared.upgrade().filter(|shared| !shared.is_cleared.get())
}

/// A wait for a signal, with the value once there is one. If it is dropped before it has returned an
/// event that is for it alone, the next one gets that.
pub(crate) struct SignalWait {
    pub(crate) listing: Listing<OfSignal>,
    pub(crate) given: Given,
}

/// What a wait for a signal has been given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Given {
    #[default]
    Nothing,
    Event(Bytes),
    /// An event for it alone.
    One(Box<GivenOne>),
}

impl Given {
    pub(crate) fn value(&self) -> Option<&Bytes> {
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
        if let Some(shared) = live(&self.listing.shared) {
            shared.pass_on(&self.listing.topic, given);
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
    shared: Weak<Shared>,
    pub(crate) stream: Owned,
}

impl StreamGuard {
    pub(crate) fn new(shared: &Rc<Shared>, stream: Owned) -> Self {
        StreamGuard {
            shared: Rc::downgrade(shared),
            stream,
        }
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        if let Some(shared) = live(&self.shared) {
            shared.drop_stream(self.stream);
        }
    }
}

impl fmt::Debug for StreamGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.stream)
    }
}

/// A wait for permits. Permits that it was granted and has not returned go to the next ones when this
/// is dropped, and so do those that it has kept from them.
#[derive(Debug)]
pub(crate) struct PermitWait {
    pub(crate) listing: Listing<OfSemaphores>,
    pub(crate) script: ScriptId,
    /// How many it waits for.
    pub(crate) wanted: u64,
    pub(crate) granted: Option<u64>,
}

impl Drop for PermitWait {
    fn drop(&mut self) {
        let Some(shared) = live(&self.listing.shared) else {
            return;
        };
        let Listing { topic, ticket, .. } = &self.listing;
        match self.granted {
            Some(permit) => shared.return_permit((self.script, permit)),
            None if *ticket > 0 => {
                OfSemaphores::unlist(&shared.events, topic, *ticket);
                shared.grant(topic.as_ref());
            }
            None => {}
        }
    }
}

/// The entry of a name, made if there is none.
fn entry<'a, E>(
    entries: &'a mut BTreeMap<Topic, E>,
    name: &str,
    make: impl FnOnce() -> E,
) -> (Topic, &'a mut E) {
    let topic = match entries.get_key_value(name) {
        Some((topic, _)) => topic.clone(),
        None => Topic::new(name),
    };
    let entry = entries.entry(topic.clone()).or_insert_with(make);
    (topic, entry)
}

fn remove(waits: &mut Vec<Listed>, ticket: u64) {
    // They are in the order of their tickets.
    if let Ok(at) = waits.binary_search_by_key(&ticket, |listed| listed.ticket) {
        waits.remove(at);
    }
}

impl Events {
    /// Forgets all waits and what scripts have, before a save state takes their place.
    pub(crate) fn clear(&self) {
        self.signals.take();
        self.streams.take();
        self.values.take();
        self.permits.take();
        self.held.take();
        self.promises.take();
    }
}

impl Shared {
    pub(crate) fn next_ticket(&self) -> u64 {
        let ticket = self.events.last_ticket.get() + 1;
        self.events.last_ticket.set(ticket);
        ticket
    }

    /// A new place in a list, for the latest wait of a script.
    fn listed(&self, cell: &ScriptCell) -> Listed {
        Listed {
            script: cell.id,
            wait: cell.next_wait() - 1,
            ticket: self.next_ticket(),
        }
    }

    /// Calls `f` with the state of a wait in a list. Returns `false` if the wait is being polled.
    fn with_listed(&self, listed: &Listed, f: impl FnOnce(&mut Slot)) -> bool {
        let Some(cell) = self.script(listed.script) else {
            return false;
        };
        let ticket = cell.chapter().waits.ticket(listed.wait);
        let is_it = ticket == Some(listed.ticket);
        if is_it {
            cell.with_slot(listed.wait, f);
        }
        is_it
    }

    /// Adds the latest wait of a script to those for a signal.
    pub(crate) fn await_signal(
        self: &Rc<Self>,
        cell: &ScriptCell,
        name: &str,
    ) -> Listing<OfSignal> {
        let listed = self.listed(cell);
        let mut signals = self.events.signals.borrow_mut();
        let (topic, entry) = entry(&mut signals, name, SignalEntry::default);
        entry.waits.push(listed);
        Listing::new(self, &topic, listed.ticket)
    }

    /// The same for a value.
    pub(crate) fn await_value(self: &Rc<Self>, cell: &ScriptCell, name: &str) -> Listing<OfValue> {
        let listed = self.listed(cell);
        let mut values = self.events.values.borrow_mut();
        let (topic, entry) = entry(&mut values, name, ValueEntry::default);
        entry.waits.push(listed);
        Listing::new(self, &topic, listed.ticket)
    }

    /// Puts a wait for a signal at the end of the list, whether it still is in it or not.
    pub(crate) fn await_again(&self, script: ScriptId, wait: u32, listing: &mut Listing<OfSignal>) {
        OfSignal::unlist(&self.events, &listing.topic, listing.ticket);
        listing.ticket = self.next_ticket();
        let listed = Listed {
            script,
            wait,
            ticket: listing.ticket,
        };
        let mut signals = self.events.signals.borrow_mut();
        let entry = signals.entry(listing.topic.clone()).or_default();
        entry.waits.push(listed);
    }

    /// Puts a wait for a value at the end of its list: its condition has refused the latest change.
    pub(crate) fn await_change_again(&self, listing: &mut Listing<OfValue>) {
        let mut values = self.events.values.borrow_mut();
        let Some(ValueEntry { waits, .. }) = values.get_mut(&listing.topic) else {
            return;
        };
        let at = waits.binary_search_by_key(&listing.ticket, |listed| listed.ticket);
        // Alone, it is there.
        let Some(at) = at.ok().filter(|at| at + 1 < waits.len()) else {
            return;
        };
        let listed = waits.remove(at);
        listing.ticket = self.next_ticket();
        let ticket = listing.ticket;
        waits.push(Listed { ticket, ..listed });
    }

    /// Passes an event to all waits for a signal and to its subscriptions, and wakes the scripts
    /// that wait, in order.
    pub(crate) fn emit(&self, name: &str, value: &Bytes) {
        let mut losses = Vec::new();
        let mut waits = {
            let mut signals = self.events.signals.borrow_mut();
            let Some(entry) = signals.get_mut(name) else {
                return;
            };
            let mut streams = self.events.streams.borrow_mut();
            for id in &entry.streams {
                if let Some(stream) = streams.get_mut(id) {
                    if stream.push(value.clone()) {
                        let name = self.script(id.0).map_or("", |cell| cell.name());
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
            self.with_listed(listed, |slot| {
                if let Slot::Signal(wait) = slot {
                    wait.given = Given::Event(value.clone());
                }
            })
        });
        self.wake_all(waits.iter().map(|listed| listed.script));
        for loss in &losses {
            self.report_loss(loss);
        }
    }

    /// Passes an event that was for one wait, and was not taken, to the next one.
    pub(crate) fn pass_on(&self, topic: &Topic, given: &GivenOne) {
        let is_taken = !self.events.keeps_misread.get()
            && self.give(topic.as_ref(), &given.value, given.up_to);
        if !is_taken {
            let signal = topic.to_string();
            self.report_loss(&Loss::NotTaken { signal });
        }
    }

    /// Passes an event to the wait for a signal that has waited longest. Returns `false` if there is
    /// none.
    pub(crate) fn emit_one(&self, name: &str, value: &Bytes) -> bool {
        self.give(name, value, self.events.last_ticket.get())
    }

    /// The same for a wait with a ticket up to this one.
    pub(crate) fn give(&self, name: &str, value: &Bytes, up_to: u64) -> bool {
        while let Some(listed) = self.take_first_wait(name, up_to) {
            let mut stream = None;
            let is_given = self.with_listed(&listed, |slot| match slot {
                Slot::Signal(wait) => {
                    let value = value.clone();
                    wait.given = Given::One(Box::new(GivenOne { value, up_to }));
                }
                Slot::Next(wait) => stream = Some(wait.stream),
                _ => {}
            });
            let mut streams = self.events.streams.borrow_mut();
            if let Some(stream) = stream.and_then(|stream| streams.get_mut(&stream)) {
                let value = value.clone();
                stream.given = Some(GivenOne { value, up_to });
            }
            drop(streams);
            if is_given {
                self.wake_all([listed.script]);
                return true;
            }
        }
        false
    }

    /// Takes the first wait for a signal out of its list, if its ticket is not above `up_to`.
    fn take_first_wait(&self, name: &str, up_to: u64) -> Option<Listed> {
        let mut signals = self.events.signals.borrow_mut();
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
        let mut signals = self.events.signals.borrow_mut();
        let (topic, entry) = entry(&mut signals, name, SignalEntry::default);
        entry.streams.push(id);
        let stream = Stream {
            topic,
            limit: limit.unwrap_or(self.event_limit),
            missed: 0,
            events: VecDeque::new(),
            given: None,
            is_carried: false,
        };
        self.events.streams.borrow_mut().insert(id, stream);
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
            if let Some(stream) = self.events.streams.borrow_mut().get_mut(&id) {
                stream.is_carried = true;
            }
        }
    }

    /// Drops the events that a script which restarts in other code cannot read as what they are there.
    pub(crate) fn drop_unreadable(&self, cell: &ScriptCell, carried: &[Carried]) {
        for it in carried {
            let Some(read_as) = it.read_as else {
                continue;
            };
            let mut streams = self.events.streams.borrow_mut();
            let Some(stream) = streams.get_mut(&(cell.id, it.number)) else {
                continue;
            };
            let stored = stream.events.len();
            stream.events.retain(|event| read_as.can_read(event));
            let events = (stored - stream.events.len()) as u64;
            let given = stream
                .given
                .take_if(|given| !read_as.can_read(&given.value));
            let topic = stream.topic.clone();
            drop(streams);
            if let Some(given) = given {
                self.pass_on(&topic, &given);
            }
            if events > 0 {
                self.report_loss(&Loss::Unreadable {
                    script: cell.id,
                    name: cell.name(),
                    signal: topic.to_string(),
                    events,
                });
            }
        }
    }

    /// Gives a subscription to another script.
    fn move_stream(&self, from: Owned, to: Owned) {
        let mut streams = self.events.streams.borrow_mut();
        let Some(stream) = streams.remove(&from) else {
            return;
        };
        let mut signals = self.events.signals.borrow_mut();
        let of_signal = signals.get_mut(&stream.topic);
        let mut ids = of_signal.into_iter().flat_map(|entry| &mut entry.streams);
        if let Some(id) = ids.find(|id| **id == from) {
            *id = to;
        }
        streams.insert(to, stream);
    }

    /// Whether there is a subscription.
    pub(crate) fn has_stream(&self, id: Owned) -> bool {
        self.events.streams.borrow().contains_key(&id)
    }

    /// Drops a subscription. Returns the events that it had not read.
    pub(crate) fn drop_stream(&self, id: Owned) -> Option<(Topic, u64)> {
        let stream = self.events.streams.borrow_mut().remove(&id)?;
        let mut signals = self.events.signals.borrow_mut();
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
    pub(crate) fn next_event(&self, id: Owned) -> Option<Bytes> {
        let mut streams = self.events.streams.borrow_mut();
        let stream = streams.get_mut(&id)?;
        match stream.given.take() {
            Some(given) => Some(given.value),
            None => stream.events.pop_front(),
        }
    }

    /// The event that is for a subscription alone, if it has one.
    pub(crate) fn take_given(&self, id: Owned) -> Option<GivenOne> {
        let mut streams = self.events.streams.borrow_mut();
        streams.get_mut(&id)?.given.take()
    }

    /// How many events a subscription stores.
    pub(crate) fn stored_events(&self, id: Owned) -> usize {
        let streams = self.events.streams.borrow();
        let unread = streams.get(&id).map_or(0, Stream::unread);
        usize::try_from(unread).unwrap_or(usize::MAX)
    }

    /// How many events a subscription has lost.
    pub(crate) fn missed_events(&self, id: Owned) -> u64 {
        let streams = self.events.streams.borrow();
        streams.get(&id).map_or(0, |stream| stream.missed)
    }

    /// The number of the last change of a value, and what it is. `None` if it is not set.
    pub(crate) fn value(&self, name: &str) -> (u64, Option<Bytes>) {
        let values = self.events.values.borrow();
        let entry = values.get(name);
        entry.map_or((0, None), |entry| (entry.changes, entry.value.clone()))
    }

    /// Sets a value, or removes it, and wakes the scripts that wait for a change, in order. Returns
    /// whether it was set before.
    pub(crate) fn set(&self, name: &str, value: Option<Bytes>) -> bool {
        let (mut waits, before) = {
            let mut values = self.events.values.borrow_mut();
            if value.is_none() && values.get(name).is_none_or(|entry| entry.value.is_none()) {
                return false;
            }
            let (topic, entry) = entry(&mut values, name, ValueEntry::default);
            let before = std::mem::replace(&mut entry.value, value);
            let change = self.events.changes.get() + 1;
            self.events.changes.set(change);
            entry.changes = change;
            let waits = entry.waits.clone();
            if entry.is_empty() {
                values.remove(&topic);
            }
            (waits, before)
        };
        // One that an earlier change has woken has not waited since.
        waits.retain(|listed| {
            let mut waits = false;
            self.with_listed(listed, |slot| {
                if let Slot::Value { is_new, .. } = slot {
                    waits = !std::mem::replace(is_new, true);
                }
            });
            waits
        });
        self.wake_all(waits.iter().map(|listed| listed.script));
        before.is_some()
    }

    /// Takes permits for a script. `None` if they are not free, or another script waits.
    pub(crate) fn take_permits(
        &self,
        script: ScriptId,
        name: &str,
        declared: u64,
        wanted: u64,
    ) -> Option<u64> {
        self.declare(name, declared);
        if wanted == 0 {
            // The script has nothing to return, and holds nothing.
            return Some(self.next_ticket());
        }
        let mut permits = self.events.permits.borrow_mut();
        let (topic, entry) = entry(&mut permits, name, || PermitsEntry::declared(declared));
        if !entry.waits.is_empty() || !entry.has_free(wanted) {
            if entry.is_as_declared() {
                permits.remove(&topic);
            }
            return None;
        }
        entry.held += wanted;
        let permit = self.next_ticket();
        let mut held = self.events.held.borrow_mut();
        let count = wanted;
        held.insert((script, permit), Held { topic, count });
        Some(permit)
    }

    /// Adds the latest wait of a script to those for permits, which are not free.
    pub(crate) fn await_permits(
        self: &Rc<Self>,
        cell: &ScriptCell,
        name: &str,
        declared: u64,
        wanted: u64,
    ) -> PermitWait {
        let listed = self.listed(cell);
        let mut permits = self.events.permits.borrow_mut();
        let (topic, entry) = entry(&mut permits, name, || PermitsEntry::declared(declared));
        entry.waits.push(listed);
        PermitWait {
            listing: Listing::new(self, &topic, listed.ticket),
            script: cell.id,
            wanted,
            granted: None,
        }
    }

    /// A wait that has its permits already.
    pub(crate) fn granted(
        self: &Rc<Self>,
        script: ScriptId,
        name: &str,
        wanted: u64,
        permit: u64,
    ) -> PermitWait {
        PermitWait {
            // In no list.
            listing: Listing::new(self, &Topic::new(name), 0),
            script,
            wanted,
            granted: Some(permit),
        }
    }

    /// Returns permits: the first scripts that wait have them then.
    pub(crate) fn return_permit(&self, permit: Owned) {
        let Some(held) = self.events.held.borrow_mut().remove(&permit) else {
            return;
        };
        if let Some(entry) = self.events.permits.borrow_mut().get_mut(&held.topic) {
            entry.held -= held.count;
        }
        self.grant(held.topic.as_ref());
    }

    /// Notes how many permits the code says there are.
    fn declare(&self, name: &str, declared: u64) {
        if let Some(entry) = self.events.permits.borrow_mut().get_mut(name) {
            if entry.is_set || entry.count == declared {
                return;
            }
            entry.count = declared;
        }
        self.grant(name);
    }

    /// Sets how many permits there are.
    pub(crate) fn set_permits(&self, name: &str, declared: u64, count: u64) {
        {
            let mut permits = self.events.permits.borrow_mut();
            let (_, entry) = entry(&mut permits, name, || PermitsEntry::declared(count));
            entry.count = count;
            entry.is_set = count != declared;
        }
        self.grant(name);
    }

    /// Grants free permits to the scripts that wait, in order, and wakes them.
    fn grant(&self, name: &str) {
        let mut woken = Vec::new();
        {
            let mut permits = self.events.permits.borrow_mut();
            let Some((topic, _)) = permits.get_key_value(name) else {
                return;
            };
            let topic = topic.clone();
            let entry = permits.get_mut(name).expect("it is there");
            while let Some(&listed) = entry.waits.first() {
                let mut wanted = 0;
                let is_there = self.with_listed(&listed, |slot| {
                    if let Slot::Permit(wait) = slot {
                        wanted = wait.wanted;
                    }
                });
                if is_there && !entry.has_free(wanted) {
                    break;
                }
                entry.waits.remove(0);
                if !is_there {
                    continue;
                }
                let permit = self.next_ticket();
                self.with_listed(&listed, |slot| {
                    if let Slot::Permit(wait) = slot {
                        wait.granted = Some(permit);
                    }
                });
                entry.held += wanted;
                let (topic, count) = (topic.clone(), wanted);
                let mut held = self.events.held.borrow_mut();
                held.insert((listed.script, permit), Held { topic, count });
                woken.push(listed.script);
            }
            if entry.is_as_declared() {
                permits.remove(name);
            }
        }
        self.wake_all(woken);
    }

    /// Adds permits to those that there are. `None` if they are too many to count.
    pub(crate) fn add_permits(&self, name: &str, declared: u64, more: u64) -> Option<()> {
        let count = self.permit_count(name, declared).checked_add(more)?;
        self.set_permits(name, declared, count);
        Some(())
    }

    /// How many permits there are.
    pub(crate) fn permit_count(&self, name: &str, declared: u64) -> u64 {
        let permits = self.events.permits.borrow();
        let entry = permits.get(name).filter(|entry| entry.is_set);
        entry.map_or(declared, |entry| entry.count)
    }

    /// How many permits are free: none while a script waits.
    pub(crate) fn free_permits(&self, name: &str, declared: u64) -> u64 {
        let permits = self.events.permits.borrow();
        permits.get(name).map_or(declared, |entry| {
            let count = if entry.is_set { entry.count } else { declared };
            if entry.waits.is_empty() {
                count.saturating_sub(entry.held)
            } else {
                0
            }
        })
    }

    /// The scripts that have permits, one for each guard.
    pub(crate) fn holders(&self, name: &str) -> Vec<ScriptId> {
        let held = self.events.held.borrow();
        let of_it = held.iter().filter(|(_, held)| held.topic.as_ref() == name);
        of_it.map(|((script, _), _)| *script).collect()
    }

    /// Makes a promise for a script.
    pub(crate) fn promise(&self, script: ScriptId, name: &str, stamp: u64) -> u64 {
        let number = self.next_ticket();
        let entry = PromiseEntry {
            name: Topic::new(name),
            stamp,
            settled: None,
        };
        let mut promises = self.events.promises.borrow_mut();
        promises.insert((script, number), entry);
        number
    }

    /// Whether a promise is open.
    pub(crate) fn is_promise_open(&self, promise: Owned, stamp: u64) -> bool {
        let promises = self.events.promises.borrow();
        let entry = promises.get(&promise);
        entry.is_some_and(|entry| entry.stamp == stamp && entry.settled.is_none())
    }

    /// Resolves a promise, or cancels it, and wakes its script if that waits for it. Returns `false`
    /// if it is not open.
    pub(crate) fn settle(&self, promise: Owned, stamp: u64, with: Settled) -> bool {
        if !self.is_promise_open(promise, stamp) {
            return false;
        }
        if let Some(entry) = self.events.promises.borrow_mut().get_mut(&promise) {
            entry.settled = Some(with);
        }
        let (script, number) = promise;
        let is_awaited = self
            .script(script)
            .is_some_and(|cell| cell.chapter().waits.is_for_promise(number));
        if is_awaited {
            self.wake_all([script]);
        }
        true
    }

    /// Whether a promise is resolved or cancelled, and its script has not read that.
    pub(crate) fn is_settled(&self, promise: Owned) -> bool {
        let promises = self.events.promises.borrow();
        let entry = promises.get(&promise);
        entry.is_some_and(|entry| entry.settled.is_some())
    }

    /// What a promise was settled with: then it is gone.
    pub(crate) fn take_settled(&self, promise: Owned) -> Option<Settled> {
        let mut promises = self.events.promises.borrow_mut();
        let settled = promises.get_mut(&promise)?.settled.take()?;
        promises.remove(&promise);
        Some(settled)
    }

    /// Drops a promise. Returns its name if it has a value that its script has not read.
    pub(crate) fn drop_promise(&self, promise: Owned) -> Option<Topic> {
        let dropped = self.events.promises.borrow_mut().remove(&promise)?;
        let is_resolved = matches!(dropped.settled, Some(Settled::Resolved(_)));
        is_resolved.then_some(dropped.name)
    }

    /// Drops the subscriptions, permits and promises that a script still has when it ends.
    pub(crate) fn drop_all_of(&self, script: ScriptId) {
        self.drop_all_but(script, &[]);
    }

    /// The same when its chapter ends, apart from the subscriptions that it takes along. Returns the
    /// events that the others had not read.
    pub(crate) fn drop_all_but(&self, script: ScriptId, kept: &[Carried]) -> Vec<(Topic, u64)> {
        fn first<E>(
            of: &RefCell<BTreeMap<Owned, E>>,
            script: ScriptId,
            is_it: impl Fn(u64) -> bool,
        ) -> Option<Owned> {
            let of = of.borrow();
            let all = of.range((script, 0)..=(script, u64::MAX));
            let mut all = all.map(|(id, _)| *id);
            all.find(|(_, number)| is_it(*number))
        }
        let mut unread = Vec::new();
        let is_dropped = |number| kept.iter().all(|kept| kept.number != number);
        while let Some(stream) = first(&self.events.streams, script, is_dropped) {
            unread.extend(self.drop_stream(stream));
        }
        while let Some(permit) = first(&self.events.held, script, |_| true) {
            self.return_permit(permit);
        }
        while let Some(promise) = first(&self.events.promises, script, |_| true) {
            self.drop_promise(promise);
        }
        unread
    }
}

/// Whether a script that is being dropped, or replayed, still has what it had: then what it drops is
/// not over.
pub(crate) fn counts(cell: &Weak<ScriptCell>) -> Option<Rc<ScriptCell>> {
    cell.upgrade().filter(|cell| cell.has_effects())
}
