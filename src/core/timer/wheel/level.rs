//! Where a deadline belongs: ticks, levels and slots.

use super::chunk::ChunkList;

/// A tick is 2^21 ns, about two milliseconds. A frame at 60 Hz turns the wheel by eight
/// slots. A million timers that are spread over seconds leave a few hundred timers to
/// sort in each slot. Timers of up to 0.1 s go to the lowest level. Timers of up to 8.6 s
/// cascade once. Exactness does not depend on the tick. From 2^19 to 2^22 ns, the cost
/// of a timer varies by a fifth at most.
pub(crate) const TICK_BITS: u32 = 21;

/// Bits of a tick that pick the slot within a level.
const SLOT_BITS: u32 = 6;

/// Slots of a level, as many as its bitmap has bits.
pub(super) const SLOTS: usize = 1 << SLOT_BITS;

/// Enough levels for every tick of a `u64` of nanoseconds.
pub(super) const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(SLOT_BITS) as usize;

/// The tick that `ns` falls into.
pub(super) const fn tick_of(ns: u64) -> u64 {
    ns >> TICK_BITS
}

/// The first nanosecond of `tick`.
pub(super) const fn start_of(tick: u64) -> u64 {
    tick << TICK_BITS
}

/// Whether `tick` may be the first tick of slots of higher levels.
pub(super) const fn begins_higher(tick: u64) -> bool {
    tick % SLOTS as u64 == 0
}

/// One slot of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotIndex {
    pub(super) level: usize,
    slot: usize,
}

impl SlotIndex {
    /// The slot of `tick`, for a wheel at `cursor`. The distance of `tick` from the cursor
    /// selects the level. The digit of `tick` at that level selects the slot. So the range
    /// of a level does not depend on the position of the cursor.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a slot is masked to six bits"
    )]
    pub(super) fn of(tick: u64, cursor: u64) -> Self {
        debug_assert!(tick >= cursor, "the slots before the cursor are gone");
        let level = ((tick - cursor) | 1).ilog2() / SLOT_BITS;
        let slot = (tick >> (level * SLOT_BITS)) as usize % SLOTS;
        Self {
            // Always less than `LEVELS`, which the compiler cannot know.
            level: level as usize % LEVELS,
            slot,
        }
    }

    /// The slot of the lowest bit of a level's bitmap.
    fn lowest(level: usize, occupied: u64) -> Self {
        Self {
            level,
            slot: occupied.trailing_zeros() as usize,
        }
    }
}

/// How the entries of a slot came there. Of two entries with the same deadline, the
/// one that was inserted first was further ahead. So it came from a higher level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// From a higher level.
    Cascaded,
    /// Inserted directly.
    Inserted,
}

impl Lane {
    pub(super) const BOTH: [Lane; 2] = [Lane::Cascaded, Lane::Inserted];
}

/// The lists of a level, by lane, then by slot.
type Slots = [[ChunkList; SLOTS]; 2];

/// The slots of all levels, and which of them hold entries.
#[derive(Debug)]
pub(super) struct Levels {
    occupied: [u64; LEVELS],
    /// Allocated at the first insert into the level. Most wheels use two or three
    /// levels.
    slots: [Option<Box<Slots>>; LEVELS],
}

impl Levels {
    pub(super) const fn new() -> Self {
        Self {
            occupied: [0; LEVELS],
            slots: [const { None }; LEVELS],
        }
    }

    /// The list of a slot that is about to receive an entry. `None` if its level
    /// has never been used.
    #[inline(always)]
    pub(super) fn occupy(&mut self, place: SlotIndex, lane: Lane) -> Option<&mut ChunkList> {
        self.occupied[place.level] |= 1 << place.slot;
        self.list_mut(place, lane)
    }

    /// The list of a slot. Allocates its level if that has never been used.
    pub(super) fn list_or_new(&mut self, place: SlotIndex, lane: Lane) -> &mut ChunkList {
        let slots = &mut self.slots[place.level];
        let slots = slots.get_or_insert_with(|| Box::new([[ChunkList::EMPTY; SLOTS]; 2]));
        &mut slots[lane as usize][place.slot]
    }

    /// Marks a slot as empty, if it is empty.
    pub(super) fn vacate(&mut self, place: SlotIndex) {
        let [older, newer] = Lane::BOTH.map(|lane| self.list(place, lane));
        if older.is_empty() && newer.is_empty() {
            self.occupied[place.level] &= !(1 << place.slot);
        }
    }

    /// Empties a slot. Returns its lists, by lane.
    pub(super) fn take(&mut self, place: SlotIndex) -> [ChunkList; 2] {
        self.occupied[place.level] &= !(1 << place.slot);
        Lane::BOTH.map(|lane| {
            let list = self.list_mut(place, lane);
            list.map_or(ChunkList::EMPTY, |list| {
                std::mem::replace(list, ChunkList::EMPTY)
            })
        })
    }

    /// One list of a slot.
    pub(super) fn list(&self, place: SlotIndex, lane: Lane) -> ChunkList {
        self.slots[place.level]
            .as_ref()
            .map_or(ChunkList::EMPTY, |slots| slots[lane as usize][place.slot])
    }

    /// One list of a slot. `None` if its level has never been used.
    #[inline(always)]
    pub(super) fn list_mut(&mut self, place: SlotIndex, lane: Lane) -> Option<&mut ChunkList> {
        Some(&mut self.slots[place.level].as_deref_mut()?[lane as usize][place.slot])
    }

    /// The first occupied slot of a level, for a wheel at `cursor`, and its first
    /// tick.
    ///
    /// On the lowest level, the cursor's own slot is the first. On the other levels, the
    /// cursor's slot was spread when the cursor reached it, so its present entries are a
    /// whole turn ahead.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "levels are few, and of a digit the low bits are asked for"
    )]
    pub(super) fn first_of(&self, level: usize, cursor: u64) -> Option<(SlotIndex, u64)> {
        let occupied = self.occupied[level];
        if occupied == 0 {
            return None;
        }
        let shift = level as u32 * SLOT_BITS;
        let from = (cursor >> shift) + u64::from(level > 0);
        let in_order = occupied.rotate_right(from as u32 % u64::BITS);
        let first = from + u64::from(in_order.trailing_zeros());
        let slot = first as usize % SLOTS;
        Some((SlotIndex { level, slot }, first << shift))
    }

    /// All occupied slots of a level in order, as [`first_of`](Levels::first_of)
    /// finds the first.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "levels are few, and of a digit the low bits are asked for"
    )]
    pub(super) fn in_order(
        &self,
        level: usize,
        cursor: u64,
    ) -> impl Iterator<Item = (SlotIndex, u64)> + use<> {
        let shift = level as u32 * SLOT_BITS;
        let from = (cursor >> shift) + u64::from(level > 0);
        let mut left = self.occupied[level].rotate_right(from as u32 % u64::BITS);
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let next = from + u64::from(left.trailing_zeros());
            left &= left - 1;
            let slot = next as usize % SLOTS;
            Some((SlotIndex { level, slot }, next << shift))
        })
    }

    /// The first tick of the occupied slot that begins first.
    #[inline(always)]
    pub(super) fn first_tick(&self, cursor: u64) -> Option<u64> {
        match self.first_of(0, cursor) {
            // Slots of higher levels do not begin before the lowest level has
            // turned round.
            Some((_, tick)) if tick >> SLOT_BITS == cursor >> SLOT_BITS => Some(tick),
            _ => self.first_tick_of_all(cursor),
        }
    }

    #[inline(never)]
    fn first_tick_of_all(&self, cursor: u64) -> Option<u64> {
        let firsts = (0..LEVELS).filter_map(|level| self.first_of(level, cursor));
        firsts.map(|(_, tick)| tick).min()
    }

    /// The occupied slot after `place` in the order of the sweep: up through the
    /// slots of a level, then the level *below*, and from the lowest level back to
    /// the highest. Returns `place` itself if no other slot is occupied.
    pub(super) fn next_to_sweep(&self, place: SlotIndex) -> Option<SlotIndex> {
        let later = self.occupied[place.level] & (!1 << place.slot);
        if later != 0 {
            return Some(SlotIndex::lowest(place.level, later));
        }
        let below = (0..place.level).rev();
        let level = below
            .chain((place.level..LEVELS).rev())
            .find(|&level| self.occupied[level] != 0)?;
        Some(SlotIndex::lowest(level, self.occupied[level]))
    }

    /// Calls `f` with all lists of occupied slots: the highest level first, and of each level the
    /// first lane first.
    pub(super) fn each_list_from_top(&self, mut f: impl FnMut(ChunkList)) {
        for level in (0..LEVELS).rev().filter(|&level| self.occupied[level] != 0) {
            for lane in Lane::BOTH {
                let mut left = self.occupied[level];
                while left != 0 {
                    f(self.list(SlotIndex::lowest(level, left), lane));
                    left &= left - 1;
                }
            }
        }
    }
}
