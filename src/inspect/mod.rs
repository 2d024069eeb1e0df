//! Inspection: which coroutine waits, what for, and since when; which one ran,
//! and for how long.
//!
//! A [`Snapshot`] is read from the tasks, the queues, the wheels and the rings
//! of joins: they hold what each coroutine waits for. They do not hold where a
//! coroutine was made, where it waits, nor since when. These are noted only for
//! *observed* coroutines, like trace events and poll times. A flag makes the
//! polls of an observed task take a slower path. So a task that is not observed
//! pays nothing.

mod coroutine;
mod cycles;
mod describe;
mod hook;
mod instruments;
mod names;
mod observed;
mod poll_times;
mod print;
mod report;
mod snapshot;
mod source;
mod stop;
mod time_source;
mod trace;
mod trace_hooks;
mod tree;
mod wait;
mod wait_note;

pub use coroutine::{CoroutineInfo, Moment, State};
pub use describe::describe;
pub use observed::Profile;
pub use report::{Refusal, Report};
pub use snapshot::Snapshot;
pub use source::{Source, SourceKind};
pub use stop::PendingStop;
pub use trace::{TraceEvent, Traced, Waiting};
pub use wait::{TimerClock, Wait};
pub use wait_note::WaitNote;

pub(crate) use coroutine::Origin;
pub(crate) use hook::Hook;
pub(crate) use instruments::Instruments;
pub(crate) use names::script as script_name;
pub(crate) use observed::{Line, NotedWait, Observed, WaitId};
pub(crate) use poll_times::{Lap, PollTimes};
pub(crate) use print::Reports;
pub(crate) use report::NO_STATE;
pub(crate) use source::Birth;
pub(crate) use time_source::TimeSource;
pub(crate) use trace_hooks::TraceClosure;
