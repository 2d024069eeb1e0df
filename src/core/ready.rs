//! Tasks that are ready: spawned, woken, resumed from a pause, or put off.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;

use super::cell::Guarded;

/// A task's place in a list of ready tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyKey {
    pub(crate) index: u32,
    stamp: u32,
}

/// The list that a task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The list of the run under way.
    Run,
    /// The list of its phase, for the run of this number.
    Next(u64),
}

/// The ready tasks of the next run of a phase, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct ReadyList {
    pub(crate) keys: Vec<ReadyKey>,
    /// The buffer of the list that was taken before.
    spare: Vec<ReadyKey>,
}

impl ReadyList {
    /// Takes the list for a run that begins now.
    pub(crate) fn take(&mut self) -> Vec<ReadyKey> {
        mem::replace(&mut self.keys, mem::take(&mut self.spare))
    }

    /// Takes back the buffer of a list that was taken.
    pub(crate) fn give_back(&mut self, mut keys: Vec<ReadyKey>) {
        keys.clear();
        self.spare = keys;
    }
}

/// The ready tasks of an executor. The list of the run under way is here; the
/// list for the next run of each phase is in its `PhaseState`. A task is in one
/// list at most, and only its latest key counts.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// The stamp of each task's latest key, by index of the task.
    ///
    /// ```text
    /// 31          2 1               0
    /// [ count     ] [odd run number] [run under way]
    /// ```
    stamps: Guarded<Vec<Cell<u32>>>,
    run: Guarded<VecDeque<ReadyKey>>,
}

const IN_RUN: u32 = 1;
const ODD: u32 = 1 << 1;
const COUNT: u32 = 1 << 2;

impl List {
    fn bits(self) -> u32 {
        match self {
            List::Run => IN_RUN,
            List::Next(run) if run % 2 == 1 => ODD,
            List::Next(_) => 0,
        }
    }
}

impl Ready {
    /// A new key for a task that is about to be added to `list`.
    #[inline]
    pub(crate) fn key(&self, index: u32, list: List) -> ReadyKey {
        {
            let stamps = self.stamps.borrow();
            if let Some(latest) = stamps.get(index as usize) {
                let stamp = (latest.get() | (COUNT - 1)).wrapping_add(1) | list.bits();
                latest.set(stamp);
                return ReadyKey { index, stamp };
            }
        }
        self.first_key(index, list)
    }

    #[cold]
    #[inline(never)]
    fn first_key(&self, index: u32, list: List) -> ReadyKey {
        let mut stamps = self.stamps.borrow_mut();
        let more = (index as usize + 1 - stamps.len()).max(stamps.len() / 4);
        stamps.reserve_exact(more);
        let len = stamps.len() + more;
        stamps.resize_with(len, Cell::default);
        let stamp = COUNT | list.bits();
        stamps[index as usize].set(stamp);
        ReadyKey { index, stamp }
    }

    /// Whether this is the latest key of its task.
    #[inline]
    pub(crate) fn is_latest(&self, key: ReadyKey) -> bool {
        self.stamps.borrow()[key.index as usize].get() == key.stamp
    }

    /// Whether a ready task is in its phase's list for the run of number `run`, and
    /// not in a list that is polled earlier.
    pub(crate) fn is_for(&self, index: u32, run: u64) -> bool {
        let stamp = self.stamps.borrow()[index as usize].get();
        stamp & (IN_RUN | ODD) == List::Next(run).bits()
    }

    /// Adds a task to the list of the run under way.
    #[inline]
    pub(crate) fn push(&self, index: u32) {
        let key = self.key(index, List::Run);
        self.run.borrow_mut().push_back(key);
    }

    /// Whether the list of the run under way has keys, stale ones included.
    pub(crate) fn has_any(&self) -> bool {
        !self.run.borrow().is_empty()
    }

    /// Takes the first key from the list of the run under way.
    #[inline]
    pub(crate) fn pop(&self) -> Option<ReadyKey> {
        self.run.borrow_mut().pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Ready};

    #[test]
    fn only_the_latest_key_of_a_task_counts() {
        let ready = Ready::default();
        let first = ready.key(7, List::Next(4));
        let other = ready.key(3, List::Next(4));
        assert!(ready.is_latest(first) && ready.is_latest(other));
        let second = ready.key(7, List::Next(4));
        assert!(ready.is_latest(second) && !ready.is_latest(first));
        ready.push(7);
        assert!(!ready.is_latest(second));
        assert!(ready.pop().is_some_and(|key| ready.is_latest(key)));
        assert_eq!(ready.pop(), None);
    }

    #[test]
    fn the_lists_of_consecutive_runs_differ() {
        let ready = Ready::default();
        ready.key(0, List::Next(4));
        assert!(ready.is_for(0, 4) && !ready.is_for(0, 5));
        ready.key(0, List::Next(5));
        assert!(ready.is_for(0, 5) && !ready.is_for(0, 4));
        ready.push(0);
        assert!(!ready.is_for(0, 4) && !ready.is_for(0, 5));
    }
}
