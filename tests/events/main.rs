//! Waits for something other than time: signals, values, permits, other threads,
//! and futures of other crates.

mod buffers;
mod permits;
mod promise;
mod remote;
mod signal;
mod std_futures;
mod untaken_grants;
mod wakes;
mod wandering;
mod watch;
