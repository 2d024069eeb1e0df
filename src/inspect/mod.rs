//! Inspection: which coroutine waits, what for, and since when; which one ran,
//! and for how long.
//!
//! A [`Snapshot`] is read from the tasks, the queues, the wheels and the rings
//! of joins: they hold what each coroutine waits for. They do not hold where a
//! coroutine was made, nor when it began to wait. These are recorded only for
//! *observed* coroutines, like trace events and poll times. A flag makes the
//! polls of an observed task take a slower path. So a task that is not observed
//! pays nothing.

mod coroutine;
mod cycles;
mod hook;
mod instruments;
mod print;
mod report;
mod slow_polls;
mod snapshot;
mod time_source;
mod trace;
mod tree;
mod wait;

pub use coroutine::{CoroutineInfo, Moment, State};
pub use report::{Refusal, Report};
pub use snapshot::Snapshot;
pub use trace::{TraceEvent, Traced};
pub use wait::{TimerClock, Wait};

pub(crate) use coroutine::Origin;
pub(crate) use hook::Hook;
pub(crate) use instruments::{Instruments, Observed};
pub(crate) use print::Reports;
pub(crate) use report::NO_STATE;
pub(crate) use slow_polls::{Lap, SlowPolls};
pub(crate) use time_source::TimeSource;
