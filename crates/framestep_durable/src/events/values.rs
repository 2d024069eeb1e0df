//! Values: what they are, and which waits they have.

use std::panic::Location;
use std::rc::Rc;

use crate::bytes::{Bytes, Topic};
use crate::events::{Events, Listed, ListedWait, Listing, Lists, WaitOf, entry, remove};

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

/// A value while a closure changes it. What the closure has is a copy, so nothing else may change it.
pub(crate) struct Changing(Rc<Events>);

impl Changing {
    pub(crate) fn begin(events: &Rc<Events>, name: &str, at: &'static Location<'static>) -> Self {
        events.changing.borrow_mut().push((name.into(), at));
        Changing(Rc::clone(events))
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        // Closures end in the reverse order.
        let ended = self.0.changing.borrow_mut().pop();
        debug_assert!(ended.is_some(), "it began");
    }
}

#[derive(Debug)]
pub(crate) struct OfValue;

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

impl Events {
    /// The same for a value.
    pub(crate) fn await_value(self: &Rc<Self>, wait: WaitOf, name: &str) -> Listing<OfValue> {
        let listed = self.listed(wait);
        let mut values = self.values.borrow_mut();
        let (topic, entry) = entry(&mut values, name, ValueEntry::default);
        entry.waits.push(listed);
        Listing::new(self, &topic, listed.ticket)
    }

    /// Puts a wait for a value at the end of its list: its condition has refused the latest change.
    pub(crate) fn await_change_again(&self, listing: &mut Listing<OfValue>) {
        let mut values = self.values.borrow_mut();
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

    /// The number of the last change of a value, and what it is. `None` if it is not set.
    pub(crate) fn value(&self, name: &str) -> (u64, Option<Bytes>) {
        let values = self.values.borrow();
        let entry = values.get(name);
        entry.map_or((0, None), |entry| (entry.changes, entry.value.clone()))
    }

    /// The call whose closure changes a value, if one does.
    pub(crate) fn changed_at(&self, name: &str) -> Option<&'static Location<'static>> {
        let changing = self.changing.borrow();
        let mut of_name = changing.iter().filter(|(changed, _)| **changed == *name);
        of_name.next().map(|(_, at)| *at)
    }

    /// Sets a value, or removes it, and wakes the scripts that wait for a change, in order. Returns
    /// whether it was set before.
    pub(crate) fn set(&self, name: &str, value: Option<Bytes>) -> bool {
        let (mut waits, before) = {
            let mut values = self.values.borrow_mut();
            if value.is_none() && values.get(name).is_none_or(|entry| entry.value.is_none()) {
                return false;
            }
            let (topic, entry) = entry(&mut values, name, ValueEntry::default);
            let before = std::mem::replace(&mut entry.value, value);
            let change = self.changes.get() + 1;
            self.changes.set(change);
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
            self.scripts.with_wait(listed, &mut |wait| {
                if let ListedWait::Value { is_new } = wait {
                    waits = !std::mem::replace(is_new, true);
                }
            });
            waits
        });
        self.scripts
            .wake(&mut waits.iter().map(|listed| listed.script));
        before.is_some()
    }
}
