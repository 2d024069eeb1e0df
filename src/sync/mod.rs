//! Events, values that change, semaphores and answers: what scripts wait for besides time.
//!
//! All of them work between the scripts of all executors of a thread, and with futures of other
//! crates: they are built on wakers only.

mod closed;
mod key;
mod named;
mod promise;
pub(crate) mod semaphore;
mod signal;
pub(crate) mod source;
pub(crate) mod waiters;
pub(crate) mod watch;

pub use closed::{Closed, OrClosed};
pub use key::Key;
pub use named::Named;
pub(crate) use named::named_in;
#[doc(alias = "TaskCompletionSource")]
#[doc(alias = "oneshot")]
#[doc(alias = "UniTaskCompletionSource")]
#[doc(alias = "AsyncSubject")]
pub use promise::promise;
pub use promise::{Canceled, Promise, Resolver};
#[doc(alias = "Mutex")]
pub use semaphore::Semaphore;
pub use semaphore::{Acquire, Permit, semaphore};
#[doc(alias = "UnityEvent")]
#[doc(alias = "Subject")]
#[doc(alias = "EventBus")]
#[doc(alias = "observer")]
pub use signal::Signal;
pub use signal::{Subscription, WaitSignal, WaitSignalFor, signal, signal_with_limit};
#[doc(alias = "ReactiveProperty")]
#[doc(alias = "BehaviorSubject")]
#[doc(alias = "AsyncReactiveProperty")]
pub use watch::Watch;
#[doc(alias = "ReadOnlyReactiveProperty")]
pub use watch::WatchReader;
#[doc(alias = "blackboard")]
pub use watch::watch;
pub use watch::{Changed, Changes, WaitWatch};
