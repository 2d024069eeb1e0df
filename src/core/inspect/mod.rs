//! The content of snapshots, and waits with names.

pub(crate) mod named;
pub(crate) mod named_wait;
pub(crate) mod snapshot;
