//! Stored tasks: their memory, their life, and the handle that awaits them.

mod coroutine;
mod extra;
mod finished;
mod header;
mod link;
mod pause;
mod pool;
mod stage;
mod table;

pub use coroutine::{Coroutine, join};
pub use finished::Finished;
pub(crate) use header::{Flags, Header, Lifecycle, Primary, TaskRef};
pub(crate) use link::Link;
pub(crate) use pause::{Parked, Pause, Readings};
pub(crate) use table::{TaskTable, Wakeup};
