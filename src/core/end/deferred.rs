//! The count of the ends that are under way, and the ends that are deferred.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::core::call::{Foreign, Payload};
use crate::core::cell::Guarded;
use crate::core::task::{Reference, TaskKey};

/// The depth to which starts nest, and stops in one executor. Deeper ones are deferred.
pub(crate) const MAX_DEPTH: u32 = 100;

/// Ends that are under way, and those that are deferred.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// How many ends are nested now.
    depth: Cell<u32>,
    /// How many more ends the outermost one may cause.
    left: Cell<u64>,
    /// The ends that the outermost end carries out.
    deferred: Guarded<VecDeque<DeferredEnd>>,
    /// The ends beyond the limit. The next run carries them out.
    for_next_run: Guarded<VecDeque<DeferredEnd>>,
}

impl Ends {
    /// Counts an end that begins. If it is the outermost one, `most` tells how many ends
    /// it may cause.
    pub(super) fn enter(&self, most: impl FnOnce() -> u64) {
        self.left.set(match self.depth.get() {
            0 => most(),
            _ => self.left.get().saturating_sub(1),
        });
        self.depth.set(self.depth.get() + 1);
    }

    /// Lifts the limit of the ends that are under way.
    pub(super) fn lift_limit(&self) {
        self.left.set(u64::MAX);
    }

    /// Counts that an end is over.
    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// Whether the outermost end is about to be over, and must carry out others first.
    pub(super) fn must_work_off(&self) -> bool {
        self.depth.get() == 1 && !self.deferred.borrow().is_empty()
    }

    /// Whether an end may begin inside the ends that are under way. If not, it must be
    /// deferred.
    pub(super) fn may_begin(&self) -> bool {
        let depth = self.depth.get();
        depth == 0 || (depth < MAX_DEPTH && self.left.get() > 0)
    }

    /// Defers an end to the outermost end.
    pub(super) fn defer(&self, end: DeferredEnd) {
        self.deferred.borrow_mut().push_back(end);
    }

    /// Takes the next deferred end, unless the limit is reached.
    pub(super) fn next(&self) -> Option<DeferredEnd> {
        if self.left.get() == 0 {
            return None;
        }
        self.deferred.borrow_mut().pop_front()
    }

    /// Leaves all deferred ends to the next run. Returns whether there are any.
    pub(super) fn leave_rest(&self) -> bool {
        let mut rest = self.deferred.take();
        let any = !rest.is_empty();
        self.for_next_run.borrow_mut().append(&mut rest);
        any
    }

    /// Takes back what was left to the next run. Returns whether there is anything.
    pub(super) fn take_rest(&self) -> bool {
        let mut rest = self.for_next_run.take();
        let any = !rest.is_empty();
        self.deferred.borrow_mut().append(&mut rest);
        any
    }

    /// Whether an end is deferred.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.borrow().is_empty() || !self.for_next_run.borrow().is_empty()
    }
}

/// An end that is carried out later.
#[derive(Debug)]
pub(crate) enum DeferredEnd {
    /// A stopped task. Its future has yet to be dropped.
    Stop(TaskKey),
    /// A reference to a task that has ended. The output has yet to be dropped, then the
    /// reference.
    Output(Reference),
    /// A payload that no join has returned.
    Payload(Foreign<Payload>),
}
