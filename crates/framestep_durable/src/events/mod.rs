//! Signals, values, permits and promises of a runtime: which waits they have, and what they keep.

pub(crate) mod carried;
pub(crate) mod loss;
pub(crate) mod outside;
pub(crate) mod permits;
pub(crate) mod promises;
pub(crate) mod questions;
pub(crate) mod signals;
pub(crate) mod typed;
pub(crate) mod values;

pub(crate) use self::carried::Carried;
pub(crate) use self::loss::{Loss, Losses, is_reported};
pub(crate) use self::outside::Outside;
pub(crate) use self::permits::{Held, PermitWait, PermitsEntry};
pub(crate) use self::promises::{PromiseEntry, Settled};
pub(crate) use self::questions::{Question, Questions};
pub(crate) use self::signals::{Given, SignalEntry, SignalWait, Stream, StreamGuard};
pub(crate) use self::typed::Typed;
pub(crate) use self::values::{Changing, ValueEntry};

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use crate::bytes::Topic;
use crate::ids::{Owned, ScriptId};

/// The signals, values, permits and promises of a runtime. Those in their first state, for which no
/// script waits, have no entry.
pub(crate) struct Events {
    scripts: Rc<dyn Waiters>,
    losses: Rc<Losses>,
    /// The most events that a subscription stores, unless its signal says otherwise.
    limit: u64,
    /// Whether all of them are being replaced by those of a save state.
    is_cleared: Cell<bool>,
    pub(crate) signals: RefCell<BTreeMap<Topic, SignalEntry>>,
    pub(crate) streams: RefCell<BTreeMap<Owned, Stream>>,
    pub(crate) values: RefCell<BTreeMap<Topic, ValueEntry>>,
    /// The values that closures change, and where they were called: the innermost one last.
    changing: RefCell<Vec<(Box<str>, &'static Location<'static>)>>,
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

/// The most events that a subscription stores, if nothing says otherwise.
pub(crate) const DEFAULT_LIMIT: u64 = 1_024;

/// What the tables need of the scripts that wait.
pub(crate) trait Waiters {
    /// Calls `f` with the state of a wait in a list. Returns `false` if the wait is being polled.
    fn with_wait(&self, listed: &Listed, f: &mut dyn FnMut(ListedWait<'_>)) -> bool;

    /// Whether a script waits for its promise.
    fn awaits_promise(&self, promise: Owned) -> bool;

    /// The name of a script; empty if there is none.
    fn name(&self, script: ScriptId) -> &'static str;

    /// Wakes scripts, in order. The caller must have changed everything that they wait for: this may call
    /// the host's waker, which may take a save state.
    fn wake(&self, scripts: &mut dyn Iterator<Item = ScriptId>);
}

/// The state of a wait in a list.
pub(crate) enum ListedWait<'a> {
    Signal(&'a mut SignalWait),
    /// The next event of this subscription.
    Next(Owned),
    Value {
        is_new: &'a mut bool,
    },
    Permit(&'a mut PermitWait),
}

/// A wait: its script, and its number in the chapter.
pub(crate) type WaitOf = (ScriptId, u32);

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

/// The place of a wait in a list. It leaves the list when this is dropped.
pub(crate) struct Listing<L: Lists> {
    events: Weak<Events>,
    pub(crate) topic: Topic,
    pub(crate) ticket: u64,
    of: PhantomData<L>,
}

impl<L: Lists> Listing<L> {
    pub(crate) fn new(events: &Rc<Events>, topic: &Topic, ticket: u64) -> Self {
        Listing {
            events: Rc::downgrade(events),
            topic: topic.clone(),
            ticket,
            of: PhantomData,
        }
    }
}

impl<L: Lists> Drop for Listing<L> {
    fn drop(&mut self) {
        if let Some(events) = live(&self.events) {
            L::unlist(&events, &self.topic, self.ticket);
        }
    }
}

impl<L: Lists> fmt::Debug for Listing<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.topic, self.ticket)
    }
}

/// The tables, unless they are being replaced by those of a save state.
fn live(events: &Weak<Events>) -> Option<Rc<Events>> {
    events.upgrade().filter(|events| !events.is_cleared.get())
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
    pub(crate) fn new(scripts: Rc<dyn Waiters>, losses: Rc<Losses>, limit: u64) -> Rc<Self> {
        Rc::new(Events {
            scripts,
            losses,
            limit,
            is_cleared: Cell::default(),
            signals: RefCell::default(),
            streams: RefCell::default(),
            values: RefCell::default(),
            changing: RefCell::default(),
            permits: RefCell::default(),
            held: RefCell::default(),
            promises: RefCell::default(),
            last_ticket: Cell::default(),
            restored_ticket: Cell::default(),
            misread: RefCell::default(),
            keeps_misread: Cell::default(),
            changes: Cell::default(),
        })
    }

    /// Notes whether they are being replaced. What their scripts drop meanwhile changes nothing.
    pub(crate) fn set_cleared(&self, is_cleared: bool) {
        self.is_cleared.set(is_cleared);
    }

    pub(crate) fn is_cleared(&self) -> bool {
        self.is_cleared.get()
    }

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

impl Events {
    pub(crate) fn next_ticket(&self) -> u64 {
        let ticket = self.last_ticket.get() + 1;
        self.last_ticket.set(ticket);
        ticket
    }

    /// A new place in a list.
    fn listed(&self, (script, wait): WaitOf) -> Listed {
        Listed {
            script,
            wait,
            ticket: self.next_ticket(),
        }
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
        while let Some(stream) = first(&self.streams, script, is_dropped) {
            unread.extend(self.drop_stream(stream));
        }
        while let Some(permit) = first(&self.held, script, |_| true) {
            self.return_permit(permit);
        }
        while let Some(promise) = first(&self.promises, script, |_| true) {
            self.drop_promise(promise);
        }
        unread
    }
}
