//! The timer wheel: deadlines go in as integers, and keys come out when due.
//!
//! The wheel knows no futures, floats or phases. Its ground rules:
//!
//! - A tick is a power of two of nanoseconds, and a slot holds a range of
//!   ticks. An entry keeps its exact deadline, and the current slot is compared
//!   entry by entry. So nothing fires early, and a timer that is due at `now`
//!   fires at `now`.
//! - The cursor is a tick at or before the latest `now`, and never goes back.
//!   The distance of a deadline from the cursor selects the level. So **of two
//!   entries with the same deadline, the later one is never on a higher level**.
//!   When they meet in a slot, the one from the higher level was inserted
//!   first. So each slot has two first-in-first-out lists: one for entries from
//!   above, one for inserted entries. When the entries of a slot leave it, a stable
//!   sort puts them in order of deadline. No entry stores a sequence number.
//! - A slot of a higher level *cascades* when the cursor reaches its first
//!   tick: its entries are spread over the lower levels. Of several slots with
//!   that tick, the highest comes first. An entry whose deadline has passed
//!   goes to the cursor's own slot.
//! - Nothing fires before `next_event_ns`. So a call that has nothing to do
//!   costs one comparison, with any number of timers. The cursor jumps from one
//!   occupied slot to the next, by bitmap, never tick by tick.
//! - Cancelling does not touch the wheel. The key goes stale: then its entry is
//!   *dead*, and the caller reports the death. See [`sweep`] for how dead entries are
//!   removed.

mod chunk;
mod level;
mod sweep;
#[cfg(test)]
mod tests;

use chunk::{ChunkList, ChunkPool, NIL};
use level::{LEVELS, Lane, Levels, SlotIndex, begins_higher, start_of, tick_of};
use sweep::Sweeper;

pub(crate) use level::TICK_BITS;

/// A hierarchical timer wheel over the whole range of `u64` nanoseconds.
///
/// A key may be stored any number of times. The caller decides whether an entry is
/// live, by its key and its deadline. A dead entry must stay dead while it is stored.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// No deadline in the wheel is earlier than this time. It is a deadline, or the start
    /// of a slot.
    next_event_ns: u64,
    /// The position of the wheel, as a tick.
    cursor: u64,
    /// The time of the last expiry.
    now_ns: u64,
    len: usize,
    levels: Levels,
    pool: ChunkPool,
    sweeper: Sweeper,
    order: Order,
    /// The latest result of [`Wheel::earliest`], if it is still known, or [`ALL_HELD`]. It may have
    /// died since.
    earliest: Option<TimerEntry>,
    /// The moment for which `earliest` is known.
    moment: u64,
}

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Dead,
    /// Alive, but not due at any time that is known now.
    Held,
    /// Due at its deadline.
    Waiting,
}

/// In place of the earliest entry: all entries are held. (A new entry has an earlier deadline than
/// this one, or a deadline that no clock reaches.)
const ALL_HELD: TimerEntry = TimerEntry {
    deadline_ns: u64::MAX,
    key: u64::MAX,
};

impl Wheel {
    /// Makes a wheel at time 0. Allocates nothing until the first insert.
    pub(crate) fn new() -> Self {
        Self {
            next_event_ns: u64::MAX,
            cursor: 0,
            now_ns: 0,
            len: 0,
            levels: Levels::new(),
            pool: ChunkPool::new(),
            sweeper: Sweeper::new(),
            order: Order::new(),
            earliest: None,
            moment: 0,
        }
    }

    /// Whether nothing is stored, not even a dead entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many entries are stored, dead ones included.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Stores `key` until `deadline_ns`. If that time has passed, the key is due at the
    /// next expiry.
    #[inline(always)]
    pub(crate) fn insert(&mut self, deadline_ns: u64, key: u64) {
        let entry = TimerEntry { deadline_ns, key };
        if self.len == 0 {
            // The cursor does not move in an empty wheel. Moving it now avoids cascades
            // from its last position.
            self.cursor = self.cursor.max(tick_of(self.now_ns));
            self.earliest = Some(entry);
        } else if self
            .earliest
            .is_some_and(|earliest| deadline_ns < earliest.deadline_ns)
        {
            self.earliest = Some(entry);
        }
        self.len += 1;
        self.next_event_ns = self.next_event_ns.min(deadline_ns);
        self.place(entry, Lane::Inserted);
    }

    /// Appends all entries with a deadline at or before `now_ns` to `due`, by
    /// deadline, then by insertion.
    ///
    /// `now_ns` may decrease, as the game clock does in a phase that the host runs
    /// both inside and outside of fixed steps. Even then, no due entry is lost, and
    /// none fires before its deadline.
    pub(crate) fn expire(&mut self, now_ns: u64, due: &mut Vec<TimerEntry>) {
        self.now_ns = now_ns;
        if self.may_expire(now_ns) {
            self.turn(now_ns, due);
        }
    }

    /// Whether something may be due at `now_ns`. If not, `expire` need not be
    /// called.
    pub(crate) fn may_expire(&self, now_ns: u64) -> bool {
        now_ns >= self.next_event_ns
    }

    /// The time before which nothing is due. `None` if nothing is stored.
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.next_event_ns)
    }

    /// Notes that an entry has died.
    ///
    /// Looks at four entries on average and a few dozen at most, at the position of
    /// the sweep, and removes the dead ones among them. The dead entries hardly ever
    /// outnumber the entries that were live when the sweep's last turn began, or only by
    /// a chunk or two. Usually they are a fifth.
    pub(crate) fn note_dead(&mut self, is_live: impl FnMut(TimerEntry) -> bool) {
        self.len -= self.sweeper.pay(&mut self.levels, &mut self.pool, is_live);
    }

    /// The time at which the first entry is due, without entries that are dead or held.
    ///
    /// The result is remembered until that entry fires or dies, or `moment` changes.
    /// Otherwise the first occupied slots are searched. Between two calls with the same
    /// `moment`, no entry may cease to be held.
    pub(crate) fn earliest(
        &mut self,
        moment: u64,
        mut standing: impl FnMut(TimerEntry) -> Standing,
    ) -> Option<u64> {
        let holds = |entry| entry == ALL_HELD || standing(entry) == Standing::Waiting;
        let is_known = self.moment == moment && self.earliest.is_some_and(holds);
        if !is_known {
            self.moment = moment;
            self.earliest = Some(ALL_HELD);
            for level in 0..LEVELS {
                self.search(level, &mut standing);
            }
            // The dead entries are gone, so all the others are held.
            self.earliest = self.earliest.filter(|_| self.len > 0);
        }
        let earliest = self.earliest.filter(|&earliest| earliest != ALL_HELD);
        earliest.map(|earliest| earliest.deadline_ns)
    }

    /// Searches a level for an entry that is due before `self.earliest`.
    fn search(&mut self, level: usize, standing: &mut impl FnMut(TimerEntry) -> Standing) {
        for (place, tick) in self.levels.in_order(level, self.cursor) {
            let is_before = |earliest: TimerEntry| earliest.deadline_ns <= start_of(tick);
            if self.earliest.is_some_and(is_before) {
                return;
            }
            if self.search_slot(place, standing) {
                continue;
            }
            // All are dead. Dropping them now avoids another search.
            for mut list in self.take(place) {
                while let Some(entries) = self.pool.pop_chunk(&mut list) {
                    self.len -= entries.len();
                }
            }
        }
    }

    /// Calls `f` with the deadline and the key of every entry, dead ones included. Of entries
    /// with the same deadline, the one inserted first comes first.
    pub(crate) fn for_each(&self, mut f: impl FnMut(TimerEntry)) {
        // It is on the higher level, or in the first lane of the same slot.
        self.levels.each_list_from_top(|list| {
            for entries in self.pool.chunks(list) {
                entries.iter().copied().for_each(&mut f);
            }
        });
    }

    /// Stores an entry in the slot for its distance from the cursor.
    #[inline(always)]
    fn place(&mut self, entry: TimerEntry, lane: Lane) {
        let tick = tick_of(entry.deadline_ns).max(self.cursor);
        let place = SlotIndex::of(tick, self.cursor);
        let list = self.levels.occupy(place, lane);
        let placed = list.is_some_and(|list| self.pool.push(list, entry));
        if !placed {
            self.place_in_new_chunk(place, lane, entry);
        }
    }

    /// The same for a list without room. It is the last call in `place`, so `place`
    /// needs no stack frame.
    #[cold]
    #[inline(never)]
    fn place_in_new_chunk(&mut self, place: SlotIndex, lane: Lane, entry: TimerEntry) {
        let list = self.levels.list_or_new(place, lane);
        self.pool.push_in_new_chunk(list, entry);
    }

    /// Empties a slot. Returns its lists, by lane.
    fn take(&mut self, place: SlotIndex) -> [ChunkList; 2] {
        self.sweeper.slot_taken(place);
        self.levels.take(place)
    }

    /// Moves the cursor to `now_ns`, slot by occupied slot.
    #[inline(never)]
    fn turn(&mut self, now_ns: u64, due: &mut Vec<TimerEntry>) {
        let before = due.len();
        let target = tick_of(now_ns).max(self.cursor);
        self.next_event_ns = loop {
            let Some(tick) = self.levels.first_tick(self.cursor) else {
                break u64::MAX;
            };
            if tick > target {
                break start_of(tick);
            }
            if begins_higher(tick) {
                self.cascade(tick);
            }
            self.cursor = tick;
            let from = due.len();
            let left = if tick < target {
                self.drain(due);
                None
            } else {
                self.drain_exactly(now_ns, due)
            };
            self.order.sort(&mut due[from..]);
            if let Some(next_ns) = left {
                break next_ns;
            }
        };
        self.cursor = target;
        self.len -= due.len() - before;
        self.earliest = self
            .earliest
            .filter(|earliest| earliest.deadline_ns > now_ns);
    }

    /// Moves the cursor to `tick`. No entry before it may be stored. Spreads the slots of
    /// higher levels that begin at `tick` over the levels below.
    #[inline(never)]
    fn cascade(&mut self, tick: u64) {
        // All slots are taken before the cursor moves. Seen from `tick`, they would be
        // the last slots of their levels.
        let lists: [[ChunkList; 2]; LEVELS] = std::array::from_fn(|level| {
            let first = self.levels.first_of(level, self.cursor);
            let begins = first.filter(|&(place, start)| place.level > 0 && start == tick);
            begins.map_or([ChunkList::EMPTY; 2], |(place, _)| self.take(place))
        });
        self.cursor = tick;
        for mut list in lists.into_iter().rev().flatten() {
            while !list.is_empty() {
                for number in self.pool.first(list) {
                    self.place(self.pool.entry(number), Lane::Cascaded);
                }
                self.pool.unlink(&mut list, NIL);
            }
        }
    }

    /// Moves all entries of the cursor's slot to `due`.
    fn drain(&mut self, due: &mut Vec<TimerEntry>) {
        for mut list in self.take(SlotIndex::of(self.cursor, self.cursor)) {
            while let Some(entries) = self.pool.pop_chunk(&mut list) {
                due.extend_from_slice(entries);
            }
        }
    }

    /// Moves the entries of the cursor's slot that are due at `now_ns` to `due`.
    /// Returns the earliest deadline of the other entries.
    fn drain_exactly(&mut self, now_ns: u64, due: &mut Vec<TimerEntry>) -> Option<u64> {
        let mut left: Option<u64> = None;
        for mut list in self.take(SlotIndex::of(self.cursor, self.cursor)) {
            while !list.is_empty() {
                for number in self.pool.first(list) {
                    let entry = self.pool.entry(number);
                    if entry.deadline_ns <= now_ns {
                        due.push(entry);
                    } else {
                        left = Some(left.map_or(entry.deadline_ns, |ns| ns.min(entry.deadline_ns)));
                        self.place(entry, Lane::Cascaded);
                    }
                }
                self.pool.unlink(&mut list, NIL);
            }
        }
        left
    }

    /// Searches a slot for an entry that is due before `self.earliest`. Returns
    /// `false` if all are dead.
    fn search_slot(
        &mut self,
        place: SlotIndex,
        standing: &mut impl FnMut(TimerEntry) -> Standing,
    ) -> bool {
        let mut is_needed = false;
        let lists = Lane::BOTH.map(|lane| self.levels.list(place, lane));
        let chunks = lists.into_iter().flat_map(|list| self.pool.chunks(list));
        for &entry in chunks.flatten() {
            // `standing` is called last, because it costs the caller a look-up. An entry that no
            // clock reaches may be dead.
            let is_before = |first: TimerEntry| first.deadline_ns <= entry.deadline_ns;
            if self
                .earliest
                .is_some_and(|first| first != ALL_HELD && is_before(first))
            {
                is_needed = true;
                continue;
            }
            let stands = standing(entry);
            is_needed |= stands != Standing::Dead;
            if stands == Standing::Waiting {
                self.earliest = Some(entry);
            }
        }
        is_needed
    }
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}

/// A timer: stored, or due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerEntry {
    /// The deadline, in nanoseconds of the timer's clock.
    pub(crate) deadline_ns: u64,
    /// The key that was inserted with the deadline.
    pub(crate) key: u64,
}

impl TimerEntry {
    /// Fills the places of a chunk that hold no timer.
    const NEVER: TimerEntry = TimerEntry {
        deadline_ns: u64::MAX,
        key: 0,
    };
}

/// Low bits of a packed word that hold an entry's position.
const POSITION_BITS: u32 = 32;

/// Buffers for a sort, kept to reuse their memory: as large as the largest unsorted slot
/// so far.
#[derive(Debug)]
struct Order {
    /// The positions of entries, in order of deadline. During the sort mostly with the
    /// deadline packed above the position.
    positions: Vec<u64>,
    unsorted: Vec<TimerEntry>,
}

impl Order {
    const fn new() -> Self {
        Self {
            positions: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// How many entries can be sorted without allocating.
    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.positions.capacity().min(self.unsorted.capacity())
    }

    /// Sorts `due` by deadline. Entries with the same deadline keep their order.
    fn sort(&mut self, due: &mut [TimerEntry]) {
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
