//! Coroutines as their users see them: handles, ids, and how a coroutine ended.

mod builder;
mod error;
mod finished;
mod handle;
mod id;
mod make;
mod output_source;

pub use builder::ScriptBuilder;
pub(crate) use error::Stopper;
pub use error::{JoinError, Outcome};
pub use finished::Finished;
pub use handle::{Coroutine, ScriptJoin, join};
pub use id::CoroutineId;
pub use output_source::OutputSource;

pub(crate) use make::{ByScript, Place, outside, refuse, spawn, start};
