//! What an executor keeps for those who watch its coroutines.

use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;

use crate::coroutine::TaskKey;

use super::coroutine::Moment;
use super::stopwatch::Stopwatch;
use super::trace::Trace;

/// Whether an executor's coroutines are watched, and for what.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    on: Cell<bool>,
    /// Set if slow polls are reported.
    pub(crate) stopwatch: Option<Stopwatch>,
    pub(crate) trace: Trace,
}

/// What is noted of one watched coroutine.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Where it was spawned, and which coroutine was being polled then; not known
    /// if it was alive before anybody watched.
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) parent: Option<TaskKey>,
    /// When it was last polled, if that is known.
    pub(crate) since: Option<Moment>,
    /// Whether it may have been polled.
    pub(crate) has_begun: bool,
    /// The first signal or watch with a name that has woken it since.
    pub(crate) woken_by: Option<Arc<str>>,
}

impl Watch {
    pub(crate) fn new(inspect: bool, stopwatch: Option<Stopwatch>) -> Self {
        Watch {
            on: Cell::new(inspect || stopwatch.is_some()),
            stopwatch,
            trace: Trace::default(),
        }
    }

    /// Whether coroutines that are spawned are to be watched.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// `false`: it was on already.
    pub(crate) fn turn_on(&self) -> bool {
        !self.on.replace(true)
    }
}
