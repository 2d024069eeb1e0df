//! Removes dead entries from the wheel, a few with every death.
//!
//! A caller cannot remove an entry by its key: only a scan finds where the
//! entry went when slots cascaded. A table of positions would slow down every
//! timer for the sake of those that are cancelled. So a death is only counted.
//! It pays for looking at [`ENTRIES_PER_DEATH`] entries at the position of the
//! sweep.
//!
//! A turn of the sweep goes through the levels from the highest to the lowest.
//! Cascading moves entries the same way, so no dead entry can get behind the
//! sweep: a turn meets every entry that was stored when it began. With `n`
//! entries at its beginning, and at most one insert for each death, a turn ends
//! after `n / (ENTRIES_PER_DEATH - 1)` deaths. All the dead that it leaves
//! behind are among these. With 4, `L` live and `D` dead entries turn into at
//! most `(L + D) / 3` dead. That settles at `L / 2`, and at `L` just before a
//! turn ends. (Entries that cascade meanwhile may be met twice, which delays a
//! turn. But expiry removes dead entries as well.)

use super::chunk::{CHUNK, NIL, Pool};
use super::level::{Lane, Levels, Place};

/// How many entries to look at for each death. Each costs the caller a look-up:
/// 8 of them halve the dead, and nearly double the cost of a cancelled timer.
const ENTRIES_PER_DEATH: usize = 4;

/// The position of the sweep.
#[derive(Debug)]
pub(super) struct Sweeper {
    place: Place,
    lane: Lane,
    /// The last chunk of that list that was swept and kept, or [`NIL`].
    previous: u32,
    /// How many entries have been paid for but not looked at.
    credit: usize,
}

impl Sweeper {
    pub(super) fn new() -> Self {
        Self {
            place: Place::of(0, 0),
            lane: Lane::Cascaded,
            previous: NIL,
            credit: 0,
        }
    }

    /// Notes that the chunks of `place` are about to leave it. Some may return.
    pub(super) fn slot_taken(&mut self, place: Place) {
        if self.place == place {
            self.lane = Lane::Cascaded;
            self.previous = NIL;
        }
    }

    /// Counts one more death. Returns how many entries were removed.
    pub(super) fn pay(
        &mut self,
        levels: &mut Levels,
        pool: &mut Pool,
        mut is_live: impl FnMut(u64) -> bool,
    ) -> usize {
        self.credit += ENTRIES_PER_DEATH;
        let mut removed = 0;
        // Only whole chunks are swept, and only when a full one is paid for, which
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
        pool: &mut Pool,
        is_live: impl FnMut(u64) -> bool,
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
