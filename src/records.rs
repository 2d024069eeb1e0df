//! Waits that cannot register with their task itself.

#![forbid(unsafe_code)]

use std::task::Waker;

use slab::Slab;

use crate::key::TaskKey;
use crate::ticket::Ticket;

/// A wait that was polled with a waker other than its coroutine's own, or
/// while another wait of the coroutine was registered already, or that counts
/// frames, or that no coroutine polled.
///
/// Small, since there may be many in one `join_all`: half a cache line, slot
/// included.
#[derive(Debug)]
pub(crate) struct Record {
    /// Whom else it wakes: a combinator between the coroutine and the wait.
    waker: Option<Waker>,
    /// Whom the wait makes due: a key, of which no generation is 0.
    index: u32,
    generation: u32,
    stamp: u32,
    /// Whether the phase's queue holds the place where it began.
    pub(crate) in_queue: bool,
    /// Whether it is due in a later frame than the one it was made in.
    frame_bound: bool,
    /// Whether it counts frames, which its [`Count`] tells.
    counts: bool,
    /// Whether it is a timer with a base of its own.
    has_base: bool,
}

/// For a wait over several frames.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The first frame in which it is due.
    due_frame: u64,
    /// When it began to wait, among those that count.
    began: u64,
}

#[derive(Debug)]
enum Slot {
    Live(Record),
    /// The wait is gone, its place in a queue is not.
    Ghost,
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
    pub(crate) keeps_place: bool,
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
}

impl Record {
    #[inline(always)]
    fn new(task: Option<TaskKey>, kind: Kind, waker: Option<Waker>, stamp: u32) -> Self {
        Record {
            waker,
            index: task.map_or(0, |task| task.index),
            generation: task.map_or(0, |task| task.generation),
            stamp,
            in_queue: kind != Kind::Elsewhere,
            frame_bound: kind == Kind::QueuedForLater,
            counts: false,
            has_base: false,
        }
    }

    #[inline]
    pub(crate) fn task(&self) -> Option<TaskKey> {
        let key = TaskKey {
            index: self.index,
            generation: self.generation,
        };
        (self.generation != 0).then_some(key)
    }

    /// Changes whom it resumes and wakes. Gives back whom it woke.
    pub(crate) fn renew(&mut self, task: Option<TaskKey>, waker: Option<Waker>) -> Option<Waker> {
        self.index = task.map_or(0, |task| task.index);
        self.generation = task.map_or(0, |task| task.generation);
        std::mem::replace(&mut self.waker, waker)
    }

    pub(crate) fn take_waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }
}

/// All records of an executor.
#[derive(Debug, Default)]
pub(crate) struct Records {
    slots: Slab<Slot>,
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
            next_stamp: first_stamp,
            ..Records::default()
        }
    }

    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        task: Option<TaskKey>,
        kind: Kind,
        waker: Option<Waker>,
    ) -> Ticket {
        let stamp = self.next_stamp;
        self.next_stamp = stamp.wrapping_add(1);
        let record = Record::new(task, kind, waker, stamp);
        let index = self.slots.insert(Slot::Live(record));
        if index >= Ticket::MAX_INDEX {
            too_many();
        }
        Ticket::record(index_of(index), stamp)
    }

    /// Has the record count frames from now on.
    pub(crate) fn count_frames(&mut self, ticket: Ticket, due_frame: u64) {
        self.next_began += 1;
        let count = Count {
            due_frame,
            began: self.next_began,
        };
        if let Some(record) = self.get_mut(ticket) {
            record.counts = true;
            put(&mut self.counts, ticket, count);
        }
    }

    fn count(&self, index: u32, record: &Record) -> Option<&Count> {
        self.counts
            .get(index as usize)
            .filter(|_count| record.counts)
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
        self.get(ticket).is_some_and(|record| record.frame_bound)
    }

    /// Notes how long the coroutine of a timer had been paused; gives back what
    /// was noted before.
    pub(crate) fn replace_base_ns(&mut self, ticket: Ticket, base_ns: u64) -> Option<u64> {
        let record = self.get_mut(ticket)?;
        let had_base = std::mem::replace(&mut record.has_base, true);
        let earlier = put(&mut self.bases_ns, ticket, base_ns);
        Some(if had_base { earlier } else { 0 })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Record> {
        match self.slots.get(ticket.index() as usize)? {
            Slot::Live(record) if record.stamp == ticket.stamp() => Some(record),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Record> {
        match self.slots.get_mut(ticket.index() as usize)? {
            Slot::Live(record) if record.stamp == ticket.stamp() => Some(record),
            _ => None,
        }
    }

    /// The ticket of the record in a queue's place, unless it is a ghost.
    pub(crate) fn ticket_at(&self, index: u32) -> Option<Ticket> {
        match self.slots.get(index as usize)? {
            Slot::Live(record) => Some(Ticket::record(index, record.stamp)),
            Slot::Ghost => None,
        }
    }

    /// Fires the record in a queue's place, if it has a waker and is due in
    /// `frame`: nothing is left of its wait. What is left in the place makes its
    /// task due, unless `group`, whose place comes just before, is the same one.
    #[inline]
    pub(crate) fn fire_at(
        &mut self,
        index: u32,
        frame: u64,
        group: Option<TaskKey>,
    ) -> Option<Fired> {
        let slot = self.slots.get_mut(index as usize)?;
        let Slot::Live(record) = slot else {
            return None;
        };
        if record.counts && self.counts[index as usize].due_frame > frame {
            return None;
        }
        let waker = record.waker.take()?;
        let task = record.task();
        let keeps_place = task.is_some() && task != group;
        if keeps_place {
            record.stamp = self.next_stamp;
            self.next_stamp = self.next_stamp.wrapping_add(1);
        } else {
            self.slots.remove(index as usize);
        }
        Some(Fired {
            waker,
            task,
            keeps_place,
        })
    }

    /// Removes a record. If it has a place in a queue that becomes a ghost.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Removed> {
        let index = ticket.index() as usize;
        let slot = self.slots.get_mut(index)?;
        let removed = match slot {
            Slot::Live(record) if record.stamp == ticket.stamp() => Removed {
                task: record.task(),
                waker: record.waker.take(),
                in_queue: record.in_queue,
            },
            _ => return None,
        };
        if removed.in_queue {
            *slot = Slot::Ghost;
        } else {
            self.slots.remove(index);
        }
        Some(removed)
    }

    /// The place of a record leaves its queue. Its ticket, unless it is a
    /// ghost, of which nothing is left then.
    #[inline]
    pub(crate) fn leave_queue(&mut self, index: u32) -> Option<Ticket> {
        match self.slots.get_mut(index as usize)? {
            Slot::Live(record) => {
                record.in_queue = false;
                Some(Ticket::record(index, record.stamp))
            }
            Slot::Ghost => {
                self.slots.remove(index as usize);
                None
            }
        }
    }

    /// The place of a record leaves its queue if it is a ghost.
    pub(crate) fn remove_ghost(&mut self, index: u32) -> bool {
        let index = index as usize;
        let ghost = matches!(self.slots.get(index), Some(Slot::Ghost));
        if ghost {
            self.slots.remove(index);
        }
        ghost
    }
}

#[expect(clippy::cast_possible_truncation, reason = "less than 2^30")]
fn index_of(index: usize) -> u32 {
    index as u32
}

/// Puts what few records have in the place of the ticket's record.
#[cold]
fn put<T: Copy + Default>(list: &mut Vec<T>, ticket: Ticket, value: T) -> T {
    let index = ticket.index() as usize;
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    std::mem::replace(&mut list[index], value)
}

#[cold]
fn too_many() -> ! {
    panic!("more than 2^30 waits at once")
}

#[cfg(test)]
mod tests {
    use super::{Kind, Records, Slot};

    #[test]
    fn a_slot_takes_half_a_cache_line() {
        assert_eq!(size_of::<Slot>(), 32);
    }

    #[test]
    fn what_few_records_have_does_not_pass_to_the_next_one_in_their_slot() {
        let mut records = Records::new(7);
        let counting = records.insert(None, Kind::QueuedForLater, None);
        records.count_frames(counting, 12);
        assert!(!records.is_due_in(counting, 11) && records.is_due_in(counting, 12));
        records.remove(counting);
        assert!(records.remove_ghost(counting.index()));

        let next = records.insert(None, Kind::Elsewhere, None);
        assert_eq!(next.index(), counting.index());
        assert!(records.is_due_in(next, 0) && !records.is_due_in(counting, 12));
        assert_eq!(records.due_frame(next), None);

        assert_eq!(records.replace_base_ns(next, 5), Some(0));
        assert_eq!(records.replace_base_ns(next, 6), Some(5));
        records.remove(next);
        let last = records.insert(None, Kind::Elsewhere, None);
        assert_eq!(last.index(), next.index());
        assert_eq!(records.replace_base_ns(last, 7), Some(0));
        assert_eq!(records.replace_base_ns(next, 8), None);
    }
}
