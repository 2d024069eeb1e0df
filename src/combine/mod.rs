//! Combinators: several futures as one. They poll the futures in order, with the
//! waker of the coroutine, so that the waits inside register directly.

mod branch;
pub mod expansion;
mod join;
mod join_all;
mod on_error;
mod pinned;
mod race;
mod select;
mod try_join_all;

pub use join_all::{JoinAll, join_all};
pub use on_error::{OnError, on_error};
pub use race::{Race, race};
pub use try_join_all::{TryJoinAll, try_join_all};
