//! Walks through the tree of owners, and the way out of it.

use std::mem::replace;

use crate::core::owners::{OwnerIndex, OwnerKey, Owners};

impl Owners {
    /// Whether `owner` is `top`, or below it. Walks no further up than `top` is: an owner above
    /// `top`, as that of the coroutine that awaits a group, takes no walk.
    pub(crate) fn is_within(&self, owner: OwnerKey, top: OwnerKey) -> bool {
        let (Some(mut at), Some(depth)) = (self.find(owner), self.node(top).map(|top| top.depth))
        else {
            return false;
        };
        loop {
            let node = &self.nodes[at.get()];
            if node.depth <= depth {
                return at == top.index;
            }
            let Some(parent) = node.parent.some() else {
                return false;
            };
            at = parent;
        }
    }

    /// The owner and the owners below it, each after its children.
    pub(super) fn below(&self, owner: OwnerKey) -> impl Iterator<Item = OwnerIndex> {
        let first = self.find(owner).map(|owner| self.first_leaf(owner));
        std::iter::successors(first, move |&at| self.next_upwards(at, owner.index))
    }

    /// The owner after `here` in a walk through the owners below `top`, parents
    /// last.
    pub(super) fn next_upwards(&self, here: OwnerIndex, top: OwnerIndex) -> Option<OwnerIndex> {
        if here == top {
            return None;
        }
        let node = &self.nodes[here.get()];
        match node.next.some() {
            Some(next) => Some(self.first_leaf(next)),
            None => Some(node.parent),
        }
    }

    pub(super) fn first_leaf(&self, owner: OwnerIndex) -> OwnerIndex {
        let mut leaf = owner;
        while let Some(child) = self.nodes[leaf.get()].first_child.some() {
            leaf = child;
        }
        leaf
    }

    /// The owner after `here` in a walk through the owners below `top`, parents
    /// first.
    pub(super) fn next_in_order(
        &self,
        here: OwnerIndex,
        top: OwnerIndex,
        descend: bool,
    ) -> Option<OwnerIndex> {
        if descend {
            if let Some(child) = self.nodes[here.get()].first_child.some() {
                return Some(child);
            }
        }
        let mut from = here;
        while from != top {
            let node = &self.nodes[from.get()];
            if let Some(next) = node.next.some() {
                return Some(next);
            }
            from = node.parent;
        }
        None
    }

    /// Takes an owner out of the tree, unless the owner has left it.
    pub(super) fn unlink(&mut self, owner: OwnerIndex) {
        let node = &mut self.nodes[owner.get()];
        let parent = replace(&mut node.parent, OwnerIndex::NONE);
        let previous = replace(&mut node.previous, OwnerIndex::NONE);
        let next = replace(&mut node.next, OwnerIndex::NONE);
        let Some(parent) = parent.some() else {
            return;
        };
        match previous.some() {
            Some(previous) => self.nodes[previous.get()].next = next,
            None => self.nodes[parent.get()].first_child = next,
        }
        match next.some() {
            Some(next) => self.nodes[next.get()].previous = previous,
            None => self.nodes[parent.get()].last_child = previous,
        }
    }
}
