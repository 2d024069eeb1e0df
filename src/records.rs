//! Waits that cannot register with their task itself.

#![forbid(unsafe_code)]

use std::task::Waker;

use slab::Slab;

use crate::key::TaskKey;
use crate::ticket::Ticket;

/// A wait that was polled with a waker other than its coroutine's own, or
/// while another wait of the coroutine was registered already, or that counts
/// frames, or that no coroutine polled.
#[derive(Debug)]
pub(crate) struct Record {
    /// Whom the wait makes due.
    pub(crate) task: Option<TaskKey>,
    /// Whom else it wakes: a combinator between the coroutine and the wait.
    pub(crate) waker: Option<Waker>,
    stamp: u32,
    /// Whether it is due in a later frame than the one it was made in.
    pub(crate) frame_bound: bool,
    /// For a wait over several frames: the first in which it is due.
    pub(crate) due_frame: u64,
    /// For a timer: for how long its coroutine had been paused when it was
    /// registered.
    pub(crate) base_ns: u64,
    /// When it began to wait, among those that count frames.
    pub(crate) began: u64,
    /// Whether the phase's queue holds the place where it began.
    pub(crate) in_queue: bool,
}

/// What is left of a record. Its waker is the caller's to drop, once nothing is
/// borrowed: it may be hostile.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) task: Option<TaskKey>,
    pub(crate) waker: Option<Waker>,
    pub(crate) in_queue: bool,
}

/// What a record is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    frame_bound: bool,
    due_frame: u64,
    in_queue: bool,
}

impl Kind {
    /// A place in a wheel of time, or in a list of joiners.
    pub(crate) const ELSEWHERE: Kind = Kind {
        frame_bound: false,
        due_frame: 0,
        in_queue: false,
    };

    /// A place in the queue of a phase; if `frame_bound`, for a later frame.
    #[inline]
    pub(crate) fn queued(frame_bound: bool) -> Self {
        Kind {
            frame_bound,
            in_queue: true,
            ..Kind::ELSEWHERE
        }
    }

    /// The same, and one in a wheel of frames.
    pub(crate) fn counting(due_frame: u64) -> Self {
        Kind {
            frame_bound: true,
            due_frame,
            in_queue: true,
        }
    }
}

#[derive(Debug)]
enum Slot {
    Live(Record),
    /// The wait is gone, its place in a queue is not.
    Ghost,
}

/// All records of an executor.
#[derive(Debug, Default)]
pub(crate) struct Records {
    slots: Slab<Slot>,
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

    #[inline]
    pub(crate) fn insert(&mut self, task: Option<TaskKey>, kind: Kind, waker: Option<Waker>) -> Ticket {
        let stamp = self.next_stamp;
        self.next_stamp = stamp.wrapping_add(1);
        self.next_began += 1;
        let record = Record {
            task,
            waker,
            stamp,
            frame_bound: kind.frame_bound,
            due_frame: kind.due_frame,
            base_ns: 0,
            began: self.next_began,
            in_queue: kind.in_queue,
        };
        match u32::try_from(self.slots.insert(Slot::Live(record))) {
            Ok(index) if index < MAX_INDEX => Ticket::record(index, stamp),
            _ => too_many(),
        }
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

    /// The waker of the record in a queue's place, and its task, if it is due in
    /// `frame` and has not been called.
    #[inline]
    pub(crate) fn take_waker_at(
        &mut self,
        index: u32,
        frame: u64,
    ) -> Option<(Waker, Option<TaskKey>)> {
        match self.slots.get_mut(index as usize)? {
            Slot::Live(record) if record.due_frame <= frame => {
                Some((record.waker.take()?, record.task))
            }
            _ => None,
        }
    }

    /// Removes a record. If it has a place in a queue that becomes a ghost.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Removed> {
        let index = ticket.index() as usize;
        let slot = self.slots.get_mut(index)?;
        let removed = match slot {
            Slot::Live(record) if record.stamp == ticket.stamp() => Removed {
                task: record.task,
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

/// In the type of indices.
#[expect(clippy::cast_possible_truncation, reason = "it is 2^30")]
const MAX_INDEX: u32 = Ticket::MAX_INDEX as u32;

#[cold]
fn too_many() -> ! {
    panic!("more than 2^30 waits at once")
}
