//! Data that few tasks have, kept out of the header.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use crate::core::call::{Foreign, Payload};
use crate::core::report::panicked::Panicked;
use crate::core::waker::TaskWaker;
use crate::inspect::Observed;
use crate::time::ClockState;

use super::clocks::Clocks;
use super::pause::Pause;
use super::{Task, Tasks};

/// Reads the output of a task that has returned. Returns `true` if it has read it,
/// and `false` if the output is none of its concern.
pub(crate) type Reader = Box<dyn FnOnce(&Tasks, Task<'_>) -> Result<bool, Payload>>;

/// Exists for a task that has given away a waker, has a name, has waits in
/// entries or on clocks that it names, is observed, has been paused, has yielded, has
/// futures on another clock, has readers, or has panicked.
#[derive(Default)]
pub(crate) struct Cold {
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task's task waker, once one has been cloned.
    pub(crate) waker: Option<TaskWaker>,
    /// The last run in which a wake led to a poll, and how many wakes did.
    woken_in: Cell<u64>,
    wakes: Cell<u32>,
    /// The last run in which the task yielded, and how often it did.
    yielded_in: Cell<u64>,
    yields: Cell<u32>,
    /// The clocks below the game clock or realtime on which futures of the task count,
    /// besides that of its owner. Pauses measure them.
    pub(crate) future_clocks: Vec<Rc<ClockState>>,
    /// The last run in which the task was polled. Kept up to date while it has
    /// waits in entries.
    pub(crate) polled_in: u64,
    /// The state of a task that is paused or has been paused.
    pub(crate) pause: Option<Box<Pause>>,
    /// The clocks that its waits have named.
    pub(crate) clocks: Option<Box<Clocks>>,
    /// What is kept about the task for snapshots and traces.
    pub(crate) observed: Option<Box<Observed>>,
    /// The payload of its panic.
    pub(crate) panic: Option<Panicked>,
    /// What reads the output when the task returns.
    pub(crate) readers: Vec<Foreign<Reader>>,
    /// Whether one of them has read it.
    pub(crate) is_read: bool,
}

impl Cold {
    /// Counts a wake that is about to lead to a poll. Returns how many have in this
    /// run.
    #[inline]
    pub(crate) fn count_wake(&self, run: u64) -> u32 {
        count(&self.woken_in, &self.wakes, run)
    }

    /// Counts a yield. Returns how many there have been in this run.
    pub(crate) fn count_yield(&self, run: u64) -> u32 {
        count(&self.yielded_in, &self.yields, run)
    }
}

/// Counts one more event in `run`, which may be another run than the last one.
#[inline]
fn count(last: &Cell<u64>, events: &Cell<u32>, run: u64) -> u32 {
    let earlier = if last.replace(run) == run {
        events.get()
    } else {
        0
    };
    let now = earlier.saturating_add(1);
    events.set(now);
    now
}
