//! The clock on which a coroutine counts, and the coroutine's own time.

pub(crate) mod own;
pub(crate) mod shown;
