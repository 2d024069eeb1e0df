//! Who owns what: a tree of owners, each with a list of coroutines.
//!
//! Plain data: nothing here stops or polls anything. What has to be stopped or
//! paused is handed out as a list, since user code may change all of this while
//! the list is worked through.

#![forbid(unsafe_code)]

use std::rc::Rc;

use slab::Slab;

use crate::clock::ClockState;
use crate::key::TaskKey;

/// Index of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerIndex(u32);

impl OwnerIndex {
    const NONE: OwnerIndex = OwnerIndex(u32::MAX);

    fn some(self) -> Option<OwnerIndex> {
        (self != Self::NONE).then_some(self)
    }

    fn get(self) -> usize {
        self.0 as usize
    }
}

/// Ends a list of members.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with a name"
)]
struct Node {
    parent: OwnerIndex,
    first_child: OwnerIndex,
    last_child: OwnerIndex,
    /// Its neighbours among the children of its parent.
    previous: OwnerIndex,
    next: OwnerIndex,
    first_member: u32,
    last_member: u32,
    /// What its coroutines count on, unless it is the game clock.
    clock: Option<Rc<ClockState>>,
    /// Paused itself.
    paused: bool,
    /// Paused, itself or by an owner above.
    held: bool,
    inactive: bool,
    /// It was dropped, or an owner above it was.
    gone: bool,
}

/// One coroutine in the list of its owner.
#[derive(Debug)]
struct Member {
    task: TaskKey,
    /// `NONE`: that one is gone.
    owner: OwnerIndex,
    previous: u32,
    next: u32,
}

/// All owners of an executor.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    nodes: Slab<Node>,
    members: Slab<Member>,
}

fn index_of(index: usize) -> u32 {
    u32::try_from(index).expect("more than 2^32 of one kind")
}

impl Owners {
    pub(crate) fn insert(
        &mut self,
        parent: Option<OwnerIndex>,
        clock: Option<Rc<ClockState>>,
    ) -> OwnerIndex {
        // A coroutine whose owner is gone, and which is not yet, may ask for one.
        let orphan = parent.is_some_and(|parent| !self.nodes.contains(parent.get()));
        let parent = parent.filter(|_| !orphan);
        let above = parent.map(|parent| &self.nodes[parent.get()]);
        let node = Node {
            parent: parent.unwrap_or(OwnerIndex::NONE),
            first_child: OwnerIndex::NONE,
            last_child: OwnerIndex::NONE,
            previous: above.map_or(OwnerIndex::NONE, |above| above.last_child),
            next: OwnerIndex::NONE,
            first_member: NONE,
            last_member: NONE,
            clock,
            paused: false,
            held: above.is_some_and(|above| above.held),
            inactive: false,
            gone: orphan || above.is_some_and(|above| above.gone),
        };
        let previous = node.previous;
        let owner = OwnerIndex(index_of(self.nodes.insert(node)));
        if let Some(parent) = parent {
            match previous.some() {
                Some(previous) => self.nodes[previous.get()].next = owner,
                None => self.nodes[parent.get()].first_child = owner,
            }
            self.nodes[parent.get()].last_child = owner;
        }
        owner
    }

    /// The owner and those above it.
    fn upwards(&self, owner: OwnerIndex) -> impl Iterator<Item = &Node> {
        let node = self.nodes.get(owner.get());
        std::iter::successors(node, |node| self.nodes.get(node.parent.get()))
    }

    /// Whether something may be spawned on the owner.
    pub(crate) fn is_open(&self, owner: OwnerIndex) -> bool {
        let node = self.nodes.get(owner.get());
        node.is_some_and(|node| !node.gone) && self.is_active(owner)
    }

    /// Whether neither the owner nor one above it has been made inactive.
    pub(crate) fn is_active(&self, owner: OwnerIndex) -> bool {
        self.upwards(owner).all(|node| !node.inactive)
    }

    /// What the owner's coroutines count on, unless it is the game clock.
    pub(crate) fn clock(&self, owner: OwnerIndex) -> Option<&Rc<ClockState>> {
        self.nodes.get(owner.get())?.clock.as_ref()
    }

    /// Whether the owner or one above it is paused.
    pub(crate) fn is_held(&self, owner: OwnerIndex) -> bool {
        let node = self.nodes.get(owner.get());
        node.is_some_and(|node| node.held)
    }

    pub(crate) fn set_active(&mut self, owner: OwnerIndex, active: bool) {
        self.nodes[owner.get()].inactive = !active;
    }

    /// Adds a coroutine to the end of the owner's list.
    pub(crate) fn add_member(&mut self, owner: OwnerIndex, task: TaskKey) -> u32 {
        let node = &mut self.nodes[owner.get()];
        let previous = node.last_member;
        let member = index_of(self.members.insert(Member {
            task,
            owner,
            previous,
            next: NONE,
        }));
        node.last_member = member;
        if previous == NONE {
            node.first_member = member;
        } else {
            self.members[previous as usize].next = member;
        }
        member
    }

    pub(crate) fn remove_member(&mut self, member: u32) {
        let member = self.members.remove(member as usize);
        let Some(owner) = member.owner.some() else {
            return;
        };
        match self.members.get_mut(member.previous as usize) {
            Some(previous) => previous.next = member.next,
            None => self.nodes[owner.get()].first_member = member.next,
        }
        match self.members.get_mut(member.next as usize) {
            Some(next) => next.previous = member.previous,
            None => self.nodes[owner.get()].last_member = member.previous,
        }
    }

    /// Whose a coroutine is. An owner that is gone still counts as one, that
    /// takes nothing.
    pub(crate) fn owner_of(&self, member: u32) -> OwnerIndex {
        self.members[member as usize].owner
    }

    /// Whether the owner and those below it have no coroutine.
    pub(crate) fn is_empty(&self, owner: OwnerIndex) -> bool {
        let mut below = self.below(owner);
        below.all(|owner| self.nodes[owner.get()].first_member == NONE)
    }

    /// All coroutines of the owner and of those below it: the children's first.
    pub(crate) fn tasks(&self, owner: OwnerIndex, tasks: &mut Vec<TaskKey>) {
        for owner in self.below(owner) {
            tasks.extend(self.members_of(owner).map(|member| member.task));
        }
    }

    fn members_of(&self, owner: OwnerIndex) -> impl Iterator<Item = &Member> {
        let first = self
            .members
            .get(self.nodes[owner.get()].first_member as usize);
        std::iter::successors(first, |member| self.members.get(member.next as usize))
    }

    /// The owner and those below it, each after its children.
    fn below(&self, owner: OwnerIndex) -> impl Iterator<Item = OwnerIndex> {
        let first = self.first_leaf(owner);
        std::iter::successors(Some(first), move |&at| {
            if at == owner {
                return None;
            }
            let node = &self.nodes[at.get()];
            match node.next.some() {
                Some(next) => Some(self.first_leaf(next)),
                None => Some(node.parent),
            }
        })
    }

    fn first_leaf(&self, owner: OwnerIndex) -> OwnerIndex {
        let mut leaf = owner;
        while let Some(child) = self.nodes[leaf.get()].first_child.some() {
            leaf = child;
        }
        leaf
    }

    /// Pauses or resumes an owner; collects the coroutines for which that makes
    /// a difference, those of a parent first. `false`: it was so already.
    pub(crate) fn set_paused(
        &mut self,
        owner: OwnerIndex,
        paused: bool,
        tasks: &mut Vec<TaskKey>,
    ) -> bool {
        if self.nodes[owner.get()].paused == paused {
            return false;
        }
        self.nodes[owner.get()].paused = paused;
        let held_above = self.upwards(owner).skip(1).any(|above| above.held);
        if held_above {
            return true;
        }
        let mut at = Some(owner);
        while let Some(here) = at {
            // One that is paused itself stays so, and so does all below it.
            let changes = here == owner || !self.nodes[here.get()].paused;
            if changes {
                self.nodes[here.get()].held = paused;
                tasks.extend(self.members_of(here).map(|member| member.task));
            }
            at = self.next_in_order(here, owner, changes);
        }
        true
    }

    /// The owner after `here` in a walk through all below `top`, parents first.
    fn next_in_order(
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

    /// Removes an owner: it and those below it take nothing any more. Collects
    /// their coroutines, the children's first.
    pub(crate) fn remove(&mut self, owner: OwnerIndex, tasks: &mut Vec<TaskKey>) {
        self.tasks(owner, tasks);
        let mut at = Some(owner);
        while let Some(here) = at {
            self.nodes[here.get()].gone = true;
            at = self.next_in_order(here, owner, true);
        }
        self.orphan_members(owner);
        self.orphan_children(owner);
        let node = self.nodes.remove(owner.get());
        let Some(parent) = node.parent.some() else {
            return;
        };
        match node.previous.some() {
            Some(previous) => self.nodes[previous.get()].next = node.next,
            None => self.nodes[parent.get()].first_child = node.next,
        }
        match node.next.some() {
            Some(next) => self.nodes[next.get()].previous = node.previous,
            None => self.nodes[parent.get()].last_child = node.previous,
        }
    }

    fn orphan_members(&mut self, owner: OwnerIndex) {
        let mut at = self.nodes[owner.get()].first_member;
        while let Some(member) = self.members.get_mut(at as usize) {
            at = member.next;
            member.owner = OwnerIndex::NONE;
        }
    }

    fn orphan_children(&mut self, owner: OwnerIndex) {
        let mut at = self.nodes[owner.get()].first_child.some();
        while let Some(child) = at {
            let node = &mut self.nodes[child.get()];
            at = node.next.some();
            node.parent = OwnerIndex::NONE;
            node.previous = OwnerIndex::NONE;
            node.next = OwnerIndex::NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnerIndex, Owners};
    use crate::key::TaskKey;

    fn key(index: u32) -> TaskKey {
        TaskKey {
            index,
            generation: 1,
        }
    }

    fn indices(tasks: &[TaskKey]) -> Vec<u32> {
        tasks.iter().map(|key| key.index).collect()
    }

    /// ```text
    /// root 0, 1 -+- left 10 --- leaf 100
    ///            +- middle (no coroutine)
    ///            +- right 20
    /// ```
    fn family() -> (Owners, [OwnerIndex; 5]) {
        let mut owners = Owners::default();
        let root = owners.insert(None, None);
        let left = owners.insert(Some(root), None);
        let middle = owners.insert(Some(root), None);
        let right = owners.insert(Some(root), None);
        let leaf = owners.insert(Some(left), None);
        for (owner, index) in [(root, 0), (right, 20), (left, 10), (leaf, 100), (root, 1)] {
            owners.add_member(owner, key(index));
        }
        (owners, [root, left, middle, right, leaf])
    }

    #[test]
    fn coroutines_of_children_come_first_each_in_its_order() {
        let (owners, [root, left, middle, ..]) = family();
        let mut tasks = Vec::new();
        owners.tasks(root, &mut tasks);
        assert_eq!(indices(&tasks), [100, 10, 20, 0, 1]);
        tasks.clear();
        owners.tasks(left, &mut tasks);
        assert_eq!(indices(&tasks), [100, 10]);
        assert!(owners.is_empty(middle) && !owners.is_empty(left));
    }

    #[test]
    fn only_those_whose_state_changes_are_paused_and_resumed() {
        let (mut owners, [root, left, _, right, leaf]) = family();
        let mut changed = |owner, paused| {
            let mut tasks = Vec::new();
            let new = owners.set_paused(owner, paused, &mut tasks);
            (new, indices(&tasks))
        };
        assert_eq!(changed(left, true), (true, vec![10, 100]));
        assert_eq!(changed(left, true), (false, vec![]));
        assert_eq!(changed(root, true), (true, vec![0, 1, 20]));
        assert_eq!(changed(right, true), (true, vec![]));
        assert_eq!(changed(left, false), (true, vec![]));
        assert_eq!(changed(root, false), (true, vec![0, 1, 10, 100]));
        assert_eq!(changed(right, false), (true, vec![20]));
        assert!(!owners.is_held(leaf) && !owners.is_held(right));
    }

    #[test]
    fn what_was_paused_below_stays_so() {
        let (mut owners, [root, left, _, _, leaf]) = family();
        let mut tasks = Vec::new();
        owners.set_paused(leaf, true, &mut tasks);
        owners.set_paused(root, true, &mut tasks);
        tasks.clear();
        owners.set_paused(root, false, &mut tasks);
        assert_eq!(indices(&tasks), [0, 1, 10, 20]);
        assert!(owners.is_held(leaf) && !owners.is_held(left));
    }

    #[test]
    fn members_leave_from_anywhere_in_the_list() {
        for leaving in 0..3 {
            let mut owners = Owners::default();
            let owner = owners.insert(None, None);
            let members = [0, 1, 2].map(|index| owners.add_member(owner, key(index)));
            owners.remove_member(members[leaving as usize]);
            let mut tasks = Vec::new();
            owners.tasks(owner, &mut tasks);
            let left: Vec<u32> = (0..3).filter(|&index| index != leaving).collect();
            assert_eq!(indices(&tasks), left);
            owners.add_member(owner, key(7));
            tasks.clear();
            owners.tasks(owner, &mut tasks);
            assert_eq!(indices(&tasks).last(), Some(&7));
        }
    }

    #[test]
    fn what_is_below_an_owner_that_was_removed_takes_nothing() {
        let (mut owners, [root, left, middle, right, leaf]) = family();
        let mut tasks = Vec::new();
        owners.remove(left, &mut tasks);
        assert_eq!(indices(&tasks), [100, 10]);
        assert!(owners.is_open(root) && !owners.is_open(leaf));
        tasks.clear();
        owners.tasks(root, &mut tasks);
        assert_eq!(indices(&tasks), [20, 0, 1]);
        // What is left is in order: the siblings in any order, the leaf last.
        for owner in [right, middle, root, leaf] {
            owners.remove(owner, &mut Vec::new());
        }
        assert!(owners.nodes.is_empty());
    }

    #[test]
    fn inactive_owners_above_count() {
        let (mut owners, [root, left, _, _, leaf]) = family();
        owners.set_active(left, false);
        assert!(!owners.is_open(leaf) && owners.is_open(root));
        owners.set_active(left, true);
        assert!(owners.is_open(leaf));
    }
}
