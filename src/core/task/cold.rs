//! What few tasks have, kept out of the header.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;

use crate::core::Panicked;
use crate::core::waker::OwnWaker;
use crate::inspect::Watched;

use super::pause::Pause;

/// Of a task that has left a waker with somebody, has a name, has waits in
/// entries, was paused, or panicked.
#[derive(Debug, Default)]
pub(crate) struct Cold {
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task's own waker, once somebody has asked for it.
    pub(crate) waker: Option<OwnWaker>,
    /// The last run in which it was woken, and how often.
    woken_in: Cell<u64>,
    wakes: Cell<u32>,
    /// The last run in which it was polled; kept while waits of it stand in
    /// entries.
    pub(crate) polled_in: u64,
    /// Of one that is paused, or has been.
    pub(crate) pause: Option<Box<Pause>>,
    /// What is kept of it for those who inspect it.
    pub(crate) watched: Option<Box<Watched>>,
    /// What it panicked with.
    pub(crate) panic: Option<Panicked>,
}

impl Cold {
    /// A wake is about to lead to a poll: how many have in this run, with it.
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
