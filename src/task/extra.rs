//! What few tasks have, kept out of the header.

#![forbid(unsafe_code)]

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;

use crate::inspect::Watched;
use crate::phase::PhaseIndex;
use crate::ticket::Ticket;
use crate::waker::OwnWaker;

use super::pause::Pause;

/// Belongs to a task that has left a waker with somebody, has a name, panicked,
/// or is joined by several.
///
/// What each wake looks at stands together at the beginning: it is the cache
/// that wakes wait for, once there are many coroutines.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Extra {
    /// Also where the slab notes whether there is an `Extra`.
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task's own waker, once somebody has asked for it.
    pub(crate) waker: Option<OwnWaker>,
    /// The last run in which it was called, and how often.
    called_in: Cell<u64>,
    calls: Cell<u32>,
    /// Its place among the members of its owner.
    pub(super) member: Option<u32>,
    /// Of one that is paused, or has been.
    pub(crate) pause: Option<Box<Pause>>,
    /// What is kept of it for those who inspect it.
    pub(crate) watched: Option<Box<Watched>>,
    /// What it panicked with.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
    /// Those who join it, if they are more than one; in order.
    pub(crate) joiners: Vec<Ticket>,
    /// The length of `joiners` at which stale ones are looked for.
    pub(crate) sweep_joiners_at: usize,
    /// The last run in which it was polled, kept for tasks with records only.
    pub(crate) polled_in: u64,
    /// How many places of it are ghosts, while it lives, in the queues where
    /// there are any.
    ghosts: Vec<(PhaseIndex, u32)>,
}

impl Extra {
    pub(super) fn of_member(member: Option<u32>) -> Self {
        Extra {
            member,
            ..Extra::default()
        }
    }

    /// A wake is about to lead to a poll: how many have in this run, with it.
    #[inline]
    pub(crate) fn count_call(&self, run: u64) -> u32 {
        let earlier = if self.called_in.replace(run) == run {
            self.calls.get()
        } else {
            0
        };
        let calls = earlier.saturating_add(1);
        self.calls.set(calls);
        calls
    }

    /// Its place in the queue of `phase` became a ghost.
    pub(crate) fn add_ghost(&mut self, phase: PhaseIndex) {
        match self.ghosts.iter_mut().find(|(of, _)| *of == phase) {
            Some((_, count)) => *count += 1,
            None => self.ghosts.push((phase, 1)),
        }
    }

    /// A ghost of it left the queue of `phase`. `false`: there was none.
    pub(crate) fn remove_ghost(&mut self, phase: PhaseIndex) -> bool {
        let Some(at) = self.ghosts.iter().position(|(of, _)| *of == phase) else {
            return false;
        };
        self.ghosts[at].1 -= 1;
        if self.ghosts[at].1 == 0 {
            self.ghosts.swap_remove(at);
        }
        true
    }

    pub(crate) fn has_ghosts(&self) -> bool {
        !self.ghosts.is_empty()
    }
}
