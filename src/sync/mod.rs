//! Events, values that change, semaphores and answers: what scripts wait for besides time.
//!
//! All of them work between the scripts of all executors of a thread, and with futures of other
//! crates: they are built on wakers only.

mod closed;
mod key;
mod named;
mod promise;
mod semaphore;
mod signal;
pub(crate) mod waiters;
mod watch;

pub use closed::{Closed, OrClosed};
pub use key::Key;
pub use named::Named;
pub(crate) use named::named_in;
pub use promise::{Canceled, Promise, Resolver, promise};
pub use semaphore::{Acquire, Permit, Semaphore, semaphore};
pub use signal::{Signal, Subscription, WaitSignal, WaitSignalFor, signal, signal_with_limit};
pub use watch::{Changed, Changes, WaitWatch, Watch, WatchReader, watch};
