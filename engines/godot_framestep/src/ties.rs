//! Owners of scripts, one for each node that has scripts. It needs no engine.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use framestep::{Handle, Owner, OwnerHandle};

/// The owner of each node, by the node's key.
pub(crate) struct Ties<K, N> {
    scripts: Handle,
    all: RefCell<BTreeMap<K, Tie<N>>>,
    /// A buffer for keys, which is reused.
    keys: Cell<Vec<K>>,
}

struct Tie<N> {
    owner: Owner,
    node: N,
    is_paused: bool,
}

impl<K: Copy + Ord, N> Ties<K, N> {
    pub(crate) fn new(scripts: Handle) -> Self {
        Ties {
            scripts,
            all: RefCell::default(),
            keys: Cell::default(),
        }
    }

    /// The owner of `key`, and whether it is new. `None` if the executor is
    /// gone.
    pub(crate) fn tie(&self, key: K, node: impl FnOnce() -> N) -> Option<(OwnerHandle, bool)> {
        if let Some(owner) = self.handle_of(key) {
            return Some((owner, false));
        }
        let (owner, node) = (self.scripts.owner()?, node());
        let handle = owner.handle();
        let is_paused = false;
        let tie = Tie {
            owner,
            node,
            is_paused,
        };
        self.all.borrow_mut().insert(key, tie);
        Some((handle, true))
    }

    /// Ends all scripts of `key`.
    pub(crate) fn end(&self, key: K) {
        let tie = self.all.borrow_mut().remove(&key);
        // Destructors of scripts run here, and may tie and end others.
        drop(tie);
    }

    /// Stops all scripts of `key`; new ones can be added at once.
    pub(crate) fn stop(&self, key: K) {
        let owner = self.handle_of(key);
        if let Some(owner) = owner {
            owner.stop_all();
        }
    }

    /// Pauses the owners of the nodes that `is_paused` selects, and resumes the others. It must
    /// not call user code. This costs a call for each node, as Godot does not tell when a node
    /// is paused.
    pub(crate) fn sync(&self, is_paused: impl Fn(&N) -> bool) {
        let mut keys = self.keys.take();
        for (&key, tie) in self.all.borrow_mut().iter_mut() {
            let is_paused = is_paused(&tie.node);
            if is_paused != tie.is_paused {
                tie.is_paused = is_paused;
                keys.push(key);
            }
        }
        // Hooks of the executor may do anything.
        for key in keys.drain(..) {
            self.set_paused(key);
        }
        self.keys.set(keys);
    }

    /// The same for one of them.
    pub(crate) fn sync_one(&self, key: K, is_paused: bool) {
        if let Some(tie) = self.all.borrow_mut().get_mut(&key) {
            tie.is_paused = is_paused;
        }
        self.set_paused(key);
    }

    fn set_paused(&self, key: K) {
        let tied = |tie: &Tie<N>| (tie.owner.handle(), tie.is_paused);
        let tied = self.all.borrow().get(&key).map(tied);
        match tied {
            Some((owner, true)) => drop(owner.pause()),
            Some((owner, false)) => drop(owner.resume()),
            None => {}
        }
    }

    fn handle_of(&self, key: K) -> Option<OwnerHandle> {
        self.all.borrow().get(&key).map(|tie| tie.owner.handle())
    }
}

#[cfg(test)]
mod tests;
