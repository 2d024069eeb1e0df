//! Whether owners have coroutines, when these have ended, and the waits for that.

use crate::core::base::key::WaitKey;
use crate::core::owners::{OwnerIndex, OwnerKey, Owners, index_of};

/// The end of an owner that something awaits. Whether it has come is stored with the owner, as a
/// number: what has begun to wait may find the owner busy again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextEnd {
    /// How often the owner had ended before. `None` if the end has come.
    before: Option<u64>,
}

impl NextEnd {
    /// An end that has come.
    pub(crate) const COME: NextEnd = NextEnd { before: None };

    /// Whether the end had not come when it was looked up.
    pub(crate) fn is_open(self) -> bool {
        self.before.is_some()
    }
}

impl Owners {
    /// Whether the owner and the owners below it have no coroutine.
    pub(crate) fn is_empty(&self, owner: OwnerKey) -> bool {
        self.node(owner).is_none_or(|node| node.busy == 0)
    }

    /// Counts one more reason for which an owner is busy. Goes on upwards only while that
    /// makes an owner busy, so the usual cost is O(1).
    pub(super) fn note_busy(&mut self, owner: OwnerIndex) {
        let mut at = owner.some();
        while let Some(here) = at {
            let node = &mut self.nodes[here.get()];
            node.busy += 1;
            at = node.parent.some().filter(|_| node.busy == 1);
        }
    }

    /// Counts one reason less. Ends the waits for owners that are not busy any more.
    pub(super) fn note_idle(&mut self, owner: OwnerIndex) {
        let mut at = owner.some();
        while let Some(here) = at {
            let node = &mut self.nodes[here.get()];
            node.busy -= 1;
            if node.busy > 0 {
                return;
            }
            node.ends += 1;
            if let Some(awaited) = &mut node.awaited {
                self.ended.append(&mut awaited.ends);
            }
            at = node.parent.some();
        }
    }

    /// The next end of an owner. It has come if the owner has no coroutine.
    pub(crate) fn next_end(&self, owner: OwnerKey) -> NextEnd {
        if self.is_empty(owner) {
            NextEnd::COME
        } else {
            self.end_from_now(owner)
        }
    }

    /// The next end of an owner that is about to get its coroutines, or has them.
    pub(crate) fn end_from_now(&self, owner: OwnerKey) -> NextEnd {
        NextEnd {
            before: self.node(owner).map(|node| node.ends),
        }
    }

    /// Whether an end of an owner has come. If the owner has been removed, it has.
    pub(crate) fn has_come(&self, owner: OwnerKey, end: NextEnd) -> bool {
        let ends = self.node(owner).map(|node| node.ends);
        end.before.is_none() || end.before != ends
    }

    /// Adds a wait for the end of an owner that has coroutines. `is_live` says which waits
    /// have not been cancelled.
    pub(crate) fn add_end(
        &mut self,
        owner: OwnerKey,
        key: WaitKey,
        is_live: impl Fn(WaitKey) -> bool,
    ) {
        let Some(owner) = self.find(owner) else {
            return;
        };
        let ends = &mut self.nodes[owner.get()].awaited.get_or_insert_default().ends;
        // Stale keys leave before the list grows.
        if ends.len() == ends.capacity() {
            ends.retain(|&key| is_live(key));
        }
        ends.push(key);
    }

    /// Moves the waits for the end of owners that have no coroutine any more.
    pub(crate) fn take_ended(&mut self, ended: &mut Vec<WaitKey>) {
        ended.append(&mut self.ended);
    }

    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Calls `f` with each wait for the end of an owner.
    pub(crate) fn each_end(&self, mut f: impl FnMut(OwnerKey, WaitKey)) {
        for (index, node) in &self.nodes {
            let owner = self.key(OwnerIndex(index_of(index)));
            for &key in node.awaited.iter().flat_map(|awaited| &awaited.ends) {
                f(owner, key);
            }
        }
    }
}
