//! Ends that are under way, and those that are deferred.

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
    pub(crate) depth: Cell<u32>,
    /// How many more ends the outermost one may cause.
    pub(crate) left: Cell<u64>,
    /// The ends that the outermost end carries out.
    pub(crate) deferred: Guarded<VecDeque<DeferredEnd>>,
    /// The ends beyond the limit. The next run carries them out.
    pub(crate) for_next_run: Guarded<VecDeque<DeferredEnd>>,
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
