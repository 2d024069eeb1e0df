//! The ends that are deferred.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::core::base::call::{Foreign, Payload};
use crate::core::base::cell::Guarded;
use crate::core::base::key::TaskKey;
use crate::core::task::Reference;

/// The ends of an executor that are deferred, and how many may begin.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// The number of the outermost end for which `left` counts.
    counted_in: Cell<u64>,
    /// How many more ends that one may cause.
    left: Cell<u64>,
    /// The ends that the outermost end carries out.
    deferred: Guarded<VecDeque<End>>,
    /// Whether the outermost end knows that there are some.
    pub(super) is_listed: Cell<bool>,
    /// The ends beyond the limit. The next run carries them out.
    for_next_run: Guarded<VecDeque<End>>,
}

impl Ends {
    /// How many more ends the outermost one, which has this number, may cause: at first
    /// `most`.
    pub(super) fn left(&self, outermost: u64, most: impl FnOnce() -> u64) -> &Cell<u64> {
        if self.counted_in.replace(outermost) != outermost {
            self.left.set(most());
        }
        &self.left
    }

    /// Defers an end to the outermost end.
    pub(super) fn defer(&self, end: End) {
        self.deferred.borrow_mut().push_back(end);
    }

    /// Takes the next deferred end.
    pub(super) fn next(&self) -> Option<End> {
        self.deferred.borrow_mut().pop_front()
    }

    /// Leaves all deferred ends to the next run. Returns whether there are any.
    pub(super) fn leave_rest(&self) -> bool {
        let mut rest = self.deferred.take();
        let any = !rest.is_empty();
        self.for_next_run.borrow_mut().append(&mut rest);
        any
    }

    /// Takes back what was left to the next run.
    pub(super) fn take_rest(&self) {
        let mut rest = self.for_next_run.take();
        self.deferred.borrow_mut().append(&mut rest);
    }

    /// Whether an end is deferred.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.borrow().is_empty() || !self.for_next_run.borrow().is_empty()
    }
}

/// An end that may be carried out later.
#[derive(Debug)]
pub(crate) enum End {
    /// A stopped task. Its future has yet to be dropped.
    Stop(TaskKey),
    /// A reference to a task that has ended. The output has yet to be dropped, then the
    /// reference.
    Output(Reference),
    /// A payload that no join has returned.
    Payload(Foreign<Payload>),
    /// The executor itself has been dropped. Its coroutines have yet to be stopped.
    Executor,
}
