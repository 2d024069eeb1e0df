//! What an executor keeps to observe its coroutines.

use std::cell::Cell;
use std::time::Duration;

use crate::core::base::key::TaskKey;

use super::events::EventWaits;
use super::observed::Line;
use super::poll_times::PollTimes;
use super::time_source::TimeSource;
use super::trace_hooks::TraceHooks;

/// Whether an executor's coroutines are observed, and for what.
#[derive(Debug, Default)]
pub(crate) struct Instruments {
    on: Cell<bool>,
    /// Whether they are on also without a trace hook.
    is_always_on: bool,
    pub(crate) time_source: TimeSource,
    /// Set if polls are timed.
    pub(crate) poll_times: Option<PollTimes>,
    /// Whether the times of each coroutine are added up.
    pub(crate) profiles: bool,
    /// Whether each wait notes through which functions its script has come to it.
    pub(crate) call_chains: bool,
    pub(crate) trace: TraceHooks,
    pub(crate) event_waits: EventWaits,
    /// How many signals, watches and semaphores with a name have been shown.
    sources: Cell<u32>,
    /// The line of the wait that this coroutine polls in the closure of another crate.
    pub(crate) line: Cell<Option<(TaskKey, Line)>>,
}

impl Instruments {
    pub(crate) fn new(
        inspect: bool,
        profiles: bool,
        call_chains: bool,
        slow_poll: Option<Duration>,
        time_source: TimeSource,
    ) -> Self {
        let is_timed = profiles || slow_poll.is_some();
        let is_always_on = inspect || is_timed || call_chains;
        let poll_times = is_timed.then(|| PollTimes::new(time_source.clone(), slow_poll));
        Instruments {
            on: Cell::new(is_always_on),
            is_always_on,
            time_source,
            poll_times,
            profiles,
            call_chains,
            trace: TraceHooks::default(),
            event_waits: EventWaits::default(),
            sources: Cell::new(0),
            line: Cell::new(None),
        }
    }

    /// Drops the host's closures when the executor ends.
    pub(crate) fn close(&self) {
        self.trace.close();
        self.time_source.close();
        if let Some(poll_times) = &self.poll_times {
            poll_times.close();
        }
    }

    /// Whether new coroutines are observed.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Whether a trace hook hears of polls, or polls are timed.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.trace.is_set() || self.poll_times.is_some()
    }

    /// The number of a signal, a watch or a semaphore that is shown for the first time.
    pub(crate) fn next_source(&self) -> u32 {
        let number = self.sources.get().saturating_add(1);
        self.sources.set(number);
        number
    }

    /// Turns observing on. Returns `false` if it was on already.
    pub(crate) fn turn_on(&self) -> bool {
        !self.on.replace(true)
    }

    /// Turns observing off, if only a trace hook needed it, and none is left. Returns
    /// `false` if it stays as it is.
    pub(crate) fn turn_off(&self) -> bool {
        let is_needed = self.is_always_on || self.trace.is_set();
        !is_needed && self.on.replace(false)
    }
}
