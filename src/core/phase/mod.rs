//! The phases: their latest runs, the waits and the ready tasks of the next ones.

pub(crate) mod frame;
pub(crate) mod idle;
pub(crate) mod queue;
pub(crate) mod ready;
pub(crate) mod schedule;
pub(crate) mod state;
