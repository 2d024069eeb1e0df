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
    /// Whether it is one for a condition.
    pub(crate) asks: bool,
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

    pub(crate) fn insert(
        &mut self,
        task: Option<TaskKey>,
        waker: Option<Waker>,
        due_frame: u64,
    ) -> Ticket {
        let stamp = self.next_stamp;
        self.next_stamp = stamp.wrapping_add(1);
        self.next_began += 1;
        let index = self.slots.insert(Slot::Live(Record {
            task,
            waker,
            stamp,
            frame_bound: due_frame != 0,
            due_frame,
            base_ns: 0,
            began: self.next_began,
            in_queue: false,
            asks: false,
        }));
        assert!(index < Ticket::MAX_INDEX, "more than 2^30 waits at once");
        let index = u32::try_from(index).expect("below 2^30");
        Ticket::record(index, stamp)
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

    /// Removes a record. Its waker is the caller's to drop, once nothing is
    /// borrowed. If it has a place in a queue that becomes a ghost.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Record> {
        let in_queue = self.get(ticket)?.in_queue;
        let index = ticket.index() as usize;
        let slot = if in_queue {
            std::mem::replace(&mut self.slots[index], Slot::Ghost)
        } else {
            self.slots.remove(index)
        };
        match slot {
            Slot::Live(record) => Some(record),
            Slot::Ghost => None,
        }
    }

    /// The place of a record leaves its queue. Its ticket, unless it is a
    /// ghost, of which nothing is left then.
    pub(crate) fn leave_queue(&mut self, index: u32) -> Option<Ticket> {
        if self.remove_ghost(index) {
            return None;
        }
        let ticket = self.ticket_at(index);
        if let Some(record) = ticket.and_then(|ticket| self.get_mut(ticket)) {
            record.in_queue = false;
        }
        ticket
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
