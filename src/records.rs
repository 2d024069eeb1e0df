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
    /// When it began to wait, among those that count frames.
    pub(crate) began: u64,
    /// Whether the phase's queue still holds the place where it began.
    pub(crate) in_queue: bool,
}

/// All records of an executor.
#[derive(Debug, Default)]
pub(crate) struct Records {
    records: Slab<Record>,
    /// Never the same for two records of one slot, so that what was left in a
    /// queue cannot name the slot's next occupant.
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
        let index = self.records.insert(Record {
            task,
            waker,
            stamp,
            frame_bound: due_frame != 0,
            due_frame,
            began: self.next_began,
            in_queue: true,
        });
        assert!(index < Ticket::MAX_INDEX, "more than 2^30 waits at once");
        let index = u32::try_from(index).expect("below 2^30");
        Ticket::record(index, stamp)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Record> {
        let record = self.records.get(ticket.index() as usize)?;
        (record.stamp == ticket.stamp()).then_some(record)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Record> {
        let record = self.records.get_mut(ticket.index() as usize)?;
        (record.stamp == ticket.stamp()).then_some(record)
    }

    /// Removes a record. Its waker is the caller's to drop, once nothing is
    /// borrowed.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Record> {
        self.get(ticket)?;
        Some(self.records.remove(ticket.index() as usize))
    }
}
