//! When the clocks below a clock have to be looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::ClockIndex;

/// Clocks, each with the reading of the clock above at which something may be due on it. A
/// clock is added again whenever that reading changes. Then its earlier entry is stale.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<(u64, ClockIndex)>>,
    /// How many entries there may be before stale ones are removed.
    sweep_at: usize,
}

impl Agenda {
    /// Adds a clock. `is_stale` says whether an earlier entry is stale.
    pub(super) fn add(
        &mut self,
        at_ns: u64,
        clock: ClockIndex,
        is_stale: impl Fn(u64, ClockIndex) -> bool,
    ) {
        if self.entries.len() >= self.sweep_at.max(16) {
            self.entries
                .retain(|&Reverse((at_ns, clock))| !is_stale(at_ns, clock));
            self.sweep_at = 2 * self.entries.len();
        }
        self.entries.push(Reverse((at_ns, clock)));
    }

    /// How many entries there are, stale ones included.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The reading before which there is nothing to look at.
    pub(super) fn first_ns(&self) -> Option<u64> {
        self.entries.peek().map(|&Reverse((at_ns, _))| at_ns)
    }

    /// Takes an entry that is due at `now_ns`. It may be stale.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(u64, ClockIndex)> {
        self.first_ns().filter(|&at_ns| at_ns <= now_ns)?;
        self.entries.pop().map(|Reverse(entry)| entry)
    }
}
