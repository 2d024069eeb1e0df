//! Where a deadline belongs: ticks, levels and slots.

use super::chunk::List;

/// A tick is 2^21 ns, about two milliseconds: a frame at 60 Hz turns the wheel
/// by eight slots, and a million timers spread over seconds leave a few
/// hundred to sort in each. Timers of up to 0.1 s go to the lowest level,
/// those of up to 8 s cascade once. Exactness does not depend on it, and from
/// 2^19 to 2^22 the cost of a timer varies by a fifth at the most.
const TICK_BITS: u32 = 21;

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

/// One slot of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) level: usize,
    slot: usize,
}

impl Place {
    /// The slot in which `tick` waits while the wheel stands at `cursor`:
    /// the highest digit in which the two differ names the level, the digit
    /// itself the slot.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a slot is masked to six bits"
    )]
    pub(super) fn of(tick: u64, cursor: u64) -> Self {
        debug_assert!(tick >= cursor, "the slots before the cursor are gone");
        // `| 1` makes the cursor's own tick differ in the lowest digit.
        let level = ((tick ^ cursor) | 1).ilog2() / SLOT_BITS;
        let slot = (tick >> (level * SLOT_BITS)) as usize % SLOTS;
        Self {
            // There are no more, which the compiler cannot know.
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

    /// The first tick of this slot, for a wheel that stands at `cursor`.
    pub(super) fn first_tick(self, cursor: u64) -> u64 {
        let low = self.level * SLOT_BITS as usize;
        let high = low + SLOT_BITS as usize;
        (cursor >> high << high) | ((self.slot as u64) << low)
    }
}

/// The slots of all levels, and which of them hold anything.
#[derive(Debug)]
pub(super) struct Levels {
    occupied: [u64; LEVELS],
    /// Allocated at the first insert into the level: most wheels use two or
    /// three of them.
    slots: [Option<Box<[List; SLOTS]>>; LEVELS],
}

impl Levels {
    pub(super) const fn new() -> Self {
        Self {
            occupied: [0; LEVELS],
            slots: [const { None }; LEVELS],
        }
    }

    /// The list of a slot that is about to receive an entry, if its level was
    /// ever used.
    #[inline(always)]
    pub(super) fn occupy(&mut self, place: Place) -> Option<&mut List> {
        self.occupied[place.level] |= 1 << place.slot;
        self.list_mut(place)
    }

    /// The list of a slot, whose level may not have been used yet.
    pub(super) fn list_or_new(&mut self, place: Place) -> &mut List {
        let slots = self.slots[place.level].get_or_insert_with(|| Box::new([List::EMPTY; SLOTS]));
        &mut slots[place.slot]
    }

    /// Marks a slot as empty.
    pub(super) fn vacate(&mut self, place: Place) {
        self.occupied[place.level] &= !(1 << place.slot);
    }

    /// Empties a slot and returns what was in it.
    pub(super) fn take(&mut self, place: Place) -> List {
        self.vacate(place);
        self.list_mut(place)
            .map_or(List::EMPTY, |list| std::mem::replace(list, List::EMPTY))
    }

    /// What is in a slot.
    pub(super) fn list(&self, place: Place) -> List {
        self.slots[place.level]
            .as_ref()
            .map_or(List::EMPTY, |slots| slots[place.slot])
    }

    /// The list of a slot, if its level was ever used.
    #[inline(always)]
    pub(super) fn list_mut(&mut self, place: Place) -> Option<&mut List> {
        Some(&mut self.slots[place.level].as_deref_mut()?[place.slot])
    }

    /// The occupied slot with the earliest ticks. Slots behind the cursor
    /// are empty and each level lies wholly before the next, so it is the
    /// lowest bit of the lowest level.
    pub(super) fn first(&self) -> Option<Place> {
        let level = self.occupied.iter().position(|&bits| bits != 0)?;
        Some(Place::lowest(level, self.occupied[level]))
    }

    /// The occupied slot after `place` in the order of sweeping: up through
    /// the slots of a level, then the level *below*, from the lowest level
    /// back to the highest. Comes round to `place` itself if there is no
    /// other.
    pub(super) fn next_to_sweep(&self, place: Place) -> Option<Place> {
        let later = self.occupied[place.level] & (!1 << place.slot);
        if later != 0 {
            return Some(Place::lowest(place.level, later));
        }
        let below = (0..place.level).rev();
        let level = below
            .chain((place.level..LEVELS).rev())
            .find(|&level| self.occupied[level] != 0)?;
        Some(Place::lowest(level, self.occupied[level]))
    }

    /// Every list that may hold entries.
    pub(super) fn lists(&self) -> impl Iterator<Item = List> {
        self.slots
            .iter()
            .flatten()
            .flat_map(|slots| slots.iter().copied())
    }
}
