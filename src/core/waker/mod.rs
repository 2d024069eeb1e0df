//! Wakers that leave the executor, and the way back in.
//!
//! | waker | held by | a clone of it is |
//! |---|---|---|
//! | lent, by a [`Scope`](super::scope) | polls of a coroutine that has given no waker away | an own one |
//! | [own] | polls from then on, and what cloned one on this thread | an own one; on another thread, an outside one |
//! | [`outside`](outside()) | other threads | an outside one |
//!
//! Nearly all wakers stay on the executor's thread, where one coroutine wakes
//! another. So an own waker counts its clones there without atomic operations.
//! It is made once for each coroutine, which is polled with that very one, so
//! that `will_wake` holds.
//!
//! A waker has numbers, never an address in the executor: dropping it frees at
//! most a few bytes. What other threads do goes through the [inbox](Inbox).

mod inbox;
#[cfg(all(test, framestep_loom))]
mod models;
mod outside;
mod own;
pub(crate) mod sync;
mod thread;

pub(crate) use inbox::{Inbox, Message, Order};
pub(crate) use outside::outside;
pub(crate) use own::OwnWaker;
