//! The table of owners: a tree. Each owner has a list of coroutines.
//!
//! The table only stores data: it stops and polls no coroutine. Its functions return
//! lists of the coroutines to stop or pause, because user code may change the table while
//! the caller goes through a list.

mod asks;
mod ends;
mod states;
mod tree;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::rc::Rc;

use slab::Slab;

use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::task::{Flags, Task};
use crate::time::ClockState;

use self::states::Inherited;

pub(crate) use self::asks::Asks;
pub(crate) use self::ends::NextEnd;
pub(crate) use self::states::PauseChange;

/// Names an owner. The key of an owner that has been removed is stale. The table treats a
/// stale key like that of an owner that has no coroutines and accepts none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerKey {
    index: OwnerIndex,
    /// The number of the owner, which no other owner of the executor has ever had.
    serial: u64,
}

impl OwnerKey {
    /// The key of no owner.
    pub(crate) const NONE: OwnerKey = OwnerKey {
        index: OwnerIndex::NONE,
        serial: 0,
    };

    /// The index of the owner in the table. A later owner may have the same index.
    pub(crate) fn index(self) -> usize {
        self.index.get()
    }
}

/// The index of an owner. Only the table uses indices: user code may remove an owner, and
/// another owner may get its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnerIndex(u32);

impl OwnerIndex {
    const NONE: OwnerIndex = OwnerIndex(u32::MAX);

    fn some(self) -> Option<OwnerIndex> {
        (self != Self::NONE).then_some(self)
    }

    fn get(self) -> usize {
        self.0 as usize
    }
}

/// The end of a list of members.
const NONE: u32 = u32::MAX;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is a fact of its own"
)]
struct Node {
    parent: OwnerIndex,
    first_child: OwnerIndex,
    last_child: OwnerIndex,
    /// The previous child of the same parent.
    previous: OwnerIndex,
    /// The next child of the same parent.
    next: OwnerIndex,
    /// How many owners are above it.
    depth: u32,
    first_member: u32,
    last_member: u32,
    /// How many members have left the list because they are about to be dropped, or are
    /// being dropped.
    ending: u32,
    /// Counts the owner itself if it has a coroutine, and each child that is busy. The owner
    /// is busy if this is not zero.
    busy: u32,
    /// How often the owner has ceased to be busy: how often it has *ended*.
    ends: u64,
    /// What few owners have.
    awaited: Option<Box<Awaited>>,
    /// The clock of the coroutines, unless that is the game clock.
    clock: Option<Rc<ClockState>>,
    name: Option<Cow<'static, str>>,
    /// Whether a call of `pause` is in effect.
    set_to_pause: bool,
    /// How many guards hold the owner paused.
    holds: usize,
    /// The owner itself is paused if `set_to_pause` is set or `holds` is not zero.
    paused: Inherited,
    inactive: Inherited,
    /// Whether the owner is that of a behaviour that is being removed.
    retired: bool,
    /// Whether the owner or an owner above it was dropped. It then refuses coroutines, and
    /// leaves the tree once it has no coroutine and no children.
    gone: bool,
    /// Whether the owner itself was dropped. It stays until its coroutines have ended.
    dropped: bool,
    /// The number of the owner among all owners that the executor has had.
    serial: u64,
}

impl Node {
    /// Whether the owner has no coroutine. Coroutines that are being dropped count.
    fn is_empty(&self) -> bool {
        self.first_member == NONE && self.ending == 0
    }
}

/// What waits for an owner.
#[derive(Default)]
struct Awaited {
    /// The waits for its end. Keys of waits that were cancelled are stale.
    ends: Vec<WaitKey>,
    /// The waits of its scripts for a request to stop.
    asks: Option<Rc<Asks>>,
    /// Whether a script that the latest request concerns has read it or an earlier one: one of
    /// this owner or of an owner below it. Then the same holds for the owners above.
    is_heard: bool,
}

/// A coroutine in the list of its owner.
#[derive(Debug)]
struct Member {
    task: TaskKey,
    /// The number of the coroutine among all members, in the order they were spawned.
    spawned: u64,
    owner: OwnerIndex,
    previous: u32,
    next: u32,
    /// The owner that has been requested to stop, if the coroutine is among those that are concerned:
    /// its owner or one above it. The topmost one, if several have been asked. It stays in the
    /// tree as long as it has coroutines, so its index is not used again.
    asked: OwnerIndex,
    ending: bool,
    /// Whether it has read a request to stop.
    has_heard: bool,
}

/// All owners of an executor.
#[derive(Default)]
pub(crate) struct Owners {
    nodes: Slab<Node>,
    members: Slab<Member>,
    /// How many members the executor has had.
    spawned: u64,
    /// How many owners the executor has had.
    inserted: u64,
    /// The waits for the end of owners that have no coroutine any more, in order.
    ended: Vec<WaitKey>,
    /// Whether coroutines have been requested to stop.
    asks: bool,
    /// The waits for that of coroutines without an owner.
    ownerless: Option<Rc<Asks>>,
}

fn index_of(index: usize) -> u32 {
    u32::try_from(index).expect("more than 2^32 of one kind")
}

impl Owners {
    pub(crate) fn insert(
        &mut self,
        parent: Option<OwnerKey>,
        clock: Option<Rc<ClockState>>,
    ) -> OwnerKey {
        self.inserted += 1;
        let above = parent.and_then(|parent| self.node(parent));
        let gone = above.map_or(parent.is_some(), |above| above.gone);
        let passed_on = |state: fn(&Node) -> Inherited| Inherited {
            own: false,
            whole: above.is_some_and(|above| state(above).whole),
        };
        let (paused, inactive) = (
            passed_on(|node| node.paused),
            passed_on(|node| node.inactive),
        );
        // A parent that is gone leaves the tree.
        let parent = parent.filter(|_| !gone).map(|parent| parent.index);
        let depth = match (parent, above) {
            (Some(_), Some(above)) => above.depth + 1,
            _ => 0,
        };
        let previous = match (parent, above) {
            (Some(_), Some(above)) => above.last_child,
            _ => OwnerIndex::NONE,
        };
        let owner = OwnerIndex(index_of(self.nodes.insert(Node {
            parent: parent.unwrap_or(OwnerIndex::NONE),
            first_child: OwnerIndex::NONE,
            last_child: OwnerIndex::NONE,
            previous,
            next: OwnerIndex::NONE,
            depth,
            first_member: NONE,
            last_member: NONE,
            ending: 0,
            busy: 0,
            ends: 0,
            awaited: None,
            clock,
            name: None,
            set_to_pause: false,
            holds: 0,
            paused,
            inactive,
            retired: false,
            gone,
            dropped: false,
            serial: self.inserted,
        })));
        if let Some(parent) = parent {
            match previous.some() {
                Some(previous) => self.nodes[previous.get()].next = owner,
                None => self.nodes[parent.get()].first_child = owner,
            }
            self.nodes[parent.get()].last_child = owner;
        }
        self.key(owner)
    }

    fn key(&self, index: OwnerIndex) -> OwnerKey {
        let serial = self.nodes[index.get()].serial;
        OwnerKey { index, serial }
    }

    fn node(&self, owner: OwnerKey) -> Option<&Node> {
        let node = self.nodes.get(owner.index.get());
        node.filter(|node| node.serial == owner.serial)
    }

    /// The index of an owner that has not been removed.
    fn find(&self, owner: OwnerKey) -> Option<OwnerIndex> {
        self.node(owner).map(|_| owner.index)
    }

    /// Whether neither the owner nor an owner above it has been dropped.
    pub(crate) fn is_alive(&self, owner: OwnerKey) -> bool {
        self.node(owner).is_some_and(|node| !node.gone)
    }

    /// Whether the owner, or an owner above it, has been dropped or [retired](Self::retire).
    pub(crate) fn is_leaving(&self, owner: OwnerKey) -> bool {
        let mut node = self.node(owner);
        while let Some(at) = node {
            if at.gone || at.retired {
                return true;
            }
            node = at.parent.some().map(|parent| &self.nodes[parent.get()]);
        }
        !self.is_alive(owner)
    }

    /// Makes the owner of a behaviour that is being removed inactive.
    pub(crate) fn retire(&mut self, owner: OwnerKey) {
        self.set_active(owner, false);
        if let Some(owner) = self.find(owner) {
            self.nodes[owner.get()].retired = true;
        }
    }

    /// Whether coroutines may be added to the owner: neither the owner nor an owner
    /// above it is inactive or gone.
    pub(crate) fn is_open(&self, owner: OwnerKey) -> bool {
        let node = self.node(owner);
        node.is_some_and(|node| !node.gone && !node.inactive.whole)
    }

    /// The clock of the owner's coroutines, unless that is the game clock.
    pub(crate) fn clock(&self, owner: OwnerKey) -> Option<&Rc<ClockState>> {
        self.node(owner)?.clock.as_ref()
    }

    /// Sets the name, and returns the previous one.
    pub(crate) fn set_name(
        &mut self,
        owner: OwnerKey,
        name: Cow<'static, str>,
    ) -> Option<Cow<'static, str>> {
        let owner = self.find(owner)?;
        self.nodes[owner.get()].name.replace(name)
    }

    /// The name of the owner. Without a name: its number, after the name of the closest
    /// owner above that has one.
    pub(crate) fn label(&self, owner: OwnerKey) -> String {
        let named = self.named_label(owner);
        named.unwrap_or_else(|| format!("#{}", owner.index.0))
    }

    /// The same, unless neither the owner nor one above it has a name.
    pub(crate) fn named_label(&self, owner: OwnerKey) -> Option<String> {
        let mut at = self.find(owner);
        let owner = owner.index;
        // A name from further up would say little.
        for _ in 0..16 {
            let node = at.and_then(|at| self.nodes.get(at.get()))?;
            match &node.name {
                Some(name) if at == Some(owner) => return Some(name.to_string()),
                Some(name) => return Some(format!("{name}/#{}", owner.0)),
                None => at = node.parent.some(),
            }
        }
        None
    }

    /// Adds a coroutine to the end of the list of an owner that [is
    /// open](Owners::is_open).
    pub(crate) fn add_member(&mut self, owner: OwnerKey, task: TaskKey) -> u32 {
        let owner = self.find(owner).expect("the owner is open");
        if self.nodes[owner.get()].is_empty() {
            self.note_busy(owner);
        }
        let node = &mut self.nodes[owner.get()];
        let previous = node.last_member;
        self.spawned += 1;
        let member = index_of(self.members.insert(Member {
            task,
            spawned: self.spawned,
            owner,
            previous,
            next: NONE,
            asked: OwnerIndex::NONE,
            ending: false,
            has_heard: false,
        }));
        node.last_member = member;
        if previous == NONE {
            node.first_member = member;
        } else {
            self.members[previous as usize].next = member;
        }
        member
    }

    /// Takes a coroutine that is about to be dropped out of its owner's list. So a stop of
    /// the owner in the coroutine's destructor does not reach it. The coroutine keeps its
    /// owner.
    pub(crate) fn end_member(&mut self, member: u32) {
        let entry = &mut self.members[member as usize];
        if entry.ending {
            return;
        }
        entry.ending = true;
        let (owner, previous, next) = (entry.owner, entry.previous, entry.next);
        match self.members.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => self.nodes[owner.get()].first_member = next,
        }
        match self.members.get_mut(next as usize) {
            Some(next) => next.previous = previous,
            None => self.nodes[owner.get()].last_member = previous,
        }
        self.nodes[owner.get()].ending += 1;
    }

    pub(crate) fn remove_member(&mut self, member: u32) {
        self.end_member(member);
        let owner = self.members.remove(member as usize).owner;
        let node = &mut self.nodes[owner.get()];
        node.ending -= 1;
        if node.is_empty() {
            self.note_idle(owner);
        }
        self.clear_away(owner);
    }

    /// Takes an owner out of the tree if it is gone and has no coroutine and no children.
    /// Removes it if it was dropped. Continues with its parent, which may have stayed only
    /// because of this child.
    fn clear_away(&mut self, owner: OwnerIndex) {
        let mut at = owner.some();
        while let Some(here) = at {
            let node = &self.nodes[here.get()];
            if !node.gone || !node.is_empty() || node.first_child.some().is_some() {
                return;
            }
            at = node.parent.some();
            let unneeded = node.dropped;
            self.unlink(here);
            if unneeded {
                self.nodes.remove(here.get());
            }
        }
    }

    /// The owner of a coroutine. It may be gone.
    pub(crate) fn owner_of(&self, member: u32) -> OwnerKey {
        self.key(self.members[member as usize].owner)
    }

    /// Collects the coroutines of the owner and of the owners below it, children first.
    /// Leaves out coroutines that are being dropped.
    pub(crate) fn tasks(&self, owner: OwnerKey, tasks: &mut Vec<TaskKey>) {
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

    /// Removes an owner. From now on, that owner and the owners below it refuse
    /// coroutines. Collects their coroutines, children first.
    ///
    /// An owner that still has coroutines stays in the tree until these are dropped: the
    /// destructor of one may stop an owner above. Owners without coroutines leave the tree
    /// at once. So the later removal of each costs O(1), however deep the tree was.
    pub(crate) fn remove(&mut self, owner: OwnerKey, tasks: &mut Vec<TaskKey>) {
        let Some(owner) = self.find(owner) else {
            return;
        };
        self.nodes[owner.get()].dropped = true;
        let mut at = Some(self.first_leaf(owner));
        while let Some(here) = at {
            tasks.extend(self.members_of(here).map(|member| member.task));
            at = self.next_upwards(here, owner);
            self.nodes[here.get()].gone = true;
            self.clear_away(here);
        }
    }
}

impl Guarded<Owners> {
    /// Makes a new task a member of its owner. `maker` is the membership of the coroutine that has
    /// made it, if that has one.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt(
        &self,
        task: Task<'_>,
        owner: OwnerKey,
        maker: impl FnOnce() -> Option<u32>,
    ) {
        let mut owners = self.borrow_mut();
        let member = owners.add_member(owner, task.task_key());
        task.set_member(member);
        if owners.asks {
            if let Some(by) = maker() {
                owners.inherit_ask(member, by);
            }
        }
        if owners.is_paused(owner) {
            task.set(Flags::PAUSED);
        }
        if owners.clock(owner).is_some() {
            task.set(Flags::CLOCK);
        }
    }

    /// The owner of a task. It may have been removed.
    #[inline]
    pub(crate) fn of(&self, task: Task<'_>) -> Option<OwnerKey> {
        let member = task.member()?;
        Some(self.borrow().owner_of(member))
    }
}
