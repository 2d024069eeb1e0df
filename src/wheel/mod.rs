//! The timer wheel: integer deadlines go in, keys come out when due.
//!
//! It knows no futures, floats or phases. Ground rules:
//!
//! - A tick is a power of two of nanoseconds, and a slot holds a range of
//!   ticks, but an entry keeps its exact deadline and the slot of the current
//!   tick is compared entry by entry: nothing fires early, and what is due
//!   at `now` fires at `now`.
//! - The cursor is a tick at or before the last `now`. Where an entry waits
//!   depends on its deadline and the cursor alone, so **entries of one
//!   deadline always share a slot**, in the order of their insertion. Slots
//!   are first in first out and each is sorted stably by deadline as it comes
//!   out; no entry stores a sequence number.
//! - Every slot behind the cursor is empty. A slot of a higher level is spread
//!   over the lower ones (cascades) when the cursor reaches its first tick.
//!   Deadlines that have already passed wait in the cursor's own slot.
//! - Nothing fires before `next_event_ns`, which makes a call that has nothing
//!   to do a comparison, however many timers there are. The cursor jumps from
//!   one occupied slot to the next, by bitmap, never tick by tick.
//! - Cancelling does not touch the wheel: the owner forgets the key and
//!   reports the death. See [`sweep`] for how dead entries leave.

#![forbid(unsafe_code)]

mod chunk;
mod level;
mod order;
mod sweep;
#[cfg(test)]
mod tests;

use chunk::{List, NIL, Pool};
use level::{Levels, Place, start_of, tick_of};
use order::Order;
use sweep::Sweeper;

/// A timer that has fallen due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// When it was to fire, in nanoseconds of its clock.
    pub(crate) deadline_ns: u64,
    /// The key it was inserted with.
    pub(crate) key: u64,
}

impl Due {
    /// What stands where no timer does.
    const NEVER: Due = Due {
        deadline_ns: u64::MAX,
        key: 0,
    };
}

/// A hierarchical timer wheel over the whole range of `u64` nanoseconds.
///
/// A key may be stored any number of times. Whether it lives is for the owner
/// to say; a key that has died must stay dead while it is stored.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// No deadline in the wheel is earlier; at most the start of a slot.
    next_event_ns: u64,
    /// Where the wheel stands, as a tick.
    cursor: u64,
    /// The time of the last expiry.
    now_ns: u64,
    len: usize,
    levels: Levels,
    pool: Pool,
    sweeper: Sweeper,
    order: Order,
    /// If known, an entry that no live one precedes. It may be dead itself.
    earliest: Option<Due>,
}

impl Wheel {
    /// A wheel at time 0. Allocates nothing until the first insert.
    pub(crate) fn new() -> Self {
        Self {
            next_event_ns: u64::MAX,
            cursor: 0,
            now_ns: 0,
            len: 0,
            levels: Levels::new(),
            pool: Pool::new(),
            sweeper: Sweeper::new(),
            order: Order::new(),
            earliest: None,
        }
    }

    /// Whether nothing is stored, not even a dead entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries stored, dead ones included.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Stores `key` until `deadline_ns`. A deadline that has already passed
    /// is due at the next expiry.
    #[inline(always)]
    pub(crate) fn insert(&mut self, deadline_ns: u64, key: u64) {
        let entry = Due { deadline_ns, key };
        if self.len == 0 {
            // The cursor stands still while nothing happens; catching up
            // saves the cascades from where it was left.
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
        self.place(entry);
    }

    /// Appends to `due` everything with a deadline at or before `now_ns`, by
    /// deadline, then by insertion.
    ///
    /// `now_ns` may decrease, as the game clock does in a phase that the host
    /// runs inside of fixed steps and outside of them. Nothing that is due is
    /// lost then, and nothing fires before its deadline.
    pub(crate) fn expire(&mut self, now_ns: u64, due: &mut Vec<Due>) {
        self.now_ns = now_ns;
        if now_ns >= self.next_event_ns {
            self.turn(now_ns, due);
        }
    }

    /// Takes note that one of the inserted keys has died while it was stored.
    ///
    /// Looks at four entries on average and a few dozen at most, wherever the
    /// sweep stands, and drops the dead ones among them. So the dead hardly
    /// ever outnumber the living, as they were when the sweep's last turn
    /// began, by more than a chunk or two; a fifth of them is usual.
    pub(crate) fn note_dead(&mut self, is_live: impl FnMut(u64) -> bool) {
        self.len -= self.sweeper.pay(&mut self.levels, &mut self.pool, is_live);
    }

    /// The earliest deadline of a live entry, exactly.
    ///
    /// Remembered until that entry fires or dies; then the first occupied
    /// slot is searched.
    pub(crate) fn earliest(&mut self, mut is_live: impl FnMut(u64) -> bool) -> Option<u64> {
        self.earliest = self.earliest.filter(|entry| is_live(entry.key));
        while self.earliest.is_none() {
            let place = self.levels.first()?;
            self.earliest = self.earliest_in(place, &mut is_live);
            if self.earliest.is_none() {
                // All dead: drop them now rather than search them again.
                let mut list = self.take(place);
                while let Some(entries) = self.pool.pop_chunk(&mut list) {
                    self.len -= entries.len();
                }
            }
        }
        self.earliest.map(|entry| entry.deadline_ns)
    }

    /// Shows every stored deadline and key to `f`, in no particular order,
    /// dead entries included.
    pub(crate) fn for_each(&self, mut f: impl FnMut(u64, u64)) {
        let chunks = self.levels.lists().flat_map(|list| self.pool.chunks(list));
        for entry in chunks.flatten() {
            f(entry.deadline_ns, entry.key);
        }
    }

    /// Stores an entry where it belongs as seen from the cursor.
    #[inline(always)]
    fn place(&mut self, entry: Due) {
        let tick = tick_of(entry.deadline_ns).max(self.cursor);
        let place = Place::of(tick, self.cursor);
        let list = self.levels.occupy(place);
        let placed = list.is_some_and(|list| self.pool.push(list, entry));
        if !placed {
            self.place_in_new_chunk(place, entry);
        }
    }

    /// The same, where there is no room. The last thing that `place` does, which
    /// so gets by without a stack frame.
    #[cold]
    #[inline(never)]
    fn place_in_new_chunk(&mut self, place: Place, entry: Due) {
        let list = self.levels.list_or_new(place);
        self.pool.push_in_new_chunk(list, entry);
    }

    /// Empties a slot and returns what was in it.
    fn take(&mut self, place: Place) -> List {
        self.sweeper.slot_taken(place);
        self.levels.take(place)
    }

    /// Moves the cursor to `now_ns`, slot by occupied slot.
    #[inline(never)]
    fn turn(&mut self, now_ns: u64, due: &mut Vec<Due>) {
        let before = due.len();
        let target = tick_of(now_ns).max(self.cursor);
        self.next_event_ns = loop {
            let Some(place) = self.levels.first() else {
                break u64::MAX;
            };
            let start = place.first_tick(self.cursor);
            if start > target {
                break start_of(start);
            }
            self.cursor = start;
            if place.level > 0 {
                self.cascade(place);
                continue;
            }
            let from = due.len();
            let left = if start < target {
                self.drain(place, due);
                None
            } else {
                self.drain_exactly(place, now_ns, due)
            };
            self.order.sort(&mut due[from..]);
            if let Some(next_ns) = left {
                break next_ns;
            }
        };
        self.cursor = target;
        self.len -= due.len() - before;
        self.earliest = self.earliest.filter(|entry| entry.deadline_ns > now_ns);
    }

    /// Spreads a slot over the levels below it.
    fn cascade(&mut self, place: Place) {
        let mut list = self.take(place);
        while !list.is_empty() {
            for number in self.pool.first(list) {
                self.place(self.pool.entry(number));
            }
            self.pool.unlink(&mut list, NIL);
        }
    }

    /// Moves a slot to `due`.
    fn drain(&mut self, place: Place, due: &mut Vec<Due>) {
        let mut list = self.take(place);
        while let Some(entries) = self.pool.pop_chunk(&mut list) {
            due.extend_from_slice(entries);
        }
    }

    /// Moves what is due at `now_ns` from the cursor's slot to `due`. Returns
    /// the earliest deadline that stays.
    fn drain_exactly(&mut self, place: Place, now_ns: u64, due: &mut Vec<Due>) -> Option<u64> {
        let mut left: Option<u64> = None;
        let mut list = self.take(place);
        while !list.is_empty() {
            for number in self.pool.first(list) {
                let entry = self.pool.entry(number);
                if entry.deadline_ns <= now_ns {
                    due.push(entry);
                } else {
                    left = Some(left.map_or(entry.deadline_ns, |ns| ns.min(entry.deadline_ns)));
                    self.place(entry);
                }
            }
            self.pool.unlink(&mut list, NIL);
        }
        left
    }

    /// The live entry of a slot that falls due first.
    fn earliest_in(&self, place: Place, mut is_live: impl FnMut(u64) -> bool) -> Option<Due> {
        let mut earliest: Option<Due> = None;
        for entry in self.pool.chunks(self.levels.list(place)).flatten() {
            // Liveness is asked last: it costs the owner a look-up.
            if earliest.is_none_or(|found| entry.deadline_ns < found.deadline_ns)
                && is_live(entry.key)
            {
                earliest = Some(*entry);
            }
        }
        earliest
    }
}
