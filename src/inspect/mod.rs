//! Inspection: which script waits, for what and since when; which one ran, and for how long.
//!
//! - [`Executor::snapshot`](crate::Executor::snapshot) returns a [`Snapshot`] of all scripts and
//!   their waits.
//! - [`Executor::on_trace`](crate::Executor::on_trace) sends a [`TraceEvent`] for each thing that
//!   a script does.
//! - [`Executor::on_report`](crate::Executor::on_report) sends a [`Report`] of each thing that
//!   goes wrong.
//!
//! Inspection costs nothing while it is off. A script is observed if its executor has a trace
//! hook, or was built with [`Builder::inspect`](crate::Builder::inspect).
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//!
//! let mut executor = Executor::new();
//! executor.start(wait_seconds(2)).named("door");
//! executor.run_frame(0.25);
//! let snapshot = executor.snapshot();
//! assert!(snapshot.to_string().contains("door"));
//! ```

pub(crate) mod awaited;
mod call_chain;
mod coroutine;
mod cycles;
mod describe;
mod draft;
pub(crate) mod events;
pub(crate) mod hook;
mod instruments;
mod names;
pub(crate) mod notes;
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

pub use crate::executor::TraceHook;
pub use call_chain::{Call, CallChain};
pub use coroutine::{CoroutineInfo, Moment, State};
pub use describe::describe;
pub use observed::Profile;
pub use report::{Report, SpawnError};
pub use snapshot::Snapshot;
pub use source::{Source, SourceKind};
pub use stop::PendingStop;
pub use trace::{TraceEvent, TraceKind, Waiting};
pub use wait::{TimerClock, Wait};
pub use wait_note::WaitNote;

pub(crate) use draft::snapshot;
pub(crate) use hook::Hook;
pub(crate) use instruments::Instruments;
pub(crate) use names::script as script_name;
pub(crate) use observed::{Line, Observed, WaitId};
pub(crate) use poll_times::{Lap, PollTimes};
pub(crate) use print::Reports;
#[doc(hidden)]
pub use print::to_stderr;
pub(crate) use report::NO_STATE;
pub(crate) use time_source::TimeSource;
pub(crate) use trace_hooks::TraceClosure;
