//! The phases: their latest runs, and the waits and ready tasks of their next runs.

pub(crate) mod frame;
pub(crate) mod idle;
pub(crate) mod queue;
pub(crate) mod ready;
pub(crate) mod skipped;
pub(crate) mod state;
