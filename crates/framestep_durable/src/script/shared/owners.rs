//! The owners of a runtime, by number.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use framestep::durable::Door;
use framestep::time::Clock;
use framestep::{Handle, Owner};

use crate::ids::{ClockId, OwnerId};
use crate::script::join_error::StopLine;

/// The owners that the host and scripts have made.
pub(crate) struct Owners {
    door: Door,
    executor: Handle,
    pub(crate) all: RefCell<BTreeMap<OwnerId, OwnerEntry>>,
    /// The number of the next one.
    pub(crate) next: Cell<u64>,
}

impl Owners {
    pub(crate) fn new(door: Door, executor: Handle) -> Self {
        Owners {
            door,
            executor,
            all: RefCell::default(),
            next: Cell::new(1),
        }
    }

    /// The number of a new owner.
    pub(crate) fn next_id(&self) -> OwnerId {
        let id = OwnerId(self.next.get());
        self.next.set(id.0 + 1);
        id
    }

    pub(crate) fn get(&self, id: OwnerId) -> Option<Rc<Owner>> {
        let owners = self.all.borrow();
        owners.get(&id).map(|entry| Rc::clone(&entry.owner))
    }

    /// Whether an owner and those below it have no script.
    pub(crate) fn is_empty(&self, id: OwnerId) -> bool {
        self.get(id).is_none_or(|owner| owner.is_empty())
    }

    /// Pauses or resumes an owner. Returns whether that changes anything.
    pub(crate) fn pause(&self, id: OwnerId, paused: bool) -> bool {
        let handle = {
            let mut owners = self.all.borrow_mut();
            let Some(entry) = owners.get_mut(&id) else {
                return false;
            };
            entry.is_paused = paused;
            entry.owner.handle()
        };
        if paused {
            handle.pause()
        } else {
            handle.resume()
        }
    }

    /// Stops the scripts of an owner. The call is at `place`.
    pub(crate) fn stop_all(&self, id: OwnerId, place: StopLine) {
        if let Some(owner) = self.get(id) {
            self.door.stop_all(&owner, place);
        }
    }

    /// Activates an owner, or deactivates it and stops its scripts. The call is at `place`.
    pub(crate) fn set_active(&self, id: OwnerId, active: bool, place: StopLine) {
        if let Some(entry) = self.all.borrow_mut().get_mut(&id) {
            entry.is_active = active;
        }
        if let Some(owner) = self.get(id) {
            self.door.set_active(&owner, active, place);
        }
    }

    /// Drops an owner and those below it. The call is at `place`. Returns `false` if there is no such
    /// owner.
    pub(crate) fn remove(&self, id: OwnerId, place: StopLine) -> bool {
        let Some(owner) = self.get(id) else {
            return false;
        };
        // It accepts no more scripts, and is there until the last one has ended: hooks and
        // destructors may take a save state, or make an owner below it.
        self.door.set_active(&owner, false, place);
        let dropped = {
            let mut owners = self.all.borrow_mut();
            let below = with_those_below(&owners, id);
            // The last one first: then none of them has owners below it.
            let dropped = below.iter().rev().filter_map(|id| owners.remove(id));
            dropped.collect::<Vec<_>>()
        };
        drop(dropped);
        true
    }

    /// Notes that a script of an owner has read the request, for that owner and those above it.
    pub(crate) fn note_heard(&self, owner: Option<OwnerId>) {
        let mut owners = self.all.borrow_mut();
        let mut at = owner;
        while let Some(entry) = at.and_then(|id| owners.get_mut(&id)) {
            entry.is_heard = true;
            at = entry.parent;
        }
    }

    /// An owner and those below it, each after those below it.
    pub(crate) fn below_first(&self, top: OwnerId) -> Vec<OwnerId> {
        let owners = self.all.borrow();
        let mut found = Vec::new();
        // Found from the top, the last one first.
        let mut open = vec![top];
        while let Some(id) = open.pop().filter(|_| owners.contains_key(&top)) {
            found.push(id);
            let below = owners.range(id..).filter(|(_, of)| of.parent == Some(id));
            open.extend(below.map(|(&id, _)| id));
        }
        found.reverse();
        found
    }

    /// Whether an owner is `top`, or below it.
    pub(crate) fn is_within(&self, owner: OwnerId, top: OwnerId) -> bool {
        let owners = self.all.borrow();
        let mut at = Some(owner);
        while let Some(id) = at {
            if id == top {
                return true;
            }
            at = owners.get(&id).and_then(|entry| entry.parent);
        }
        false
    }

    /// Makes an owner. `None` if there is no such parent.
    pub(crate) fn make(&self, parent: Option<OwnerId>, clock: Option<Clock>) -> Option<Owner> {
        let owners = self.all.borrow();
        match (parent, clock) {
            (Some(parent), Some(clock)) => Some(owners.get(&parent)?.owner.child_on(&clock)),
            (Some(parent), None) => Some(owners.get(&parent)?.owner.child()),
            (None, Some(clock)) => self.executor.owner_on(&clock),
            (None, None) => self.executor.owner(),
        }
    }
}

pub(crate) struct OwnerEntry {
    /// Shared with the calls that stop its scripts: their destructors may use all owners.
    pub(crate) owner: Rc<Owner>,
    pub(crate) parent: Option<OwnerId>,
    pub(crate) clock: Option<ClockId>,
    pub(crate) name: Option<String>,
    /// Whether a call of `pause` is in effect.
    pub(crate) is_paused: bool,
    /// Whether it is active, apart from the owners above it.
    pub(crate) is_active: bool,
    /// Whether a script of it, or of an owner below it, has read the latest request to stop.
    pub(crate) is_heard: bool,
}

/// An owner and those below it.
pub(crate) fn with_those_below(
    owners: &BTreeMap<OwnerId, OwnerEntry>,
    top: OwnerId,
) -> BTreeSet<OwnerId> {
    let mut below = BTreeSet::from([top]);
    // An owner is made after the one above it.
    for (&id, entry) in owners.range(top..) {
        if entry.parent.is_some_and(|parent| below.contains(&parent)) {
            below.insert(id);
        }
    }
    below
}
