//! Coroutines as their users see them: handles, ids, and how a coroutine ended.

mod error;
mod finished;
mod handle;
mod id;
mod make;
mod named;

pub(crate) use error::Stopper;
pub use error::{JoinError, Outcome};
pub use finished::Finished;
pub use handle::{Coroutine, join};
pub use id::CoroutineId;
pub use named::Named;

pub(crate) use make::{ByHost, ByScript, Resolved, outside, spawn, start};
