//! Inspection: which coroutine waits, what for, and since when; which one ran,
//! and for how long.
//!
//! A [`Snapshot`] is read from the tasks, the queues, the wheels and the rings
//! of joins: they hold what each coroutine waits for. They do not hold where a
//! coroutine was made, nor when it began to wait. These are recorded only for
//! *watched* coroutines, like trace events and poll times. A flag makes the
//! polls of a watched task take a slower path. So a task that is not watched
//! pays nothing.

#![forbid(unsafe_code)]

mod coroutine;
mod cycles;
mod hook;
mod print;
mod report;
mod snapshot;
mod stopwatch;
mod timepiece;
mod trace;
mod tree;
mod wait;
mod watch;

pub use coroutine::{CoroutineInfo, Moment, State};
pub use report::{Refusal, Report};
pub use snapshot::Snapshot;
pub use trace::{TraceEvent, Traced};
pub use wait::{TimerClock, Wait};

pub(crate) use coroutine::Origin;
pub(crate) use hook::Hook;
pub(crate) use print::Reports;
pub(crate) use report::NO_STATE;
pub(crate) use stopwatch::{Lap, Stopwatch};
pub(crate) use timepiece::Timepiece;
pub(crate) use watch::{Watch, Watched};
