//! The joins of coroutines that have ended.

use std::cell::Cell;
use std::collections::HashSet;

use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::owners::Owners;
use crate::core::registration::entries::Entries;
use crate::core::task::{NO_JOINER, Task};

/// The joins of coroutines that have ended.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    /// The joins of the tasks that ended since joins were last taken, in order.
    pub(crate) ended: Guarded<Vec<WaitKey>>,
    /// Whether `ended` has joins.
    pub(crate) has_ended: Cell<bool>,
    /// A buffer for the tasks of one round, kept to reuse its memory.
    pub(crate) seen: Guarded<HashSet<TaskKey>>,
    /// The joins that were taken from `ended`. The next one is last.
    pub(crate) front: Guarded<Vec<WaitKey>>,
}

impl Completions {
    #[inline(always)]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Whether there are joins with coroutines yet to be resumed.
    pub(crate) fn has_any(&self) -> bool {
        self.has_ended() || !self.front.borrow().is_empty()
    }

    /// Takes the joins of the tasks that ended since the previous call.
    pub(crate) fn take(&self) -> Vec<WaitKey> {
        self.has_ended.set(false);
        self.ended.take()
    }

    /// Moves the joins of a task that has ended to the completions.
    #[inline]
    pub(crate) fn complete(&self, entries: &Guarded<Entries>, task: Task<'_>) {
        let last = task.joiners.replace(NO_JOINER);
        if last != NO_JOINER {
            self.has_ended.set(true);
            let mut ended = self.ended.borrow_mut();
            entries.borrow_mut().take_joins(last, &mut ended);
        }
    }

    /// Moves the waits for the end of owners that have no coroutine any more to the
    /// completions.
    pub(crate) fn complete_owners(&self, owners: &mut Owners) {
        if owners.has_ended() {
            self.has_ended.set(true);
            owners.take_ended(&mut self.ended.borrow_mut());
        }
    }
}
