//! Owners of scripts, one for each node that has scripts. It needs no engine.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use framestep::{Handle, Owner, OwnerHandle};

/// The owner of each node, by the node's key.
pub(crate) struct Ties<K> {
    scripts: Handle,
    owners: RefCell<BTreeMap<K, Owner>>,
    /// A buffer for keys, which is reused.
    keys: Cell<Vec<K>>,
}

impl<K: Copy + Ord> Ties<K> {
    pub(crate) fn new(scripts: Handle) -> Self {
        Ties {
            scripts,
            owners: RefCell::default(),
            keys: Cell::default(),
        }
    }

    /// The owner of `key`, and whether it is new. `None` if the executor is
    /// gone.
    pub(crate) fn tie(&self, key: K) -> Option<(OwnerHandle, bool)> {
        let mut owners = self.owners.borrow_mut();
        if let Some(owner) = owners.get(&key) {
            return Some((owner.handle(), false));
        }
        let owner = self.scripts.owner()?;
        let handle = owner.handle();
        owners.insert(key, owner);
        Some((handle, true))
    }

    /// Ends all scripts of `key`.
    pub(crate) fn end(&self, key: K) {
        let owner = self.owners.borrow_mut().remove(&key);
        // Destructors of scripts run here, and may tie and end others.
        drop(owner);
    }

    /// Stops all scripts of `key`; new ones can be added at once.
    pub(crate) fn stop(&self, key: K) {
        let owner = self.handle_of(key);
        if let Some(owner) = owner {
            owner.stop_all();
        }
    }

    /// Pauses the owners that `is_paused` selects, and resumes the others.
    pub(crate) fn set_paused(&self, is_paused: impl Fn(K) -> bool) {
        let mut keys = self.keys.take();
        keys.extend(self.owners.borrow().keys());
        for key in keys.drain(..) {
            let Some(owner) = self.handle_of(key) else {
                continue;
            };
            if is_paused(key) {
                owner.pause();
            } else {
                owner.resume();
            }
        }
        self.keys.set(keys);
    }

    fn handle_of(&self, key: K) -> Option<OwnerHandle> {
        self.owners.borrow().get(&key).map(Owner::handle)
    }
}

#[cfg(test)]
mod tests;
