//! Permits: how many there are, who has them, and which waits they have.

use std::rc::Rc;

use crate::bytes::Topic;
use crate::events::{Events, Listed, ListedWait, Listing, Lists, WaitOf, entry, live, remove};
use crate::ids::{Owned, ScriptId};

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

#[derive(Debug)]
pub(crate) struct OfSemaphores;

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
        let Some(events) = live(&self.listing.events) else {
            return;
        };
        let Listing { topic, ticket, .. } = &self.listing;
        match self.granted {
            Some(permit) => events.return_permit((self.script, permit)),
            None if *ticket > 0 => {
                OfSemaphores::unlist(&events, topic, *ticket);
                events.grant(topic.as_ref());
            }
            None => {}
        }
    }
}

impl Events {
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
        let mut permits = self.permits.borrow_mut();
        let (topic, entry) = entry(&mut permits, name, || PermitsEntry::declared(declared));
        if !entry.waits.is_empty() || !entry.has_free(wanted) {
            if entry.is_as_declared() {
                permits.remove(&topic);
            }
            return None;
        }
        entry.held += wanted;
        let permit = self.next_ticket();
        let mut held = self.held.borrow_mut();
        let count = wanted;
        held.insert((script, permit), Held { topic, count });
        Some(permit)
    }

    /// Adds a wait to those for permits, which are not free.
    pub(crate) fn await_permits(
        self: &Rc<Self>,
        wait: WaitOf,
        name: &str,
        declared: u64,
        wanted: u64,
    ) -> PermitWait {
        let listed = self.listed(wait);
        let mut permits = self.permits.borrow_mut();
        let (topic, entry) = entry(&mut permits, name, || PermitsEntry::declared(declared));
        entry.waits.push(listed);
        PermitWait {
            listing: Listing::new(self, &topic, listed.ticket),
            script: listed.script,
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
        let Some(held) = self.held.borrow_mut().remove(&permit) else {
            return;
        };
        if let Some(entry) = self.permits.borrow_mut().get_mut(&held.topic) {
            entry.held -= held.count;
        }
        self.grant(held.topic.as_ref());
    }

    /// Notes how many permits the code says there are.
    fn declare(&self, name: &str, declared: u64) {
        if let Some(entry) = self.permits.borrow_mut().get_mut(name) {
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
            let mut permits = self.permits.borrow_mut();
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
            let mut permits = self.permits.borrow_mut();
            let Some((topic, _)) = permits.get_key_value(name) else {
                return;
            };
            let topic = topic.clone();
            let entry = permits.get_mut(name).expect("it is there");
            while let Some(&listed) = entry.waits.first() {
                let mut wanted = 0;
                let is_there = self.scripts.with_wait(&listed, &mut |wait| {
                    if let ListedWait::Permit(wait) = wait {
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
                self.scripts.with_wait(&listed, &mut |wait| {
                    if let ListedWait::Permit(wait) = wait {
                        wait.granted = Some(permit);
                    }
                });
                entry.held += wanted;
                let (topic, count) = (topic.clone(), wanted);
                let mut held = self.held.borrow_mut();
                held.insert((listed.script, permit), Held { topic, count });
                woken.push(listed.script);
            }
            if entry.is_as_declared() {
                permits.remove(name);
            }
        }
        self.scripts.wake(&mut woken.into_iter());
    }

    /// Adds permits to those that there are. `None` if they are too many to count.
    pub(crate) fn add_permits(&self, name: &str, declared: u64, more: u64) -> Option<()> {
        let count = self.permit_count(name, declared).checked_add(more)?;
        self.set_permits(name, declared, count);
        Some(())
    }

    /// How many permits there are.
    pub(crate) fn permit_count(&self, name: &str, declared: u64) -> u64 {
        let permits = self.permits.borrow();
        let entry = permits.get(name).filter(|entry| entry.is_set);
        entry.map_or(declared, |entry| entry.count)
    }

    /// How many permits scripts have.
    pub(crate) fn taken_permits(&self, name: &str) -> u64 {
        let permits = self.permits.borrow();
        permits.get(name).map_or(0, |entry| entry.held)
    }

    /// How many permits are free: none while a script waits.
    pub(crate) fn free_permits(&self, name: &str, declared: u64) -> u64 {
        let permits = self.permits.borrow();
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
        let held = self.held.borrow();
        let of_it = held.iter().filter(|(_, held)| held.topic.as_ref() == name);
        of_it.map(|((script, _), _)| *script).collect()
    }
}
