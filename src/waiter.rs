//! What stands in the queue of a phase.

use std::fmt;
use std::ptr::{self, NonNull};

use crate::task::{Flags, Header, TaskRef};

/// One place in a phase's queue, in the size of a pointer: a task, or the
/// index of a [record](crate::records).
///
/// A plain address, so that a run gets from the queue to the coroutine without
/// a detour. That is sound because blocks are never freed before their
/// executor; that it is still the same wait is the queue's invariant PLACE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(NonNull<Header>);

/// What a [`Waiter`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    Task(TaskRef),
    Record(u32),
}

/// Headers are aligned, so their addresses are even.
const RECORD: usize = 1;

impl Waiter {
    #[inline(always)]
    pub(crate) fn task(task: TaskRef) -> Self {
        Waiter(task.as_ptr())
    }

    pub(crate) fn record(index: u32) -> Self {
        let bits = (index as usize) << 1 | RECORD;
        // Never null, for its lowest bit.
        let address = NonNull::new(ptr::without_provenance_mut(bits));
        Waiter(address.expect("odd, so not null"))
    }

    /// The task that it is, if there is nothing special about that.
    #[inline(always)]
    pub(crate) fn plain_task(self) -> Option<TaskRef> {
        match self.get() {
            Waiting::Task(task) if !task.has(Flags::SPECIAL) => Some(task),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn is_record(self) -> bool {
        self.0.addr().get() & RECORD != 0
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "made of 32 bits in `record`"
    )]
    pub(crate) fn get(self) -> Waiting {
        if self.is_record() {
            Waiting::Record((self.0.addr().get() >> 1) as u32)
        } else {
            // SAFETY: an even address comes from `task`, so from a `TaskRef` of
            // the executor whose queue this is; it goes before its tasks do.
            Waiting::Task(unsafe { TaskRef::new(self.0) })
        }
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not `get`: formatting a task would look into it.
        f.debug_tuple("Waiter").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Waiter, Waiting};

    #[test]
    fn a_record_keeps_its_index() {
        for index in [0, 1, (1 << 30) - 1] {
            let waiter = Waiter::record(index);
            assert!(waiter.is_record());
            assert_eq!(waiter.get(), Waiting::Record(index));
        }
    }
}
