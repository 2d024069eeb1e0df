//! Wakers that leave the executor, and how their calls reach it.
//!
//! | waker | held by | its clone |
//! |---|---|---|
//! | lent, by a [`Scope`](super::scope) | polls of a coroutine that has not given away a waker | a task waker |
//! | [task waker](TaskWaker) | later polls, and clones on this thread | a task waker; on another thread, a remote waker |
//! | [remote](remote_waker) | other threads | a remote waker |
//!
//! Nearly all wakers stay on the executor's thread, where one coroutine wakes
//! another. So a task waker counts its clones there without atomic operations.
//! It is made once for each coroutine that gives away a waker. From then on it is lent
//! to the polls, so that `will_wake` returns `true`.
//!
//! A waker holds numbers, never an address in the executor. So dropping a waker frees
//! at most a few bytes. Calls on other threads go through the
//! [injection queue](InjectionQueue).

mod injection;
#[cfg(all(test, framestep_loom))]
mod models;
pub(crate) mod sync;
mod task_waker;
mod thread;

pub(crate) use injection::{InjectionQueue, Message, Order, remote_waker};
pub(crate) use task_waker::{LentWaker, TaskWaker};
