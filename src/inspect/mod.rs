//! Who waits, for what, since when; who ran, and for how long.
//!
//! A [`Snapshot`] is read off what the executor keeps anyway: the tasks, the
//! queues, the wheels and the lists of joiners tell what everyone waits for. What
//! they do not tell, where a coroutine comes from and when it began to wait, is
//! noted for coroutines that are *watched*, and so are the events of a trace and
//! the time that polls take. A task that is watched is polled through another
//! table of functions, so that one that is not pays nothing.

#![forbid(unsafe_code)]

mod coroutine;
mod cycles;
mod snapshot;
mod stopwatch;
mod trace;
mod tree;
mod wait;
mod watch;

pub use coroutine::{CoroutineInfo, Moment, State};
pub use snapshot::Snapshot;
pub use trace::{TraceEvent, Traced};
pub use wait::{TimerClock, Wait};

pub(crate) use coroutine::Origin;
pub(crate) use stopwatch::{Lap, Stopwatch};
pub(crate) use watch::{Watch, Watched};
