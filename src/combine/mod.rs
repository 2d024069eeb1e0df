//! Combinators: several futures as one.
//!
//! [`join_all`](join_all()), [`try_join_all`](try_join_all()) and [`race`](race()) take collections, the macros
//! [`join!`](crate::join!) and [`select!`](crate::select) a fixed
//! number of futures. [`when_each`](when_each()) yields the outputs of many futures as they come, [`on_error`](on_error())
//! handles the error of one.
//!
//! They poll their futures in order, with the waker of the script, so that the waits inside
//! register directly. (`when_each` has wakers of its own, which tell it the futures to poll.)
//! Combinators of other crates work, too.
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//!
//! let mut executor = Executor::new();
//! let doors = executor.start(async {
//!     join_all((1..=3).map(|n| async move { wait_frames(n).await; n })).await
//! });
//! assert_eq!(executor.run_until(doors, 0.25).unwrap(), [1, 2, 3]);
//! ```

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

pub use join_all::JoinAll;
#[doc(alias = "WhenAll")]
#[doc(alias = "ForkJoin")]
pub use join_all::join_all;
pub use on_error::OnError;
#[doc(alias = "Forget")]
#[doc(alias = "unwrap_or_else")]
pub use on_error::on_error;
pub use race::Race;
#[doc(alias = "WhenAny")]
#[doc(alias = "Amb")]
#[doc(alias = "select_all")]
pub use race::race;
pub use try_join_all::{TryJoinAll, try_join_all};
pub use when_each::WhenEach;
#[doc(alias = "as_completed")]
#[doc(alias = "JoinSet")]
#[doc(alias = "FuturesUnordered")]
pub use when_each::when_each;
