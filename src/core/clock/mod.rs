//! The clock on which a coroutine counts, and its own time.

pub(crate) mod own;
pub(crate) mod shown;
