//! What all modules of the core use: the way out into user code, cells and lists, and the
//! names of tasks and waits.

pub(crate) mod call;
pub(crate) mod cell;
pub(crate) mod key;
pub(crate) mod list;
