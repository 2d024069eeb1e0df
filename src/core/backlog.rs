//! Coroutines that became ready before a run, in order of arrival.

#![forbid(unsafe_code)]

use crate::task::Wakeup;

#[derive(Debug, Default)]
pub(crate) struct Backlog {
    entries: Vec<Wakeup>,
    /// How many of them are known to be stale.
    stale: usize,
}

impl Backlog {
    #[inline]
    pub(crate) fn push(&mut self, wakeup: Wakeup) {
        self.entries.push(wakeup);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.len() <= self.stale
    }

    /// Swaps the entries with an empty list, for a run.
    pub(crate) fn take(&mut self, batch: &mut Vec<Wakeup>) {
        debug_assert!(batch.is_empty());
        std::mem::swap(&mut self.entries, batch);
        self.stale = 0;
    }

    /// An entry went stale; once they outnumber the others they are thrown out,
    /// so that a phase nobody runs cannot hoard them.
    pub(crate) fn note_stale(&mut self, is_current: impl Fn(Wakeup) -> bool) {
        self.stale += 1;
        if self.stale * 2 > self.entries.len() + 64 {
            self.entries.retain(|&wakeup| is_current(wakeup));
            self.stale = 0;
        }
    }
}
