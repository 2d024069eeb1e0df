//! Stored tasks: their memory, their life, and the handle that awaits them.

mod coroutine;
mod extra;
mod finished;
mod header;
mod pool;
mod stage;
mod table;

pub use coroutine::{Coroutine, join};
pub use finished::Finished;
pub(crate) use header::{Flags, Header, Lifecycle, NO_EXTRA, Primary, TaskRef};
pub(crate) use table::{TaskTable, Wakeup};
