//! Waits that cannot register with their task itself.

#![forbid(unsafe_code)]

use std::mem;
use std::task::Waker;

use crate::key::TaskKey;
use crate::ticket::Ticket;

/// A wait that was polled with a waker other than its coroutine's own, or
/// while another wait of the coroutine was registered already, or that counts
/// frames, or that no coroutine polled.
///
/// Small, since there may be many in one `join_all`: half a cache line. Its
/// place outlives it, so what it is now stands in it: there is no tag around it,
/// and it is written field by field.
#[derive(Debug)]
pub(crate) struct Record {
    /// Whom else it wakes: a combinator between the coroutine and the wait.
    waker: Option<Waker>,
    /// Whom the wait makes due. In a vacant one, its index is that of the next
    /// that is vacant.
    task: TaskKey,
    stamp: u32,
    state: State,
    flags: Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Vacant,
    Live,
    /// The wait is gone, its place in a queue is not.
    Ghost,
}

/// What else there is to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flags(u8);

impl Flags {
    /// The phase's queue holds the place where it began.
    const IN_QUEUE: Flags = Flags(1);
    /// It is due in a later frame than the one it was made in.
    const FRAME_BOUND: Flags = Flags(1 << 1);
    /// It counts frames, which its [`Count`] tells.
    const COUNTS: Flags = Flags(1 << 2);
    /// It is a timer with a base of its own.
    const HAS_BASE: Flags = Flags(1 << 3);
    /// It is one for a condition.
    const ASKS: Flags = Flags(1 << 4);

    const fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    const fn without(self, flags: Flags) -> Flags {
        Flags(self.0 & !flags.0)
    }

    const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }
}

/// For a wait over several frames.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The first frame in which it is due.
    due_frame: u64,
    /// When it began to wait, among those that count.
    began: u64,
}

/// What is left of a record. Its waker is the caller's to drop, once nothing is
/// borrowed: it may be hostile.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) task: Option<TaskKey>,
    pub(crate) waker: Option<Waker>,
    pub(crate) in_queue: bool,
}

/// A wait in a queue whose waker is to be called.
#[derive(Debug)]
pub(crate) struct Fired {
    pub(crate) waker: Waker,
    pub(crate) task: Option<TaskKey>,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In a wheel of time, or in a list of joiners.
    Elsewhere,
    /// In the queue of a phase, for its next run.
    Queued,
    /// The same, for a run in a later frame.
    QueuedForLater,
}

impl Kind {
    #[inline]
    pub(crate) fn queued(for_later_frame: bool) -> Self {
        if for_later_frame {
            Kind::QueuedForLater
        } else {
            Kind::Queued
        }
    }

    #[inline]
    fn flags(self) -> Flags {
        match self {
            Kind::Elsewhere => Flags(0),
            Kind::Queued => Flags::IN_QUEUE,
            Kind::QueuedForLater => Flags::IN_QUEUE.with(Flags::FRAME_BOUND),
        }
    }
}

impl Record {
    #[inline]
    pub(crate) fn task(&self) -> Option<TaskKey> {
        (self.task != TaskKey::NOBODY).then_some(self.task)
    }

    #[inline]
    fn is(&self, ticket: Ticket) -> bool {
        self.stamp == ticket.stamp() && self.state == State::Live
    }

    pub(crate) fn is_in_queue(&self) -> bool {
        self.flags.has(Flags::IN_QUEUE)
    }

    /// Changes whom it resumes and wakes. Gives back whom it woke.
    pub(crate) fn renew(&mut self, task: TaskKey, waker: Option<Waker>) -> Option<Waker> {
        self.task = task;
        mem::replace(&mut self.waker, waker)
    }

    /// Notes whether it is one for a condition.
    pub(crate) fn set_asks(&mut self, asks: bool) {
        self.flags = if asks {
            self.flags.with(Flags::ASKS)
        } else {
            self.flags.without(Flags::ASKS)
        };
    }

    /// Whether it is one for a condition.
    pub(crate) fn asks(&self) -> bool {
        self.flags.has(Flags::ASKS)
    }

    pub(crate) fn take_waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }
}

/// All records of an executor.
#[derive(Debug)]
pub(crate) struct Records {
    slots: Vec<Record>,
    /// The first vacant one, which leads to the others; [`NONE_VACANT`] for none.
    vacant: u32,
    /// How many are not.
    used: usize,
    /// By index, as far as there have been records that count frames.
    counts: Vec<Count>,
    /// By index, of timers whose coroutines have been paused: for how long they
    /// had been when the timer was registered.
    bases_ns: Vec<u64>,
    /// Never the same for two records of one slot, so that what was left in a
    /// wheel cannot name the slot's next occupant.
    next_stamp: u32,
    next_began: u64,
}

impl Records {
    pub(crate) fn new(first_stamp: u32) -> Self {
        Records {
            slots: Vec::new(),
            vacant: NONE_VACANT,
            used: 0,
            counts: Vec::new(),
            bases_ns: Vec::new(),
            next_stamp: first_stamp,
            next_began: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, task: TaskKey, kind: Kind, waker: Option<Waker>) -> Ticket {
        let stamp = self.next_stamp;
        self.next_stamp = stamp.wrapping_add(1);
        let index = self.vacant;
        let Some(record) = self.slots.get_mut(index as usize) else {
            return self.grow(task, kind, waker, stamp);
        };
        debug_assert!(record.state == State::Vacant && record.waker.is_none());
        self.vacant = record.task.index;
        self.used += 1;
        // Written, not assigned: there is none to drop.
        mem::forget(mem::replace(&mut record.waker, waker));
        record.task = task;
        record.stamp = stamp;
        record.state = State::Live;
        record.flags = kind.flags();
        Ticket::record(index, stamp)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, task: TaskKey, kind: Kind, waker: Option<Waker>, stamp: u32) -> Ticket {
        let index = self.slots.len();
        assert!(index < Ticket::MAX_INDEX, "more than 2^30 waits at once");
        self.used += 1;
        self.slots.push(Record {
            waker,
            task,
            stamp,
            state: State::Live,
            flags: kind.flags(),
        });
        let index = u32::try_from(index).expect("below 2^30");
        Ticket::record(index, stamp)
    }

    /// What was in the place has no waker any more.
    #[inline(always)]
    fn vacate(&mut self, index: u32) {
        if let Some(record) = self.slots.get_mut(index as usize) {
            debug_assert!(record.waker.is_none());
            record.state = State::Vacant;
            record.task.index = self.vacant;
            self.vacant = index;
            self.used -= 1;
        }
    }

    /// Has the record count frames from now on.
    pub(crate) fn count_frames(&mut self, ticket: Ticket, due_frame: u64) {
        self.next_began += 1;
        let count = Count {
            due_frame,
            began: self.next_began,
        };
        if let Some(record) = self.get_mut(ticket) {
            record.flags = record.flags.with(Flags::COUNTS);
            put(&mut self.counts, ticket, count);
        }
    }

    fn count(&self, index: u32, record: &Record) -> Option<&Count> {
        self.counts
            .get(index as usize)
            .filter(|_count| record.flags.has(Flags::COUNTS))
    }

    /// The first frame in which the record is due, if it counts frames.
    pub(crate) fn due_frame(&self, ticket: Ticket) -> Option<u64> {
        let count = self.count(ticket.index(), self.get(ticket)?)?;
        Some(count.due_frame)
    }

    /// When the record began to wait, among those that count frames.
    pub(crate) fn began(&self, ticket: Ticket) -> Option<u64> {
        let count = self.count(ticket.index(), self.get(ticket)?)?;
        Some(count.began)
    }

    /// Whether a record is there, and is due in `frame` as far as frames go.
    pub(crate) fn is_due_in(&self, ticket: Ticket, frame: u64) -> bool {
        self.get(ticket).is_some() && self.due_frame(ticket).is_none_or(|due| due <= frame)
    }

    pub(crate) fn is_frame_bound(&self, ticket: Ticket) -> bool {
        let record = self.get(ticket);
        record.is_some_and(|record| record.flags.has(Flags::FRAME_BOUND))
    }

    /// For how long the coroutine of a timer had been paused when that was
    /// registered.
    pub(crate) fn base_ns(&self, ticket: Ticket) -> u64 {
        let record = self.get(ticket);
        let base_ns = self.bases_ns.get(ticket.index() as usize);
        match record.filter(|record| record.flags.has(Flags::HAS_BASE)) {
            Some(_) => base_ns.copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Notes how long the coroutine of a timer had been paused; gives back what
    /// was noted before.
    pub(crate) fn replace_base_ns(&mut self, ticket: Ticket, base_ns: u64) -> Option<u64> {
        let record = self.get_mut(ticket)?;
        let had_base = record.flags.has(Flags::HAS_BASE);
        record.flags = record.flags.with(Flags::HAS_BASE);
        let earlier = put(&mut self.bases_ns, ticket, base_ns);
        Some(if had_base { earlier } else { 0 })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Record> {
        let record = self.slots.get(ticket.index() as usize);
        record.filter(|record| record.is(ticket))
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Record> {
        let record = self.slots.get_mut(ticket.index() as usize);
        record.filter(|record| record.is(ticket))
    }

    /// Whether the ticket's record, which was there, is gone.
    #[inline]
    pub(crate) fn is_gone(&self, ticket: Ticket) -> bool {
        let record = self.slots.get(ticket.index() as usize);
        record.is_some_and(|record| !record.is(ticket))
    }

    /// The ticket of the record in a queue's place, unless it is a ghost.
    pub(crate) fn ticket_at(&self, index: u32) -> Option<Ticket> {
        let record = self.slots.get(index as usize)?;
        (record.state == State::Live).then(|| Ticket::record(index, record.stamp))
    }

    /// Fires the record in a queue's place, if it has a waker and is due in
    /// `frame`. Nothing is left of its wait; what is left in the place makes its
    /// task due, if it has one.
    pub(crate) fn fire_first(&mut self, index: u32, frame: u64) -> Option<Fired> {
        let record = self.slots.get_mut(index as usize)?;
        // A ghost has no waker, and no count.
        if record.flags.has(Flags::COUNTS) && self.counts[index as usize].due_frame > frame {
            return None;
        }
        let waker = record.waker.take()?;
        let task = record.task();
        if task.is_some() {
            record.stamp = self.next_stamp;
            self.next_stamp = self.next_stamp.wrapping_add(1);
        } else {
            self.vacate(index);
        }
        Some(Fired { waker, task })
    }

    /// Fires the record in a queue's place, if it has a waker, counts no frames,
    /// and makes `task` due like the one before: nothing is left of it.
    #[inline(always)]
    pub(crate) fn fire_another(&mut self, index: u32, task: TaskKey) -> Option<Waker> {
        let record = self.slots.get_mut(index as usize)?;
        if record.task.bits() != task.bits() || record.flags.has(Flags::COUNTS) {
            return None;
        }
        let waker = record.waker.take()?;
        self.vacate(index);
        Some(waker)
    }

    /// Removes a record. If it has a place in a queue that becomes a ghost.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Removed> {
        let record = self.get_mut(ticket)?;
        let removed = Removed {
            task: record.task(),
            waker: record.waker.take(),
            in_queue: record.is_in_queue(),
        };
        if removed.in_queue {
            record.state = State::Ghost;
            record.flags = Flags(0);
        } else {
            self.vacate(ticket.index());
        }
        Some(removed)
    }

    /// The place of a record leaves its queue. Its ticket, unless it is a
    /// ghost, of which nothing is left then.
    #[inline]
    pub(crate) fn leave_queue(&mut self, index: u32) -> Option<Ticket> {
        if self.remove_ghost(index) {
            return None;
        }
        let record = self.slots.get_mut(index as usize)?;
        record.flags = record.flags.without(Flags::IN_QUEUE);
        Some(Ticket::record(index, record.stamp))
    }

    /// The place of a record leaves its queue if it is a ghost.
    #[inline]
    pub(crate) fn remove_ghost(&mut self, index: u32) -> bool {
        let record = self.slots.get(index as usize);
        let ghost = record.is_some_and(|record| record.state == State::Ghost);
        if ghost {
            self.vacate(index);
        }
        ghost
    }
}

/// Ends the list of vacant records: no index is that high.
const NONE_VACANT: u32 = u32::MAX;

/// Puts what few records have in the place of the ticket's record.
#[cold]
fn put<T: Copy + Default>(list: &mut Vec<T>, ticket: Ticket, value: T) -> T {
    let index = ticket.index() as usize;
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    mem::replace(&mut list[index], value)
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::{Kind, Record, Records};
    use crate::key::TaskKey;

    #[test]
    fn a_record_takes_half_a_cache_line() {
        assert_eq!(size_of::<Record>(), 32);
    }

    #[test]
    fn what_few_records_have_does_not_pass_to_the_next_one_in_their_slot() {
        let mut records = Records::new(7);
        let counting = records.insert(TaskKey::NOBODY, Kind::QueuedForLater, None);
        records.count_frames(counting, 12);
        assert!(!records.is_due_in(counting, 11) && records.is_due_in(counting, 12));
        records.remove(counting);
        assert!(records.remove_ghost(counting.index()));

        let next = records.insert(TaskKey::NOBODY, Kind::Elsewhere, None);
        assert_eq!(next.index(), counting.index());
        assert!(records.is_due_in(next, 0) && !records.is_due_in(counting, 12));
        assert_eq!(records.due_frame(next), None);

        assert_eq!(records.replace_base_ns(next, 5), Some(0));
        assert_eq!(records.replace_base_ns(next, 6), Some(5));
        records.remove(next);
        let last = records.insert(TaskKey::NOBODY, Kind::Elsewhere, None);
        assert_eq!(last.index(), next.index());
        assert_eq!(records.replace_base_ns(last, 7), Some(0));
        assert_eq!(records.replace_base_ns(next, 8), None);
    }

    #[test]
    fn a_stamp_that_wraps_is_told_from_those_before() {
        let mut records = Records::new(u32::MAX);
        let last = records.insert(TaskKey::NOBODY, Kind::Elsewhere, None);
        records.remove(last);
        let next = records.insert(TaskKey::NOBODY, Kind::Elsewhere, None);
        assert_eq!((last.index(), last.stamp()), (0, u32::MAX));
        assert_eq!((next.index(), next.stamp()), (0, 0));
        assert!(records.get(last).is_none() && records.get(next).is_some());
    }

    #[test]
    fn of_fired_places_of_one_task_that_follow_each_other_the_first_is_kept() {
        let [a, b] = [1, 2].map(|generation| TaskKey {
            index: 0,
            generation,
        });
        let mut records = Records::new(7);
        let queued = |records: &mut Records, task| {
            let waker = Some(Waker::noop().clone());
            records.insert(task, Kind::Queued, waker)
        };

        let first = queued(&mut records, a);
        let fired = records.fire_first(first.index(), 0);
        assert_eq!(fired.expect("it has a waker").task, Some(a));
        // The wait is gone, its place is not.
        assert!(records.get(first).is_none());
        assert!(records.ticket_at(first.index()).is_some());

        let of_the_same = queued(&mut records, a);
        assert!(records.fire_another(of_the_same.index(), a).is_some());
        assert!(records.ticket_at(of_the_same.index()).is_none());

        for (task, group) in [(b, a), (a, TaskKey::NOBODY)] {
            let of_another = queued(&mut records, task);
            assert!(records.fire_another(of_another.index(), group).is_none());
            assert!(records.get(of_another).is_some());
        }

        let of_nobody = queued(&mut records, TaskKey::NOBODY);
        let fired = records.fire_first(of_nobody.index(), 0);
        assert_eq!(fired.expect("it has a waker").task, None);
        assert!(records.ticket_at(of_nobody.index()).is_none());
    }
}
