//! Combinators: several futures as one. They poll the futures in order, with the
//! waker of the coroutine, so that the waits inside register directly. (`when_each` has
//! wakers of its own, which tell which futures to poll.)

mod branch;
pub mod expansion;
mod join;
mod join_all;
mod on_error;
mod pinned;
mod race;
mod select;
mod try_join_all;
mod when_each;

pub use join_all::{JoinAll, join_all};
pub use on_error::{OnError, on_error};
pub use race::{Race, race};
pub use try_join_all::{TryJoinAll, try_join_all};
pub use when_each::{WhenEach, when_each};
