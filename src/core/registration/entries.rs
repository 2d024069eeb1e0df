//! Wait entries: waits that cannot register with their task itself.
//!
//! A task has room for one wait. These waits have an entry instead:
//!
//! - the waits of a `join!` after the first,
//! - a wait that is polled with another waker than the task waker,
//! - every join.
//!
//! An entry holds the task that polled the wait, and the waker to call, unless that is
//! the task waker.

use std::task::Waker;

use crate::core::base::call::Foreign;
use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};

/// No entry.
const NONE: u32 = u32::MAX;

/// A wait with an entry of its own.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is a fact of its own"
)]
struct Entry {
    /// The waker with which the wait was polled, unless that is the task waker.
    waker: Option<Foreign<Waker>>,
    /// The task that polled the wait.
    task: TaskKey,
    /// Odd while the entry is in use.
    stamp: u32,
    /// Whether the wait is due only in a later frame than the one in which it began.
    frame_bound: bool,
    /// Whether the wait checks a condition.
    asks: bool,
    /// Whether several coroutines have polled the wait, each with a foreign waker. Then no
    /// pause of a coroutine moves its deadline.
    is_shared: bool,
    /// Whether the wait is in no list, because no run ends it.
    is_endless: bool,
    /// Of a join: the index of the joined task.
    joins: u32,
    /// Of a join: the neighbour in the joined task's list, which is a ring.
    previous: u32,
    /// The same. In a vacant entry, the next vacant entry.
    next: u32,
}

/// The content of an entry that was removed.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) task: TaskKey,
    /// For the caller to drop, which is user code.
    _waker: Option<Foreign<Waker>>,
}

/// All wait entries of an executor.
#[derive(Debug)]
pub(crate) struct Entries {
    first_stamp: u32,
    slots: Vec<Entry>,
    /// The first vacant entry.
    vacant: u32,
    /// How many entries have a waker.
    foreign: usize,
}

impl Entries {
    pub(crate) fn new(executor: u32) -> Self {
        Entries {
            first_stamp: WaitKey::first_stamp(executor),
            slots: Vec::new(),
            vacant: NONE,
            foreign: 0,
        }
    }

    /// Makes an entry for a wait that `task` polls with `waker`. `None` is the task waker.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        task: TaskKey,
        waker: Option<Foreign<Waker>>,
        frame_bound: bool,
    ) -> WaitKey {
        let index = self.vacant;
        self.foreign += usize::from(waker.is_some());
        let Some(entry) = self.slots.get_mut(index as usize) else {
            return self.grow(task, waker, frame_bound);
        };
        self.vacant = entry.next;
        entry.stamp = entry.stamp.wrapping_add(1);
        entry.task = task;
        entry.frame_bound = frame_bound;
        if waker.is_some() {
            entry.waker = waker;
        }
        WaitKey::of_entry(index, entry.stamp)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, task: TaskKey, waker: Option<Foreign<Waker>>, frame_bound: bool) -> WaitKey {
        let index = self.slots.len();
        assert!(index < WaitKey::MAX_INDEX, "more than 2^31 waits at once");
        let stamp = self.first_stamp + 1;
        self.slots.push(Entry {
            waker,
            task,
            stamp,
            frame_bound,
            asks: false,
            is_shared: false,
            is_endless: false,
            joins: NONE,
            previous: NONE,
            next: NONE,
        });
        WaitKey::of_entry(u32::try_from(index).expect("below 2^31"), stamp)
    }

    #[inline]
    fn get(&self, key: WaitKey) -> Option<&Entry> {
        debug_assert!(key.is_entry(), "tasks have keys with the same stamps");
        let entry = self.slots.get(key.index() as usize)?;
        (entry.stamp == key.stamp()).then_some(entry)
    }

    #[inline]
    fn get_mut(&mut self, key: WaitKey) -> Option<&mut Entry> {
        debug_assert!(key.is_entry(), "tasks have keys with the same stamps");
        let entry = self.slots.get_mut(key.index() as usize)?;
        (entry.stamp == key.stamp()).then_some(entry)
    }

    /// Whether the wait is still registered.
    #[inline]
    pub(crate) fn is_live(&self, key: WaitKey) -> bool {
        self.get(key).is_some()
    }

    /// The task that polled the wait, if the wait is registered.
    #[inline]
    pub(crate) fn task(&self, key: WaitKey) -> Option<TaskKey> {
        self.get(key).map(|entry| entry.task)
    }

    /// Whether the wait is registered, and must wait for a later frame than the one in
    /// which it began.
    pub(crate) fn is_frame_bound(&self, key: WaitKey) -> bool {
        self.get(key).is_some_and(|entry| entry.frame_bound)
    }

    /// Whether the wait is registered for this task, with its task waker.
    #[inline]
    pub(crate) fn is_of(&self, key: WaitKey, task: TaskKey) -> bool {
        self.get(key)
            .is_some_and(|entry| entry.task == task && entry.waker.is_none())
    }

    /// Notes that the wait checks a condition.
    pub(crate) fn note_condition(&mut self, key: WaitKey) {
        if let Some(entry) = self.get_mut(key) {
            entry.asks = true;
        }
    }

    pub(crate) fn asks_condition(&self, key: WaitKey) -> bool {
        self.get(key).is_some_and(|entry| entry.asks)
    }

    /// Notes that several coroutines have polled the wait.
    pub(crate) fn set_shared(&mut self, key: WaitKey) {
        if let Some(entry) = self.get_mut(key) {
            entry.is_shared = true;
        }
    }

    /// Makes an entry for a wait that no run ends.
    pub(crate) fn insert_endless(
        &mut self,
        task: TaskKey,
        waker: Option<Foreign<Waker>>,
    ) -> WaitKey {
        let key = self.insert(task, waker, false);
        if let Some(entry) = self.get_mut(key) {
            entry.is_endless = true;
        }
        key
    }

    /// Whether several coroutines have polled the wait.
    pub(crate) fn is_shared(&self, key: WaitKey) -> bool {
        key.is_entry() && self.get(key).is_some_and(|entry| entry.is_shared)
    }

    /// Replaces the task to resume and the waker to call. Returns the earlier
    /// waker, or the new one as an error if the wait is not registered.
    pub(crate) fn renew(
        &mut self,
        key: WaitKey,
        task: TaskKey,
        waker: Option<Foreign<Waker>>,
    ) -> Result<Option<Foreign<Waker>>, Option<Foreign<Waker>>> {
        let more = usize::from(waker.is_some());
        let Some(entry) = self.get_mut(key) else {
            return Err(waker);
        };
        entry.task = task;
        let previous = std::mem::replace(&mut entry.waker, waker);
        self.foreign = self.foreign + more - usize::from(previous.is_some());
        Ok(previous)
    }

    /// Whether a wait of any entry has a waker to call.
    #[inline]
    pub(crate) fn has_foreign(&self) -> bool {
        self.foreign > 0
    }

    /// A task that has polled a wait with a waker other than its own.
    pub(crate) fn first_foreign(&self) -> Option<TaskKey> {
        let mut entries = self.slots.iter();
        let is_foreign = |entry: &&Entry| entry.waker.is_some();
        Some(entries.find(is_foreign)?.task)
    }

    /// Whether the wait has a waker to call.
    pub(crate) fn has_waker(&self, key: WaitKey) -> bool {
        key.is_entry() && self.get(key).is_some_and(|entry| entry.waker.is_some())
    }

    /// Takes the waker of a wait, to call it.
    pub(crate) fn take_waker(&mut self, key: WaitKey) -> Option<(TaskKey, Foreign<Waker>)> {
        let entry = self.get_mut(key)?;
        let task = entry.task;
        let waker = entry.waker.take()?;
        self.foreign -= 1;
        Some((task, waker))
    }

    /// The same of any wait, which may have no entry.
    pub(crate) fn take_waker_of(&mut self, key: WaitKey) -> Option<Foreign<Waker>> {
        let taken = key.is_entry().then(|| self.take_waker(key))?;
        taken.map(|(_, waker)| waker)
    }

    /// Removes the entry of a wait that has been served or dropped. A join must
    /// have left its list.
    #[inline]
    pub(crate) fn remove(&mut self, key: WaitKey) -> Option<Removed> {
        let vacant = self.vacant;
        let entry = self.get_mut(key)?;
        debug_assert!(entry.joins == NONE, "a removed join has left its ring");
        entry.stamp = entry.stamp.wrapping_add(1);
        entry.asks = false;
        entry.is_shared = false;
        entry.is_endless = false;
        entry.next = vacant;
        let task = entry.task;
        let waker = if entry.waker.is_some() {
            entry.waker.take()
        } else {
            None
        };
        self.foreign -= usize::from(waker.is_some());
        self.vacant = key.index();
        Some(Removed {
            task,
            _waker: waker,
        })
    }

    /// Adds a join to the list of the task of index `joins`. `last` is the latest join of
    /// the list. Returns the new latest join.
    pub(crate) fn join(&mut self, key: WaitKey, joins: u32, last: u32) -> u32 {
        let index = key.index();
        let (previous, next) = match self.slots.get_mut(last as usize) {
            Some(latest) => {
                let first = latest.next;
                latest.next = index;
                self.slots[first as usize].previous = index;
                (last, first)
            }
            None => (index, index),
        };
        let entry = &mut self.slots[index as usize];
        entry.joins = joins;
        entry.previous = previous;
        entry.next = next;
        index
    }

    /// Takes a join out of its list. `last` is the latest join of the list. Returns the
    /// new latest join, or `NONE`.
    pub(crate) fn leave(&mut self, key: WaitKey, last: u32) -> u32 {
        let index = key.index();
        let entry = &mut self.slots[index as usize];
        let (previous, next) = (entry.previous, entry.next);
        entry.joins = NONE;
        self.slots[previous as usize].next = next;
        self.slots[next as usize].previous = previous;
        if previous == index {
            NONE
        } else if last == index {
            previous
        } else {
            last
        }
    }

    /// The index of the task that a wait joins.
    pub(crate) fn joins(&self, key: WaitKey) -> Option<u32> {
        let entry = self.get(key)?;
        Some(entry.joins).filter(|&joins| joins != NONE)
    }

    /// Calls `f` with each join of a list, the earliest first.
    pub(crate) fn each_join(&self, last: u32, mut f: impl FnMut(WaitKey)) {
        let mut at = match self.slots.get(last as usize) {
            Some(latest) => latest.next,
            None => return,
        };
        loop {
            let entry = &self.slots[at as usize];
            f(WaitKey::of_entry(at, entry.stamp));
            if at == last {
                return;
            }
            at = entry.next;
        }
    }

    /// Empties the list of a task that has ended. Adds its joins to `ended`, the
    /// earliest first.
    pub(crate) fn take_joins(&mut self, last: u32, ended: &mut Vec<WaitKey>) {
        let from = ended.len();
        self.each_join(last, |key| ended.push(key));
        for key in &ended[from..] {
            self.slots[key.index() as usize].joins = NONE;
        }
    }

    /// Calls `f` with each registered wait and its task, except for those without an end.
    pub(crate) fn each(&self, mut f: impl FnMut(WaitKey, TaskKey)) {
        for (index, entry) in self.slots.iter().enumerate() {
            if entry.stamp % 2 == 1 && !entry.is_endless {
                let index = u32::try_from(index).expect("below 2^31");
                f(WaitKey::of_entry(index, entry.stamp), entry.task);
            }
        }
    }
}

impl Guarded<Entries> {
    /// Removes an entry. Calls user code: the destructor of its waker.
    pub(crate) fn discard(&self, key: WaitKey) {
        let removed = self.borrow_mut().remove(key);
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::{Entries, NONE};
    use crate::core::base::call::Foreign;
    use crate::core::base::key::TaskKey;

    fn foreign() -> Foreign<Waker> {
        Foreign::new(Waker::noop().clone())
    }

    #[test]
    fn a_reused_entry_has_another_key_and_nothing_of_the_wait_before() {
        let mut entries = Entries::new(1);
        let first = entries.insert(TaskKey::NOBODY, Some(foreign()), true);
        entries.note_condition(first);
        assert!(entries.has_foreign() && entries.is_frame_bound(first));
        assert!(
            entries
                .remove(first)
                .is_some_and(|entry| entry.task == TaskKey::NOBODY)
        );
        assert!(!entries.has_foreign());

        let second = entries.insert(TaskKey::NOBODY, None, false);
        assert_eq!(second.index(), first.index());
        assert!(entries.is_live(second) && !entries.is_live(first));
        assert!(!entries.asks_condition(second) && !entries.is_frame_bound(second));
        assert!(entries.remove(first).is_none());
        assert!(
            entries
                .renew(first, TaskKey::NOBODY, Some(foreign()))
                .is_err()
        );
        assert!(!entries.has_foreign());
    }

    #[test]
    fn a_ring_of_joins_is_left_from_anywhere_and_keeps_its_order() {
        for leaving in 0..3 {
            let mut entries = Entries::new(1);
            let keys = [0, 1, 2].map(|_| entries.insert(TaskKey::NOBODY, None, false));
            let mut last = NONE;
            for key in keys {
                last = entries.join(key, 9, last);
            }
            last = entries.leave(keys[leaving], last);
            assert_eq!(entries.joins(keys[leaving]), None);
            let late = entries.insert(TaskKey::NOBODY, None, false);
            last = entries.join(late, 9, last);
            let mut expected: Vec<_> = keys.to_vec();
            expected.remove(leaving);
            expected.push(late);
            let mut ended = Vec::new();
            entries.take_joins(last, &mut ended);
            assert_eq!(ended, expected);
            assert!(ended.iter().all(|&key| entries.joins(key).is_none()));
        }
    }

    #[test]
    fn the_last_join_that_leaves_a_ring_leaves_it_empty() {
        let mut entries = Entries::new(1);
        let key = entries.insert(TaskKey::NOBODY, None, false);
        let last = entries.join(key, 3, NONE);
        assert_eq!(last, key.index());
        assert_eq!(entries.leave(key, last), NONE);
        let mut ended = Vec::new();
        entries.take_joins(NONE, &mut ended);
        assert!(ended.is_empty());
    }
}
