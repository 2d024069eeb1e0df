//! The timers of each task, by task and by entry. A pause holds those of its task.
//!
//! A pause takes nothing out of a wheel. It only marks the timers that it holds, and notes what
//! their clocks read. When it ends, each of them has another deadline and a new place in its wheel,
//! and the entry from before is stale: it has another deadline than the timer.

use std::cell::Cell;

use crate::core::base::key::WaitKey;
use crate::core::base::list::List;
use crate::core::cold::Colds;
use crate::core::phase::state::{PhaseState, Phases};
use crate::core::registration::waits::Waits;
use crate::core::task::{Flags, Task};
use crate::core::timer::TimerList;
use crate::core::timer::wheel::{Standing, TimerEntry};
use crate::time::{ClockIndex, FrameClock, PhaseIndex};

/// A timer, under the index of its key. Of another wait with that index, it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    pub(crate) deadline_ns: u64,
    pub(crate) clock: ClockIndex,
    pub(crate) phase: PhaseIndex,
    place: Place,
}

const _: () = assert!(size_of::<Timer>() == 16);

impl Timer {
    #[inline(always)]
    pub(crate) fn new(phase: PhaseIndex, clock: ClockIndex, deadline_ns: u64) -> Self {
        Timer {
            deadline_ns,
            clock,
            phase,
            place: Place::Wheel,
        }
    }
}

/// Where a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the wheel of its clock.
    Wheel,
    /// There, but held by a pause.
    Held,
    /// Held by a pause, in which its wheel has found it due.
    Out,
}

/// A timer that a pause holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) key: WaitKey,
    /// What its clock read when the pause began, which is before its deadline.
    pub(crate) since_ns: u64,
    /// How many the pause held before it.
    order: usize,
}

/// The timers that a pause holds. Their keys may be stale.
#[derive(Debug, Default)]
pub(crate) struct HeldTimers {
    timers: Vec<Held>,
    is_sorted: bool,
}

impl HeldTimers {
    pub(crate) fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    fn push(&mut self, key: WaitKey, since_ns: u64) {
        let order = self.timers.len();
        self.timers.push(Held {
            key,
            since_ns,
            order,
        });
        self.is_sorted = false;
    }

    /// What the clock of a timer read when the pause began. The first look sorts them by key.
    fn since_ns(&mut self, key: WaitKey) -> Option<u64> {
        if !self.is_sorted {
            self.timers.sort_unstable_by_key(|held| held.key.bits());
            self.is_sorted = true;
        }
        let found = self
            .timers
            .binary_search_by_key(&key.bits(), |held| held.key.bits());
        found.ok().map(|at| self.timers[at].since_ns)
    }

    /// Takes them in the order in which the pause has held them, except that the wait of the task
    /// itself comes first: a restore may have found it later.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Held> + '_ {
        self.timers
            .sort_unstable_by_key(|held| (held.key.is_entry(), held.order));
        self.timers.drain(..)
    }
}

/// The timers of an executor.
#[derive(Debug, Default)]
pub(crate) struct TimerTable {
    /// Of waits that are registered with their task, by its index.
    of_tasks: List<Timer>,
    /// Of the others, by the index of their entry.
    of_entries: List<Timer>,
    /// How often a coroutine was paused or resumed.
    changes: Cell<u64>,
}

impl TimerTable {
    #[inline(always)]
    fn list(&self, key: WaitKey) -> &List<Timer> {
        if key.is_entry() {
            &self.of_entries
        } else {
            &self.of_tasks
        }
    }

    #[inline(always)]
    fn get(&self, key: WaitKey) -> Option<Timer> {
        self.list(key).get(key.index() as usize)
    }

    /// Notes a timer. Its wheel receives it.
    #[inline(always)]
    pub(crate) fn set(&self, key: WaitKey, timer: Timer) {
        if !self.list(key).put(key.index() as usize, timer) {
            self.grow(key, timer);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, key: WaitKey, timer: Timer) {
        let index = key.index() as usize;
        // By a quarter, so that little is left empty.
        self.list(key).grow_to(index + index / 4 + 8, timer);
    }

    /// Whether a timer, whose key is not stale, is in this list because of this entry.
    pub(crate) fn is_listed(&self, entry: TimerEntry, list: TimerList) -> bool {
        let timer = self.get(WaitKey::from_bits(entry.key));
        timer.is_some_and(|timer| {
            let is_out = timer.place == Place::Out;
            timer.deadline_ns == entry.deadline_ns && is_out == (list == TimerList::Out)
        })
    }

    /// Whether a pause holds a timer, whose key is not stale.
    pub(crate) fn is_held(&self, key: WaitKey) -> bool {
        let timer = self.get(key);
        timer.is_some_and(|timer| timer.place != Place::Wheel)
    }

    /// A number that changes whenever a timer may be due earlier.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.get()
    }

    pub(crate) fn note_change(&self) {
        self.changes.set(self.changes.get() + 1);
    }
}

/// The parts that the timers of tasks concern.
#[derive(Clone, Copy)]
pub(crate) struct Timers<'a> {
    pub(crate) table: &'a TimerTable,
    pub(crate) waits: Waits<'a>,
    pub(crate) colds: &'a Colds,
    pub(crate) phases: &'a Phases,
    pub(crate) clock: &'a FrameClock,
}

impl Timers<'_> {
    /// Whether a timer in a wheel is not stale.
    pub(crate) fn is_live(self, entry: TimerEntry) -> bool {
        let key = WaitKey::from_bits(entry.key);
        let deadline_ns = self.table.get(key).map(|timer| timer.deadline_ns);
        deadline_ns == Some(entry.deadline_ns) && self.waits.is_live(key)
    }

    /// Keeps the timers that are due, of those that the wheels of a phase have found due.
    pub(crate) fn keep_due(self, state: &PhaseState, due: &mut Vec<TimerEntry>) {
        if self.table.changes() > 0 {
            due.retain(|&entry| self.is_due(state, entry));
        }
    }

    #[cold]
    fn is_due(self, state: &PhaseState, entry: TimerEntry) -> bool {
        let key = WaitKey::from_bits(entry.key);
        let Some(timer) = self.table.get(key).filter(|_| self.is_live(entry)) else {
            return false;
        };
        if timer.place == Place::Wheel {
            return true;
        }
        let place = Place::Out;
        self.table.set(key, Timer { place, ..timer });
        let mut timers = state.timers.borrow_mut();
        timers.add_out(timer.clock, entry, |entry| self.is_live(entry));
        false
    }

    /// How a timer in a wheel stands.
    pub(crate) fn standing(self, entry: TimerEntry) -> Standing {
        let key = WaitKey::from_bits(entry.key);
        if !self.is_live(entry) {
            Standing::Dead
        } else if self.table.is_held(key) || self.waits.is_held(key) {
            Standing::Held
        } else {
            Standing::Waiting
        }
    }

    /// When a timer is due, if no pause holds it from now on. `None` if it is not registered.
    pub(crate) fn deadline_ns(self, key: WaitKey) -> Option<u64> {
        let timer = self.table.get(key).filter(|_| self.waits.is_live(key))?;
        Some(match self.since_ns(key) {
            Some(since_ns) => self.moved_ns(timer, since_ns),
            None => timer.deadline_ns,
        })
    }

    /// What its clock read when the pause began that holds a timer.
    pub(crate) fn since_ns(self, key: WaitKey) -> Option<u64> {
        let task = self
            .waits
            .task(key)
            .filter(|task| task.has(Flags::PAUSED))?;
        let since_ns = self.colds.pause_of(task, |pause| pause.held.since_ns(key));
        since_ns.flatten()
    }

    /// The deadline of a timer that was held since its clock read `since_ns`.
    fn moved_ns(self, timer: Timer, since_ns: u64) -> u64 {
        let state = self.phases.get(timer.phase);
        let now_ns = state.now_ns(self.clock, timer.clock);
        timer
            .deadline_ns
            .saturating_add(now_ns.saturating_sub(since_ns))
    }

    /// Notes that a timer belongs to a task. The task may have paused itself in this poll.
    pub(crate) fn note(self, task: Task<'_>, key: WaitKey) {
        self.note_key(task, key);
        if task.has(Flags::PAUSED) {
            self.hold_one(task, key);
        }
    }

    fn note_key(self, task: Task<'_>, key: WaitKey) {
        if !key.is_entry() {
            return task.note_timer();
        }
        let mut keys = self.take_keys(task);
        if keys.len() == keys.capacity() {
            keys.retain(|&key| self.waits.is_of(key, Some(task)));
            keys.reserve(keys.len().max(4));
        }
        keys.push(key);
        self.colds.of_or_new(task, |cold| cold.timers = keys);
    }

    /// Takes the keys of the timers of a task that have entries. They may be stale.
    fn take_keys(self, task: Task<'_>) -> Vec<WaitKey> {
        let keys = self.colds.of(task, |cold| std::mem::take(&mut cold.timers));
        keys.unwrap_or_default()
    }

    /// Holds the timers of a task that has been paused.
    pub(crate) fn hold(self, task: Task<'_>) {
        if task.is_registered() && task.waits_for_time() {
            self.hold_one(task, task.wait_key());
        }
        let keys = self.take_keys(task);
        for &key in &keys {
            if self.waits.is_of(key, Some(task)) && !self.waits.is_shared(key) {
                self.hold_one(task, key);
            }
        }
        if !keys.is_empty() {
            self.colds.of_or_new(task, |cold| cold.timers = keys);
        }
    }

    /// Holds a timer, unless its clock has reached the deadline.
    fn hold_one(self, task: Task<'_>, key: WaitKey) {
        let Some(timer) = self.table.get(key) else {
            return;
        };
        let state = self.phases.get(timer.phase);
        let since_ns = state.now_ns(self.clock, timer.clock);
        if timer.deadline_ns > since_ns {
            self.hold_since(task, key, timer, since_ns);
        }
    }

    fn hold_since(self, task: Task<'_>, key: WaitKey, timer: Timer, since_ns: u64) {
        let place = Place::Held;
        self.table.set(key, Timer { place, ..timer });
        self.colds
            .edit_pause(task, |pause| pause.held.push(key, since_ns));
    }

    /// Lets a timer count again that was held: it has as much left as before.
    pub(crate) fn let_go(self, Held { key, since_ns, .. }: Held) {
        let Some(timer) = self.table.get(key).filter(|_| self.waits.is_live(key)) else {
            return;
        };
        let deadline_ns = self.moved_ns(timer, since_ns);
        self.table
            .set(key, Timer::new(timer.phase, timer.clock, deadline_ns));
        if timer.place == Place::Held && deadline_ns == timer.deadline_ns {
            return;
        }
        let state = self.phases.get(timer.phase);
        state.note_other();
        let mut timers = state.timers.borrow_mut();
        let key = key.bits();
        timers.reinsert(timer.clock, TimerEntry { deadline_ns, key });
        if timer.place == Place::Held {
            timers.note_stale(timer.clock, |entry| self.is_live(entry));
        }
    }

    /// Notes a timer of a new task, which its wheel has received. A pause holds it since its clock
    /// read `since_ns`.
    pub(crate) fn restore(self, key: WaitKey, timer: Timer, since_ns: Option<u64>) {
        self.table.set(key, timer);
        if let Some(task) = self.waits.task(key) {
            self.note_key(task, key);
            if let Some(since_ns) = since_ns {
                self.hold_since(task, key, timer, since_ns);
            }
        }
    }
}
