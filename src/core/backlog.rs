//! Coroutines that became ready before a run, in order of arrival.

#![forbid(unsafe_code)]

use crate::task::Wakeup;

#[derive(Debug, Default)]
pub(crate) struct Backlog {
    entries: Vec<Wakeup>,
    /// What came up in an earlier run, while the coroutine was paused, and in
    /// which order.
    returned: Vec<(u64, Wakeup)>,
    /// How many of them are known to be stale.
    stale: usize,
    /// Some were added while a run of the phase was under way.
    later: bool,
}

impl Backlog {
    #[inline]
    pub(crate) fn push(&mut self, wakeup: Wakeup) {
        self.entries.push(wakeup);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.len() + self.returned.len() <= self.stale
    }

    /// Adds one that would have been polled earlier, had it not been paused.
    pub(crate) fn give_back(&mut self, order: u64, wakeup: Wakeup) {
        self.returned.push((order, wakeup));
    }

    /// Notes that what is added next is marked as [`LATER`](crate::task::Flags).
    pub(crate) fn note_later(&mut self) {
        self.later = true;
    }

    /// Moves the entries to an empty list, for a run. `true`: there are marked
    /// ones among them.
    pub(crate) fn take(&mut self, batch: &mut Vec<Wakeup>) -> bool {
        debug_assert!(batch.is_empty());
        if self.returned.is_empty() {
            std::mem::swap(&mut self.entries, batch);
        } else {
            self.returned.sort_unstable_by_key(|&(order, _)| order);
            batch.extend(self.returned.drain(..).map(|(_, wakeup)| wakeup));
            batch.append(&mut self.entries);
        }
        self.stale = 0;
        std::mem::take(&mut self.later)
    }

    /// An entry went stale; once they outnumber the others they are thrown out,
    /// so that a phase nobody runs cannot hoard them.
    pub(crate) fn note_stale(&mut self, is_current: impl Fn(Wakeup) -> bool) {
        self.stale += 1;
        if self.stale * 2 > self.entries.len() + self.returned.len() + 64 {
            self.entries.retain(|&wakeup| is_current(wakeup));
            self.returned.retain(|&(_, wakeup)| is_current(wakeup));
            self.stale = 0;
        }
    }
}
