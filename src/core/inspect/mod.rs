//! The content of snapshots and traces: what is noted about observed coroutines, and waits
//! with names.

pub(crate) mod awaited;
pub(crate) mod events;
pub(crate) mod notes;
pub(crate) mod observe;
