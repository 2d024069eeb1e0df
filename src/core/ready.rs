//! Tasks that are ready: spawned, woken, resumed from a pause, or put off.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;

use super::cell::Guarded;

/// A task's place in a list of ready tasks. It counts while its task is ready
/// and has not been polled since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyKey {
    pub(crate) index: u32,
    stamp: u32,
}

/// A list that a ready task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The list of the run under way.
    Run,
    /// The list of its home phase, for the run of this number.
    Home(u64),
    /// The list of another phase.
    Away,
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
/// list for the next run of each phase is in its `PhaseState`.
///
/// A task may be ready in several phases, so it may be in several lists. The
/// first poll serves all of them: it makes the other keys stale.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// For each task, by index: how often it has become ready, and in which lists
    /// it is.
    ///
    /// ```text
    /// 31          3 2               1      0
    /// [ count     ] [odd run number] [home] [run under way]
    /// ```
    stamps: Guarded<Vec<Cell<u32>>>,
    run: Guarded<VecDeque<ReadyKey>>,
    /// See [`turns`](Self::turns).
    turns: Cell<u64>,
}

const IN_RUN: u32 = 1;
const IN_HOME: u32 = 1 << 1;
const ODD: u32 = 1 << 2;
const COUNT_BITS: u32 = 3;
const COUNT: u32 = 1 << COUNT_BITS;

impl List {
    /// The bits that say that a task is in the list.
    fn bits(self) -> u32 {
        match self {
            List::Run => IN_RUN,
            List::Home(run) if run % 2 == 1 => IN_HOME | ODD,
            List::Home(_) => IN_HOME,
            List::Away => 0,
        }
    }

    /// The bits that the list decides about.
    fn mask(self) -> u32 {
        match self {
            List::Run => IN_RUN,
            List::Home(_) => IN_HOME | ODD,
            List::Away => 0,
        }
    }
}

impl Ready {
    /// A key for a task that is about to be added to `list`. If the task `becomes`
    /// ready now, its earlier keys are stale.
    #[inline]
    pub(crate) fn key(&self, index: u32, becomes: bool, list: List) -> ReadyKey {
        {
            let stamps = self.stamps.borrow();
            if let Some(stamp) = stamps.get(index as usize) {
                let before = if becomes {
                    (stamp.get() | (COUNT - 1)).wrapping_add(1)
                } else {
                    stamp.get() & !list.mask()
                };
                let now = before | list.bits();
                stamp.set(now);
                let stamp = now >> COUNT_BITS;
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
        let stamp = stamp >> COUNT_BITS;
        ReadyKey { index, stamp }
    }

    /// Whether the task of a key has not been polled since it was added. The task
    /// must be ready.
    #[inline]
    pub(crate) fn is_current(&self, key: ReadyKey) -> bool {
        self.stamps.borrow()[key.index as usize].get() >> COUNT_BITS == key.stamp
    }

    /// Whether a ready task is in `list`, which is not [`List::Away`].
    #[inline]
    pub(crate) fn is_in(&self, index: u32, list: List) -> bool {
        let stamp = self.stamps.borrow()[index as usize].get();
        stamp & list.mask() == list.bits()
    }

    /// Notes that a ready task is in neither the list of the run under way, nor in
    /// that of its home phase.
    pub(crate) fn leave(&self, index: u32) {
        let stamps = self.stamps.borrow();
        let stamp = &stamps[index as usize];
        stamp.set(stamp.get() & !(COUNT - 1));
    }

    /// Adds a task to the list of the run under way.
    #[inline]
    pub(crate) fn push(&self, index: u32, becomes: bool) {
        let key = self.key(index, becomes, List::Run);
        self.run.borrow_mut().push_back(key);
    }

    /// Whether the list of the run under way has keys, stale ones included.
    pub(crate) fn has_any(&self) -> bool {
        !self.run.borrow().is_empty()
    }

    /// Takes the first key from the list of the run under way.
    #[inline]
    pub(crate) fn pop(&self) -> Option<ReadyKey> {
        self.turns.set(self.turns.get() + 1);
        self.run.borrow_mut().pop_front()
    }

    /// How often a key has been asked for from the list of the run under way. So it
    /// tells the turns of a run apart.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Ready};

    #[test]
    fn the_keys_of_a_task_count_until_it_becomes_ready_again() {
        let ready = Ready::default();
        let home = ready.key(7, true, List::Home(4));
        let away = ready.key(7, false, List::Away);
        let other = ready.key(3, true, List::Home(4));
        assert!([home, away, other].iter().all(|&key| ready.is_current(key)));
        ready.push(7, true);
        assert!(!ready.is_current(home) && !ready.is_current(away));
        assert!(ready.pop().is_some_and(|key| ready.is_current(key)));
        assert_eq!(ready.pop(), None);
        assert!(ready.is_current(other));
    }

    #[test]
    fn a_task_knows_in_which_lists_it_is() {
        let ready = Ready::default();
        ready.key(0, true, List::Home(4));
        assert!(ready.is_in(0, List::Home(4)) && !ready.is_in(0, List::Home(5)));
        ready.push(0, false);
        assert!(ready.is_in(0, List::Home(4)) && ready.is_in(0, List::Run));
        ready.key(0, false, List::Home(5));
        assert!(ready.is_in(0, List::Home(5)) && !ready.is_in(0, List::Home(4)));
        ready.leave(0);
        assert!(!ready.is_in(0, List::Home(5)) && !ready.is_in(0, List::Run));
        ready.key(0, true, List::Away);
        assert!(!ready.is_in(0, List::Home(4)) && !ready.is_in(0, List::Run));
    }
}
