//! Requests to stop: which coroutines they concern, who has read them, and the waits for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::replace;
use std::rc::Rc;
use std::task::Context;

use crate::core::base::key::TaskKey;
use crate::core::owners::{OwnerIndex, OwnerKey, Owners};
use crate::inspect::events;
use crate::sync::waiters::{Waiters, Waiting};

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

impl Owners {
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
    pub(super) fn inherit_ask(&mut self, member: u32, by: u32) {
        let asked = self.members[by as usize].asked;
        let new = &self.members[member as usize];
        if asked.some().is_some() && self.is_within(self.key(new.owner), self.key(asked)) {
            self.members[member as usize].asked = asked;
        }
    }
}
