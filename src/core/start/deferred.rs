//! Starts that are deferred.

use std::cell::Cell;
use std::panic::Location;

use crate::core::list::List;
use crate::core::task::TaskKey;

/// Starts that are deferred.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// The starts that an outer call begins, as soon as the stack allows.
    pub(crate) deferred: List<TaskKey>,
    /// The starts beyond the limit. The next run begins them.
    pub(crate) for_next_run: List<TaskKey>,
    /// Whether a call outside of runs counts its starts.
    pub(crate) counts: Cell<bool>,
    /// How many calls of `hold_starts` are under way.
    pub(crate) holds: Cell<u32>,
    /// The line at which the host called `start`, while that call polls its coroutine
    /// outside of a run.
    pub(crate) from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Calls `f` with each task whose start is deferred.
    pub(crate) fn each(&self, mut f: impl FnMut(TaskKey)) {
        self.deferred.iter().for_each(&mut f);
        self.for_next_run.iter().for_each(f);
    }

    /// Whether a start is deferred.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        !self.deferred.is_empty() || !self.for_next_run.is_empty()
    }

    /// Takes all starts that are deferred, in order.
    pub(crate) fn take(&self) -> Vec<TaskKey> {
        let mut all = self.for_next_run.take();
        all.append(&mut self.deferred.take());
        all
    }
}
