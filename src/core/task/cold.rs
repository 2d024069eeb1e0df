//! Data that few tasks have, kept out of the header.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;

use crate::core::call::Foreign;
use crate::core::waker::OwnWaker;
use crate::core::{Panicked, Reader};
use crate::inspect::Watched;

use super::clocks::Clocks;
use super::pause::Pause;

/// Exists for a task that has given away a waker, has a name, has waits in
/// entries or on clocks that it names, is watched, has been paused, has readers, or
/// has panicked.
#[derive(Default)]
pub(crate) struct Cold {
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task's own waker, once one has been cloned.
    pub(crate) waker: Option<OwnWaker>,
    /// The last run in which a wake led to a poll, and how many wakes did.
    woken_in: Cell<u64>,
    wakes: Cell<u32>,
    /// The last run in which the task was polled. Kept up to date while it has
    /// waits in entries.
    pub(crate) polled_in: u64,
    /// The state of a task that is paused or has been paused.
    pub(crate) pause: Option<Box<Pause>>,
    /// The clocks that its waits have named.
    pub(crate) clocks: Option<Box<Clocks>>,
    /// What is kept about the task for snapshots and traces.
    pub(crate) watched: Option<Box<Watched>>,
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
        let earlier = if self.woken_in.replace(run) == run {
            self.wakes.get()
        } else {
            0
        };
        let wakes = earlier.saturating_add(1);
        self.wakes.set(wakes);
        wakes
    }
}
