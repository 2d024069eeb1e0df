//! Wakers that leave the executor, and how their calls reach it.
//!
//! | waker | held by | its clone |
//! |---|---|---|
//! | lent, by a [`Scope`](super::scope) | polls of a coroutine that has not given away a waker | a task waker |
//! | [task waker](TaskWaker) | later polls, and clones | a task waker |
//! | [remote](remote_waker) | a task waker that is called on another thread; clones of the lent one there | a remote waker |
//!
//! Nearly all wakers stay on the executor's thread, where one coroutine wakes another. A task waker
//! is made once for each coroutine that gives away a waker. From then on it is lent to the polls, so
//! that `will_wake` returns `true`. It is std's [`Wake`](std::task::Wake) in an `Arc`.
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
pub(crate) use task_waker::TaskWaker;
