//! Starts that are deferred.

use std::cell::Cell;
use std::panic::Location;

use crate::core::base::key::TaskKey;
use crate::core::base::list::List;

/// Starts that are deferred.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// The starts that are deferred, in order. A call further up the stack begins them as
    /// soon as it may, or else the next run.
    pub(crate) deferred: List<TaskKey>,
    /// How many calls of `hold_starts` are under way.
    pub(crate) holds: Cell<u32>,
    /// The line at which the host called `start`, while that call polls its coroutine
    /// outside of a run.
    pub(crate) from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Whether a call of `hold_starts` is under way.
    #[inline]
    pub(crate) fn are_held(&self) -> bool {
        self.holds.get() > 0
    }

    /// Whether a start is deferred.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        !self.deferred.is_empty()
    }
}
