//! Takes dead entries out of the wheel, a little with every death.
//!
//! An entry's owner cannot remove it, because nothing but a scan tells where
//! it went when slots cascaded; a table that knew would slow down every timer
//! for the sake of those that are cancelled. So a death is only counted, and
//! pays for looking at [`ENTRIES_PER_DEATH`] entries, wherever the sweep
//! stands.
//!
//! A turn of the sweep goes through the levels from the highest to the
//! lowest. Cascading takes entries the same way, so no dead entry can slip
//! behind the sweep: a turn meets every entry that was there when it began.
//! With `n` entries at its beginning, and for each death at most one insert,
//! it is over after `n / (ENTRIES_PER_DEATH - 1)` deaths, and all the dead it
//! leaves behind are from among these. With 4, `L` living and `D` dead turn
//! into at most `(L + D) / 3` dead, which settles at `L / 2`, and at `L` just
//! before a turn is over. (Entries that cascade meanwhile may be met twice,
//! which delays a turn; but time that passes removes the dead as well.)

use super::chunk::{CHUNK, NIL, Pool};
use super::level::{Lane, Levels, Place};

/// Entries looked at for each death. Each costs the owner a look-up: 8 of
/// them halve the dead and nearly double the cost of a cancelled timer.
const ENTRIES_PER_DEATH: usize = 4;

/// How far the sweep has come.
#[derive(Debug)]
pub(super) struct Sweeper {
    place: Place,
    lane: Lane,
    /// The last chunk of that list that was swept and still is there, or
    /// [`NIL`].
    previous: u32,
    /// Entries paid for but not yet looked at.
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

    /// The chunks of `place` are about to leave it. Some may come back.
    pub(super) fn slot_taken(&mut self, place: Place) {
        if self.place == place {
            self.lane = Lane::Cascaded;
            self.previous = NIL;
        }
    }

    /// Takes one more death into account. Returns how many entries went.
    pub(super) fn pay(
        &mut self,
        levels: &mut Levels,
        pool: &mut Pool,
        mut is_live: impl FnMut(u64) -> bool,
    ) -> usize {
        self.credit += ENTRIES_PER_DEATH;
        let mut removed = 0;
        // Whole chunks, and only when even a full one is paid for: eight deaths
        // save up for its entries.
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

/// What sweeping a chunk came to.
struct Swept {
    met: usize,
    removed: usize,
}
