//! Coroutines as their users see them: handles, ids, and how a coroutine ended.

mod error;
mod finished;
mod handle;
mod id;
mod make;
mod named;
mod returned_by;

pub(crate) use error::Stopper;
pub use error::{JoinError, Outcome};
pub use finished::Finished;
pub use handle::{Coroutine, join};
pub use id::CoroutineId;
pub use named::Named;
pub use returned_by::ReturnedBy;

pub(crate) use make::{ByHost, ByScript, Placed, Resolved, outside, refuse, spawn, start};
