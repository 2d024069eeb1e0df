//! The waits of durable scripts, one file a family. Those for scripts and owners are with the runtime.

pub(crate) mod animate;
pub(crate) mod changed;
pub(crate) mod changes_of;
pub(crate) mod condition;
pub(crate) mod every_frames;
pub(crate) mod interval;
pub(crate) mod on;
pub(crate) mod pace;
pub(crate) mod permit;
pub(crate) mod promise;
pub(crate) mod request;
pub(crate) mod semaphore;
pub(crate) mod signal;
pub(crate) mod signal_for;
pub(crate) mod stop_requested;
pub(crate) mod subscription;
pub(crate) mod timed;
pub(crate) mod timeout;
pub(crate) mod value;
pub(crate) mod value_changes;
pub(crate) mod yield_now;
