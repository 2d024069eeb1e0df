//! What an executor keeps to watch its coroutines.

use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::core::task::TaskKey;

use super::coroutine::Moment;
use super::stopwatch::Stopwatch;
use super::timepiece::Timepiece;
use super::trace::Trace;

/// Whether an executor's coroutines are watched, and for what.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    on: Cell<bool>,
    pub(crate) timepiece: Timepiece,
    /// Set if slow polls are reported.
    pub(crate) stopwatch: Option<Stopwatch>,
    pub(crate) trace: Trace,
}

/// The notes about one watched coroutine.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Where it was spawned, and which coroutine was being polled then. `None` if
    /// it was spawned before watching began.
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) parent: Option<TaskKey>,
    /// When it was last polled, if known.
    pub(crate) since: Option<Moment>,
    /// Whether it may have been polled.
    pub(crate) has_begun: bool,
    /// The first signal or watch with a name that has woken it since its last poll.
    pub(crate) woken_by: Option<Arc<str>>,
}

impl Watch {
    pub(crate) fn new(inspect: bool, slow_poll: Option<Duration>, timepiece: Timepiece) -> Self {
        let stopwatch = slow_poll.map(|limit| Stopwatch::new(timepiece.clone(), limit));
        Watch {
            on: Cell::new(inspect || stopwatch.is_some()),
            timepiece,
            stopwatch,
            trace: Trace::default(),
        }
    }

    /// Drops the host's closures when the executor ends.
    pub(crate) fn close(&self) {
        self.trace.hook.close();
        self.timepiece.close();
        if let Some(stopwatch) = &self.stopwatch {
            stopwatch.close();
        }
    }

    /// Whether new coroutines are watched.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Turns watching on. Returns `false` if it was on already.
    pub(crate) fn turn_on(&self) -> bool {
        !self.on.replace(true)
    }
}
