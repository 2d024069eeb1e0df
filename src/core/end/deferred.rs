//! Ends that are under way, and those that are deferred.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;

use crate::core::call::{Foreign, Payload};
use crate::core::cell::Guarded;
use crate::core::task::{Reference, TaskKey};

/// The depth to which starts, and stops in one executor, nest. Deeper ones are
/// deferred.
pub(crate) const MAX_DEPTH: u32 = 100;

/// Ends that are under way, and those that are deferred.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) depth: Cell<u32>,
    /// How many more ends the outermost one may cause.
    pub(crate) left: Cell<u64>,
    /// For the outermost end.
    pub(crate) deferred: Guarded<VecDeque<DeferredEnd>>,
    /// Beyond the limit: for the next run.
    pub(crate) for_next_run: Guarded<VecDeque<DeferredEnd>>,
}

#[derive(Debug)]
pub(crate) enum DeferredEnd {
    /// A stopped task whose future has yet to be dropped.
    Stop(TaskKey),
    /// A task whose output has yet to be dropped, together with its last handle.
    Output(Reference),
    /// A payload that no join has returned.
    Payload(Foreign<Payload>),
}
