//! Data that few tasks have, kept out of the header.

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

/// Reads the output of a task that has returned. Returns whether the output counts as
/// read: `false` if the reader does not want this output.
pub(crate) type Reader = Box<dyn FnOnce(&Tasks, Task<'_>) -> Result<bool, Payload>>;

/// Exists for a task that has one of these: a given name, a task waker, waits in
/// entries or on clocks that it names, futures on another clock, readers of its output, a
/// pause, a yield, a panic, an observer.
#[derive(Default)]
pub(crate) struct Cold {
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task waker, once a waker has been cloned.
    pub(crate) waker: Option<TaskWaker>,
    /// The last run in which a wake led to a poll.
    woken_in: Cell<u64>,
    /// How many wakes led to a poll in that run.
    wakes: Cell<u32>,
    /// The last run in which the task yielded.
    yielded_in: Cell<u64>,
    /// How often the task yielded in that run.
    yields: Cell<u32>,
    /// The child clocks on which futures of the task count, besides that of its owner.
    /// Pauses measure them.
    pub(crate) future_clocks: Vec<Rc<ClockState>>,
    /// The last run that polled the task. Kept up to date while the task has the flag
    /// `ENTRIES`.
    pub(crate) polled_in: u64,
    /// The state of a task that is paused or has been paused.
    pub(crate) pause: Option<Box<Pause>>,
    /// The clocks that the waits of the task have named.
    pub(crate) clocks: Option<Box<Clocks>>,
    /// What is known about the task, for snapshots and traces.
    pub(crate) observed: Option<Box<Observed>>,
    /// The payload of the task's panic.
    pub(crate) panic: Option<Panicked>,
    /// The functions that read the output when the task returns.
    pub(crate) readers: Vec<Foreign<Reader>>,
    /// Whether one of the readers has read the output.
    pub(crate) is_read: bool,
}

impl Cold {
    /// Counts a wake that is about to lead to a poll. Returns the number of such wakes in
    /// `run`, this one included.
    #[inline]
    pub(crate) fn count_wake(&self, run: u64) -> u32 {
        count(&self.woken_in, &self.wakes, run)
    }

    /// Counts a yield. Returns the number of yields in `run`, this one included.
    pub(crate) fn count_yield(&self, run: u64) -> u32 {
        count(&self.yielded_in, &self.yields, run)
    }
}

/// Counts one more event in `run`. If `last` is another run, the count begins anew.
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
