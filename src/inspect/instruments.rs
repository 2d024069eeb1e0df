//! What an executor keeps to observe its coroutines.

use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::core::task::TaskKey;

use super::coroutine::Moment;
use super::slow_polls::SlowPolls;
use super::time_source::TimeSource;
use super::trace::Trace;

/// Whether an executor's coroutines are observed, and for what.
#[derive(Debug, Default)]
pub(crate) struct Instruments {
    on: Cell<bool>,
    pub(crate) time_source: TimeSource,
    /// Set if slow polls are reported.
    pub(crate) slow_polls: Option<SlowPolls>,
    pub(crate) trace: Trace,
}

/// The notes about one observed coroutine.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// Where it was spawned, and which coroutine was being polled then. `None` if
    /// it was spawned before observing began.
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) parent: Option<TaskKey>,
    /// When it was last polled, if known.
    pub(crate) since: Option<Moment>,
    /// Whether it may have been polled.
    pub(crate) has_begun: bool,
    /// The first signal or watch with a name that has woken it since its last poll.
    pub(crate) woken_by: Option<Arc<str>>,
}

impl Instruments {
    pub(crate) fn new(inspect: bool, slow_poll: Option<Duration>, time_source: TimeSource) -> Self {
        let slow_polls = slow_poll.map(|limit| SlowPolls::new(time_source.clone(), limit));
        Instruments {
            on: Cell::new(inspect || slow_polls.is_some()),
            time_source,
            slow_polls,
            trace: Trace::default(),
        }
    }

    /// Drops the host's closures when the executor ends.
    pub(crate) fn close(&self) {
        self.trace.hook.close();
        self.time_source.close();
        if let Some(slow_polls) = &self.slow_polls {
            slow_polls.close();
        }
    }

    /// Whether new coroutines are observed.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Turns observing on. Returns `false` if it was on already.
    pub(crate) fn turn_on(&self) -> bool {
        !self.on.replace(true)
    }
}
