//! Waits for something other than time: signals, values, permits, other threads,
//! and futures of other crates.

mod buffers;
mod by_name;
mod closed;
mod offload;
mod promise;
mod remote;
mod remote_calls;
mod semaphore;
mod signal;
mod std_futures;
mod untaken_grants;
mod wakes;
mod wandering;
mod watch;
