//! What few tasks have, kept out of the header.

#![forbid(unsafe_code)]

use std::any::Any;
use std::borrow::Cow;
use std::task::Waker;

use crate::ticket::Ticket;

/// Belongs to a task that has left a waker with somebody, has a name, panicked,
/// or is joined by several.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// The task's own waker, once somebody has asked for it.
    pub(crate) waker: Option<Waker>,
    pub(crate) name: Option<Cow<'static, str>>,
    /// What it panicked with.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
    /// Those who join it, if they are more than one; in order.
    pub(crate) joiners: Vec<Ticket>,
    /// The length of `joiners` at which stale ones are looked for.
    pub(crate) sweep_joiners_at: usize,
    /// The last run in which it was polled, kept for tasks with records only.
    pub(crate) polled_in: u64,
    /// The last run in which a wake led to a poll, and how many did.
    pub(crate) woken_in: u64,
    pub(crate) wakes: u32,
}
