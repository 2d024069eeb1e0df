//! Owners of scripts, one for each node that has scripts. It needs no engine.
//!
//! A node is *asked* before each frame and step whether it is paused, until it is *watched*: then
//! its watch says when to ask, and scripts that sleep cost nothing. A watch takes longer to make
//! than many questions, so only nodes whose scripts have lived for some time are watched.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem;

use framestep::task::OwnerHandle;
use framestep::{Handle, Owner};

/// The owner of each node, by the node's key.
pub(crate) struct Ties<K, N> {
    scripts: Handle,
    all: RefCell<BTreeMap<K, Tie<N>>>,
    /// The nodes that are not watched, the oldest first, and some that have ended.
    asked: RefCell<Vec<Asked<K>>>,
    /// The nodes to ask once, because their watches have seen something.
    seen: RefCell<Vec<K>>,
    /// A buffer for keys, which is reused.
    keys: Cell<Vec<K>>,
}

struct Tie<N> {
    owner: Owner,
    node: N,
    is_paused: bool,
    is_watched: bool,
}

struct Asked<K> {
    key: K,
    /// For how many frames.
    age: u32,
}

/// The age, in frames, at which a node is watched.
const OLD: u32 = 60;
/// How many nodes are watched in a frame at most, so that no frame takes long.
const WATCHED_IN_A_FRAME: usize = 16;

impl<K: Copy + Ord, N> Ties<K, N> {
    pub(crate) fn new(scripts: Handle) -> Self {
        Ties {
            scripts,
            all: RefCell::default(),
            asked: RefCell::default(),
            seen: RefCell::default(),
            keys: Cell::default(),
        }
    }

    /// The owner of `key`, and whether it is new: then `node` returns the node, and a name for
    /// snapshots. `None` if the executor is gone.
    pub(crate) fn tie(
        &self,
        key: K,
        node: impl FnOnce() -> (N, Option<String>),
    ) -> Option<(OwnerHandle, bool)> {
        if let Some(owner) = self.handle_of(key) {
            return Some((owner, false));
        }
        let mut owner = self.scripts.owner()?;
        let (node, name) = node();
        if let Some(name) = name {
            owner = owner.named(name);
        }
        let handle = owner.handle();
        let tie = Tie {
            owner,
            node,
            is_paused: false,
            is_watched: false,
        };
        self.all.borrow_mut().insert(key, tie);
        self.asked.borrow_mut().push(Asked { key, age: 0 });
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
    /// not call user code. This costs a call for each node that is asked.
    pub(crate) fn sync(&self, is_paused: impl Fn(&N) -> bool) {
        let mut changed = self.keys.take();
        {
            let mut all = self.all.borrow_mut();
            let mut ask = |key: K, is_watched: bool| {
                let Some(tie) = all.get_mut(&key) else {
                    return false;
                };
                let is_paused = is_paused(&tie.node);
                if mem::replace(&mut tie.is_paused, is_paused) != is_paused {
                    changed.push(key);
                }
                tie.is_watched == is_watched
            };
            for key in self.seen.borrow_mut().drain(..) {
                ask(key, true);
            }
            // A node that has ended and is tied again is in the list once more, as a younger one.
            self.asked
                .borrow_mut()
                .retain(|asked| ask(asked.key, false));
        }
        // Hooks of the executor may do anything.
        for key in changed.drain(..) {
            self.set_paused(key);
        }
        self.keys.set(changed);
    }

    /// Counts a frame. Returns the nodes to watch from now on: they are no longer asked.
    pub(crate) fn grow_old(&self) -> Vec<(K, N)>
    where
        N: Clone,
    {
        let mut asked = self.asked.borrow_mut();
        for asked in asked.iter_mut() {
            asked.age += 1;
        }
        let old = asked.iter().take_while(|asked| asked.age > OLD).count();
        if old == 0 {
            return Vec::new();
        }
        let mut all = self.all.borrow_mut();
        let old = asked.drain(..old.min(WATCHED_IN_A_FRAME));
        old.filter_map(|asked| {
            let tie = all.get_mut(&asked.key)?;
            let is_new = !mem::replace(&mut tie.is_watched, true);
            is_new.then(|| (asked.key, tie.node.clone()))
        })
        .collect()
    }

    /// Asks `key` before the next frame or step: its watch has seen something.
    pub(crate) fn ask_soon(&self, key: K) {
        self.seen.borrow_mut().push(key);
    }

    /// Asks `key` from now on, if it is watched: its watch is gone.
    pub(crate) fn unwatch(&self, key: K) {
        if let Some(tie) = self.all.borrow_mut().get_mut(&key)
            && mem::take(&mut tie.is_watched)
        {
            self.asked.borrow_mut().push(Asked { key, age: 0 });
        }
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
