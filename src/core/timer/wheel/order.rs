//! Sorts due entries, stably and without allocating in the steady state.

use super::entry::TimerEntry;

/// Low bits of a packed word that hold an entry's position.
const POSITION_BITS: u32 = 32;

/// Buffers for a sort, kept to reuse their memory: as large as the largest unsorted slot
/// so far.
#[derive(Debug)]
pub(super) struct Order {
    /// The positions of entries, in order of deadline. During the sort mostly with the
    /// deadline packed above the position.
    positions: Vec<u64>,
    unsorted: Vec<TimerEntry>,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self {
            positions: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// How many entries can be sorted without allocating.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.positions.capacity().min(self.unsorted.capacity())
    }

    /// Sorts `due` by deadline. Entries with the same deadline keep their order.
    pub(super) fn sort(&mut self, due: &mut [TimerEntry]) {
        if !due.is_sorted_by_key(|entry| entry.deadline_ns) {
            self.sort_unsorted(due);
        }
    }

    fn sort_unsorted(&mut self, due: &mut [TimerEntry]) {
        let deadlines = due.iter().map(|entry| entry.deadline_ns);
        let (low, high) = deadlines.fold((u64::MAX, 0), |(low, high), deadline| {
            (low.min(deadline), high.max(deadline))
        });
        self.positions.clear();
        if (high - low) >> (u64::BITS - POSITION_BITS) == 0
            && due.len() as u64 >> POSITION_BITS == 0
        {
            // The usual case: the deadlines are so close that deadline and position
            // fit in one word. Words sort several times faster.
            let words = (0..)
                .zip(due.iter())
                .map(|(position, entry)| (entry.deadline_ns - low) << POSITION_BITS | position);
            self.positions.extend(words);
            self.positions.sort_unstable();
            for word in &mut self.positions {
                *word &= (1 << POSITION_BITS) - 1;
            }
        } else {
            self.positions.extend(0..due.len() as u64);
            self.positions
                .sort_unstable_by_key(|&position| (due[index(position)].deadline_ns, position));
        }
        self.unsorted.clear();
        self.unsorted.extend_from_slice(due);
        for (entry, &position) in due.iter_mut().zip(&self.positions) {
            *entry = self.unsorted[index(position)];
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a position comes from an index"
)]
fn index(position: u64) -> usize {
    position as usize
}
