//! The table of owners: a tree. Each owner has a list of coroutines.
//!
//! The table only stores data: it stops and polls no coroutine. Its functions return
//! lists of the coroutines to stop or pause, because user code may change the table while
//! the caller goes through a list.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::replace;
use std::rc::Rc;
use std::task::Context;

use slab::Slab;

use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::task::{Flags, Task};
use crate::inspect::events;
use crate::sync::waiters::{Waiters, Waiting};
use crate::time::ClockState;

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

/// The waits for a request to stop. Shared with these waits: nothing of them is dropped with
/// an owner.
pub(crate) struct Asks(RefCell<AskList>);

/// The waits of the coroutines of one owner, or of those that have none, in the order in which they
/// began, and by coroutine.
struct AskList {
    waiters: Waiters<Ask>,
    by_task: BTreeMap<Ask, usize>,
    /// How many waits there have been.
    added: u64,
}

/// A wait of a coroutine, and its number in the list.
type Ask = (TaskKey, u64);

impl Asks {
    fn new() -> Rc<Self> {
        let mut waiters = Waiters::new();
        waiters.set_source(events::stop_request());
        Rc::new(Asks(RefCell::new(AskList {
            waiters,
            by_task: BTreeMap::new(),
            added: 0,
        })))
    }

    /// Adds a wait of a coroutine. It does not wait yet.
    pub(crate) fn add(&self, task: TaskKey) -> usize {
        let list = &mut *self.0.borrow_mut();
        let ask = (task, list.added);
        list.added += 1;
        let waiter = list.waiters.add(ask);
        list.by_task.insert(ask, waiter);
        waiter
    }

    /// Removes a wait. Returns a value for the caller to drop.
    pub(crate) fn remove(&self, waiter: usize) -> Option<Waiting> {
        let list = &mut *self.0.borrow_mut();
        let (ask, waiting) = list.waiters.remove(waiter);
        list.by_task.remove(&ask);
        waiting
    }

    /// Makes a wait wait with the waker in `cx`. Calls user code.
    #[track_caller]
    pub(crate) fn wait(&self, waiter: usize, cx: &Context<'_>) {
        let is_waiting = self.0.borrow().waiters.waits_with(waiter, cx.waker());
        if !is_waiting {
            let noted = self.0.borrow().waiters.note();
            let waiting = Waiting::new(cx, noted);
            let previous = self.0.borrow_mut().waiters.wait(waiter, waiting);
            drop(previous);
        }
    }

    /// Wakes all that wait now, in the order in which they began to wait.
    pub(crate) fn wake(&self) {
        let limit = self.0.borrow().waiters.began();
        loop {
            let waiting = self.0.borrow_mut().waiters.next(limit);
            match waiting {
                Some(waiting) => waiting.wake(),
                None => return,
            }
        }
    }

    /// Wakes the waits of one coroutine, in the same order.
    pub(crate) fn wake_task(&self, task: TaskKey) {
        let waiting: Vec<Waiting> = {
            let list = &mut *self.0.borrow_mut();
            let of_task = list.by_task.range((task, 0)..=(task, u64::MAX));
            let waiters = of_task.map(|(_, &waiter)| waiter);
            waiters
                .filter_map(|waiter| list.waiters.stop(waiter))
                .collect()
        };
        waiting.into_iter().for_each(Waiting::wake);
    }
}

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

/// A state of an owner that applies to the owners below it.
#[derive(Clone, Copy, Debug, Default)]
struct Inherited {
    /// The state of the owner itself.
    own: bool,
    /// The state of the owner itself, or of an owner above it.
    whole: bool,
}

/// A change to the pause of an owner.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PauseChange {
    /// A call of `pause` or `resume`.
    Set(bool),
    /// A guard that holds the owner paused is made.
    Hold,
    /// Such a guard is dropped.
    Release,
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

    /// Whether the owner or an owner above it is paused.
    pub(crate) fn is_paused(&self, owner: OwnerKey) -> bool {
        self.node(owner).is_some_and(|node| node.paused.whole)
    }

    pub(crate) fn set_active(&mut self, owner: OwnerKey, active: bool) {
        if let Some(owner) = self.find(owner) {
            self.set_inherited(owner, |node| &mut node.inactive, !active, |_, _| ());
        }
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

    /// Counts one more reason for which an owner is busy. Goes on upwards only while that
    /// makes an owner busy, so the usual cost is O(1).
    fn note_busy(&mut self, owner: OwnerIndex) {
        let mut at = owner.some();
        while let Some(here) = at {
            let node = &mut self.nodes[here.get()];
            node.busy += 1;
            at = node.parent.some().filter(|_| node.busy == 1);
        }
    }

    /// Counts one reason less. Ends the waits for owners that are not busy any more.
    fn note_idle(&mut self, owner: OwnerIndex) {
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

    /// Asks the coroutines of the owner and of the owners below it to stop. Calls `asked` with
    /// each list of waits for that, children first.
    pub(crate) fn request_stop(&mut self, owner: OwnerKey, mut asked: impl FnMut(Rc<Asks>)) {
        let below: Vec<OwnerIndex> = self.below(owner).collect();
        let mut heard = Vec::new();
        for here in below {
            let mut at = self.nodes[here.get()].first_member;
            while let Some(member) = self.members.get(at as usize) {
                let next = member.next;
                if member.has_heard {
                    heard.push(at);
                }
                let before = member.asked.some();
                if before.is_none_or(|before| self.is_within(self.key(before), owner)) {
                    self.members[at as usize].asked = owner.index;
                }
                at = next;
                self.asks = true;
            }
            if let Some(awaited) = &mut self.nodes[here.get()].awaited {
                awaited.is_heard = false;
                awaited.asks.clone().map(&mut asked);
            }
        }
        for member in heard {
            self.note_heard(member);
        }
    }

    /// Whether a coroutine has been requested to stop.
    pub(crate) fn is_asked(&self, member: u32) -> bool {
        self.members[member as usize].asked.some().is_some()
    }

    /// Notes that a coroutine has read the request to stop, for its owner and those above it.
    pub(crate) fn note_heard(&mut self, member: u32) {
        let member = &mut self.members[member as usize];
        member.has_heard = true;
        let mut at = member.owner.some();
        while let Some(here) = at {
            let node = &mut self.nodes[here.get()];
            let awaited = node.awaited.get_or_insert_default();
            let was_heard = replace(&mut awaited.is_heard, true);
            at = node.parent.some().filter(|_| !was_heard);
        }
    }

    /// Whether a coroutine of the owner, or of one below it, has read the latest request.
    pub(crate) fn is_heard(&self, owner: OwnerKey) -> bool {
        let awaited = self.node(owner).and_then(|node| node.awaited.as_ref());
        awaited.is_some_and(|awaited| awaited.is_heard)
    }

    /// The waits for a request to stop of the scripts of the owner of a coroutine, or of those that
    /// have none.
    pub(crate) fn asks_of(&mut self, member: Option<u32>) -> Rc<Asks> {
        let asks = match member {
            Some(member) => {
                let owner = self.members[member as usize].owner;
                let node = &mut self.nodes[owner.get()];
                &mut node.awaited.get_or_insert_default().asks
            }
            None => &mut self.ownerless,
        };
        asks.get_or_insert_with(Asks::new).clone()
    }

    /// Asks a new coroutine to stop if `by`, which has made it, was asked, and the new one is on
    /// the owner that was asked or below it.
    fn inherit_ask(&mut self, member: u32, by: u32) {
        let asked = self.members[by as usize].asked;
        let new = &self.members[member as usize];
        if asked.some().is_some() && self.is_within(self.key(new.owner), self.key(asked)) {
            self.members[member as usize].asked = asked;
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

    /// Whether the owner and the owners below it have no coroutine.
    pub(crate) fn is_empty(&self, owner: OwnerKey) -> bool {
        self.node(owner).is_none_or(|node| node.busy == 0)
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

    /// The owner and the owners below it, each after its children.
    fn below(&self, owner: OwnerKey) -> impl Iterator<Item = OwnerIndex> {
        let first = self.find(owner).map(|owner| self.first_leaf(owner));
        std::iter::successors(first, move |&at| self.next_upwards(at, owner.index))
    }

    /// The owner after `here` in a walk through the owners below `top`, parents
    /// last.
    fn next_upwards(&self, here: OwnerIndex, top: OwnerIndex) -> Option<OwnerIndex> {
        if here == top {
            return None;
        }
        let node = &self.nodes[here.get()];
        match node.next.some() {
            Some(next) => Some(self.first_leaf(next)),
            None => Some(node.parent),
        }
    }

    fn first_leaf(&self, owner: OwnerIndex) -> OwnerIndex {
        let mut leaf = owner;
        while let Some(child) = self.nodes[leaf.get()].first_child.some() {
            leaf = child;
        }
        leaf
    }

    /// Makes a change to the pause of an owner. Collects the coroutines whose owners are
    /// paused or resumed by the change, in the order they were spawned. Returns `false` if
    /// nothing changes.
    pub(crate) fn change_pause(
        &mut self,
        owner: OwnerKey,
        change: PauseChange,
        tasks: &mut Vec<TaskKey>,
    ) -> bool {
        let Some(owner) = self.find(owner) else {
            return false;
        };
        let node = &mut self.nodes[owner.get()];
        let changed = match change {
            PauseChange::Set(paused) => replace(&mut node.set_to_pause, paused) != paused,
            PauseChange::Hold => {
                node.holds += 1;
                true
            }
            PauseChange::Release => {
                node.holds -= 1;
                true
            }
        };
        let paused = node.set_to_pause || node.holds > 0;
        let mut members = Vec::new();
        self.set_inherited(
            owner,
            |node| &mut node.paused,
            paused,
            |owners, here| {
                members.extend(
                    owners
                        .members_of(here)
                        .map(|member| (member.spawned, member.task)),
                );
            },
        );
        members.sort_unstable_by_key(|&(spawned, _)| spawned);
        tasks.extend(members.into_iter().map(|(_, task)| task));
        changed
    }

    /// Sets a state of an owner. Calls `changed` with each owner that changes its state,
    /// parents first.
    fn set_inherited(
        &mut self,
        owner: OwnerIndex,
        state: fn(&mut Node) -> &mut Inherited,
        on: bool,
        mut changed: impl FnMut(&Self, OwnerIndex),
    ) {
        let node = &mut self.nodes[owner.get()];
        if replace(&mut state(node).own, on) == on {
            return;
        }
        let above = self.nodes.get_mut(self.nodes[owner.get()].parent.get());
        if above.is_some_and(|above| state(above).whole) {
            return;
        }
        let mut at = Some(owner);
        while let Some(here) = at {
            let inherited = state(&mut self.nodes[here.get()]);
            // An owner with the state of its own keeps it, like all owners below it.
            let changes = here == owner || !inherited.own;
            if changes {
                inherited.whole = on;
                changed(self, here);
            }
            at = self.next_in_order(here, owner, changes);
        }
    }

    /// The owner after `here` in a walk through the owners below `top`, parents
    /// first.
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

    /// Takes an owner out of the tree, unless the owner has left it.
    fn unlink(&mut self, owner: OwnerIndex) {
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

#[cfg(test)]
mod tests {
    use super::{OwnerKey, Owners, PauseChange, index_of};
    use crate::core::base::key::TaskKey;

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
    fn family() -> (Owners, [OwnerKey; 5]) {
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
            let new = owners.change_pause(owner, PauseChange::Set(paused), &mut tasks);
            (new, indices(&tasks))
        };
        assert_eq!(changed(left, true), (true, vec![10, 100]));
        assert_eq!(changed(left, true), (false, vec![]));
        assert_eq!(changed(root, true), (true, vec![0, 20, 1]));
        assert_eq!(changed(right, true), (true, vec![]));
        assert_eq!(changed(left, false), (true, vec![]));
        assert_eq!(changed(root, false), (true, vec![0, 10, 100, 1]));
        assert_eq!(changed(right, false), (true, vec![20]));
        assert!(!owners.is_paused(leaf) && !owners.is_paused(right));
    }

    #[test]
    fn an_owner_is_paused_until_the_last_guard_and_the_call_are_undone() {
        use PauseChange::{Hold, Release, Set};

        let (mut owners, [_, left, _, _, leaf]) = family();
        let changes = [
            (Hold, true, vec![10, 100]),
            (Set(true), true, vec![]),
            (Set(true), false, vec![]),
            (Hold, true, vec![]),
            (Release, true, vec![]),
            (Set(false), true, vec![]),
            (Set(false), false, vec![]),
        ];
        for (change, changes, members) in changes {
            let mut tasks = Vec::new();
            let changed = owners.change_pause(left, change, &mut tasks);
            assert_eq!((changed, indices(&tasks)), (changes, members), "{change:?}");
            assert!(owners.is_paused(leaf));
        }
        let mut tasks = Vec::new();
        owners.change_pause(left, Release, &mut tasks);
        assert_eq!(indices(&tasks), [10, 100]);
        assert!(!owners.is_paused(leaf));
    }

    #[test]
    fn what_was_paused_below_stays_so() {
        let (mut owners, [root, left, _, _, leaf]) = family();
        let mut tasks = Vec::new();
        owners.change_pause(leaf, PauseChange::Set(true), &mut tasks);
        owners.change_pause(root, PauseChange::Set(true), &mut tasks);
        tasks.clear();
        owners.change_pause(root, PauseChange::Set(false), &mut tasks);
        assert_eq!(indices(&tasks), [0, 20, 10, 1]);
        assert!(owners.is_paused(leaf) && !owners.is_paused(left));
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
        let below = owners.insert(Some(left), None);
        assert!(!owners.is_open(below));
        // The rest of the tree is consistent: remove the siblings in any order, the
        // leaf last.
        for owner in [right, middle, root, leaf, below] {
            owners.remove(owner, &mut Vec::new());
        }
        assert!(!owners.is_open(left));
        let members: Vec<usize> = owners.members.iter().map(|(index, _)| index).collect();
        for member in members {
            owners.remove_member(index_of(member));
        }
        assert!(owners.nodes.is_empty());
    }

    #[test]
    fn what_was_removed_is_below_its_parent_until_its_coroutines_are_dropped() {
        let (mut owners, [root, left, _, _, leaf]) = family();
        owners.remove(left, &mut Vec::new());
        let below = |owners: &Owners| {
            let mut tasks = Vec::new();
            owners.tasks(root, &mut tasks);
            indices(&tasks)
        };
        assert_eq!(below(&owners), [100, 10, 20, 0, 1]);
        let members = [10, 100].map(|index| {
            let mut members = owners.members.iter();
            let (member, _) = members.find(|(_, of)| of.task == key(index)).unwrap();
            index_of(member)
        });
        for member in members {
            owners.end_member(member);
        }
        assert_eq!(below(&owners), [20, 0, 1]);
        // Their coroutines are being dropped, which keeps the owners above busy.
        assert!(owners.is_within(leaf, left) && owners.is_within(left, root));
        for member in members {
            owners.remove_member(member);
        }
        assert!(owners.nodes[leaf.index()].parent.some().is_none());
        assert!(owners.find(left).is_none());
    }

    #[test]
    fn a_key_is_stale_once_another_owner_has_the_place() {
        let mut owners = Owners::default();
        let first = owners.insert(None, None);
        owners.remove(first, &mut Vec::new());
        let second = owners.insert(None, None);
        assert_eq!(first.index(), second.index());
        owners.add_member(second, key(7));
        assert!(!owners.is_open(first) && owners.is_open(second));
        owners.set_active(first, false);
        assert!(!owners.change_pause(first, PauseChange::Set(true), &mut Vec::new()));
        let mut tasks = Vec::new();
        owners.remove(first, &mut tasks);
        owners.tasks(first, &mut tasks);
        assert!(tasks.is_empty() && owners.is_empty(first));
        assert!(owners.is_open(second) && !owners.is_paused(second));
        let below = owners.insert(Some(first), None);
        assert!(!owners.is_alive(below));
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
