//! Wakers that leave the executor, and how their calls reach it.
//!
//! | waker | held by | its clone |
//! |---|---|---|
//! | lent, by a [`Scope`](super::scope) | polls of a coroutine that has not given away a waker | an own waker |
//! | [own] | later polls, and clones on this thread | an own waker; on another thread, an outside waker |
//! | [`outside`](outside()) | other threads | an outside waker |
//!
//! Nearly all wakers stay on the executor's thread, where one coroutine wakes
//! another. So an own waker counts its clones there without atomic operations.
//! It is made once for each coroutine, and lent to its polls, so that
//! `will_wake` returns `true`.
//!
//! A waker holds numbers, never an address in the executor: dropping it frees
//! at most a few bytes. Calls on other threads go through the [inbox](Inbox).

mod inbox;
#[cfg(all(test, framestep_loom))]
mod models;
mod outside;
mod own;
pub(crate) mod sync;
mod thread;

pub(crate) use inbox::{Inbox, Message, Order};
pub(crate) use outside::outside;
pub(crate) use own::{LentWaker, OwnWaker};
