//! How coroutines begin and end.

pub(crate) mod end;
pub(crate) mod start;
