//! Removes dead entries from the wheel, a few with every death.
//!
//! A caller cannot remove an entry by its key: only a scan finds where the
//! entry went when slots cascaded. A table of positions would slow down every
//! timer for the sake of the cancelled ones. So a death is only counted. In return,
//! [`ENTRIES_PER_DEATH`] entries at the position of the sweep are examined.
//!
//! A turn of the sweep goes through the levels from the highest to the lowest.
//! Cascading moves entries the same way, so no dead entry can get behind the
//! sweep: a turn meets every entry that was stored when it began. With `n`
//! entries at its beginning, and at most one insert for each death, a turn ends
//! after `n / (ENTRIES_PER_DEATH - 1)` deaths. All dead entries that the turn leaves
//! behind are among these deaths. With 4 entries for each death, `L` live and `D` dead
//! entries become at most `(L + D) / 3` dead entries. That settles at `L / 2`, and at
//! `L` just before a turn ends. (A turn may meet entries that cascade twice, which
//! delays its end. But expiry removes dead entries as well.)

use super::TimerEntry;
use super::chunk::{CHUNK, ChunkPool, NIL};
use super::level::{Lane, Levels, SlotIndex};

/// How many entries to examine for each death. Each costs the caller a look-up: with 8,
/// there are half as many dead entries, and a cancelled timer costs nearly twice as
/// much.
const ENTRIES_PER_DEATH: usize = 4;

/// The position of the sweep.
#[derive(Debug)]
pub(super) struct Sweeper {
    place: SlotIndex,
    lane: Lane,
    /// The last chunk of the list that was swept and kept, or [`NIL`].
    previous: u32,
    /// How many entries deaths have paid for that have not been examined.
    credit: usize,
}

impl Sweeper {
    pub(super) fn new() -> Self {
        Self {
            place: SlotIndex::of(0, 0),
            lane: Lane::Cascaded,
            previous: NIL,
            credit: 0,
        }
    }

    /// Notes that the chunks of `place` are about to be taken. Some may return.
    pub(super) fn slot_taken(&mut self, place: SlotIndex) {
        if self.place == place {
            self.lane = Lane::Cascaded;
            self.previous = NIL;
        }
    }

    /// Counts one more death. Returns how many entries were removed.
    pub(super) fn pay(
        &mut self,
        levels: &mut Levels,
        pool: &mut ChunkPool,
        mut is_live: impl FnMut(TimerEntry) -> bool,
    ) -> usize {
        self.credit += ENTRIES_PER_DEATH;
        let mut removed = 0;
        // Only whole chunks are swept, and only once a full chunk is paid for. That
        // takes eight deaths.
        while self.credit >= CHUNK {
            let Some(swept) = self.sweep_chunk(levels, pool, &mut is_live) else {
                self.credit = 0;
                break;
            };
            self.credit -= swept.met;
            removed += swept.removed;
        }
        removed
    }

    /// Sweeps the next chunk. `None` if the wheel is empty.
    fn sweep_chunk(
        &mut self,
        levels: &mut Levels,
        pool: &mut ChunkPool,
        is_live: impl FnMut(TimerEntry) -> bool,
    ) -> Option<Swept> {
        let mut index = pool.after(levels.list(self.place, self.lane), self.previous);
        while index == NIL {
            self.previous = NIL;
            self.lane = match self.lane {
                Lane::Cascaded => Lane::Inserted,
                Lane::Inserted => {
                    self.place = levels.next_to_sweep(self.place)?;
                    Lane::Cascaded
                }
            };
            index = pool.after(levels.list(self.place, self.lane), NIL);
        }
        let list = levels.list_mut(self.place, self.lane)?;
        let (met, removed) = pool.retain(list, index, is_live);
        if removed == met || (self.previous != NIL && pool.merge(list, self.previous)) {
            pool.unlink(list, self.previous);
            levels.vacate(self.place);
        } else {
            self.previous = index;
        }
        Some(Swept { met, removed })
    }
}

/// The result of sweeping a chunk.
struct Swept {
    met: usize,
    removed: usize,
}
