//! Events in the life of coroutines, and all others of a full trace.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::coroutine::{CoroutineId, Outcome};
use crate::time::Phase;

use super::names;
use super::wait::Wait;

/// Something that happened in an executor, as passed to the hook of
/// [`Executor::on_trace`](crate::Executor::on_trace) or
/// [`Executor::on_full_trace`](crate::Executor::on_full_trace).
///
/// The same program produces the same events, in the same order. So two runs,
/// or two machines, can be compared by the text of their events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The frame in which it happened.
    pub frame: u64,
    /// The phase of the run under way, if one is.
    pub phase: Option<Phase>,
    /// The coroutine. `None` for frames, for phases, and for an event that the host
    /// emits.
    pub id: Option<CoroutineId>,
    /// The coroutine's [name](crate::Coroutine::named), if it has been set yet,
    /// else the name of its future's type. Empty if there is no coroutine.
    pub name: Cow<'static, str>,
    /// What happened.
    pub what: Traced,
}

impl TraceEvent {
    /// The name in short, like [`CoroutineInfo::short_name`](crate::CoroutineInfo::short_name).
    pub fn short_name(&self) -> &str {
        names::short(&self.name)
    }
}

/// What happened, in a [`TraceEvent`].
///
/// `on_trace` receives the first three; a full trace receives all. Its order is:
///
/// ```text
/// FrameBegan
///   PhaseBegan
///     WaitEnded      the wait that was served
///     Resumed        a poll begins
///       ..           what the coroutine does: it spawns, emits, wakes, pauses
///       WaitBegan    a wait of the poll
///     WaitEnded      a wait that was dropped in the poll
///     Suspended      the poll has ended; or Ended
///   PhaseEnded
/// ```
///
/// A coroutine that starts another one polls it inside its own poll.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Traced {
    /// The coroutine was spawned or started. It has not been polled.
    Spawned {
        /// The line of the call. `None` if another thread made it.
        at: Option<&'static Location<'static>>,
        /// The coroutine that made the call. `None` if the host did.
        parent: Option<CoroutineId>,
        /// The label of its owner, as in [`CoroutineInfo::owner`](crate::CoroutineInfo::owner).
        owner: Option<Arc<str>>,
    },
    /// The coroutine is about to be polled, for the first time or again.
    Resumed {
        /// The name of the [`Signal`](crate::Signal), [`Watch`](crate::Watch) or
        /// [`Permits`](crate::Permits) that woke it; the first if several did. `None`
        /// if something else did, or if it has no [name](crate::Signal::named).
        by: Option<Arc<str>>,
    },
    /// The coroutine has ended: its future is gone.
    Ended(Outcome),
    /// A poll has ended, and the coroutine waits.
    Suspended,
    /// The coroutine waits for something, from now on.
    WaitBegan {
        /// What it waits for.
        wait: Wait,
        /// The line and column of the `.await`. See
        /// [`CoroutineInfo::waits_at`](crate::CoroutineInfo::waits_at).
        at: Option<&'static Location<'static>>,
    },
    /// A wait is over: it was served, or dropped.
    WaitEnded {
        /// What the coroutine waited for, as when it began.
        wait: Wait,
        /// The line and column of the `.await`.
        at: Option<&'static Location<'static>>,
    },
    /// The coroutine's waker was called.
    Woken {
        /// The coroutine that called it. `None` if the host or another thread did.
        by: Option<CoroutineId>,
        /// The name of the signal, the watch or the permits that called it.
        source: Option<Arc<str>>,
    },
    /// The coroutine was paused, by its handle or by an owner.
    Paused,
    /// The last pause of the coroutine has ended.
    Unpaused,
    /// The coroutine, or the host, emitted a signal or set a watch that has a name.
    Emitted {
        /// Its name.
        name: Arc<str>,
    },
    /// A frame has begun.
    FrameBegan {
        /// The reading of the game clock.
        elapsed: Duration,
    },
    /// A run of [`phase`](TraceEvent::phase) begins.
    PhaseBegan,
    /// The run of [`phase`](TraceEvent::phase) has ended.
    PhaseEnded,
}

impl Traced {
    /// Whether `on_trace` receives it.
    pub(crate) fn is_life(&self) -> bool {
        matches!(
            self,
            Traced::Spawned { .. } | Traced::Resumed { .. } | Traced::Ended(_)
        )
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.frame)?;
        if let Some(phase) = self.phase {
            write!(f, ", {phase}")?;
        }
        match self.id {
            Some(id) => write!(f, ": {id} {} {}", self.name, self.what),
            None => write!(f, ": {}", self.what),
        }
    }
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Traced::Spawned { .. } => f.write_str("spawned"),
            Traced::Resumed { by: None } => f.write_str("resumed"),
            Traced::Resumed { by: Some(name) } => write!(f, "resumed by {name}"),
            Traced::Ended(Outcome::Finished) => f.write_str("finished"),
            Traced::Ended(Outcome::Stopped) => f.write_str("stopped"),
            Traced::Ended(Outcome::Panicked) => f.write_str("panicked"),
            Traced::Suspended => f.write_str("suspended"),
            Traced::WaitBegan { wait, at } => {
                write!(f, "waits for {wait}")?;
                write_place(f, *at)
            }
            Traced::WaitEnded { wait, at } => {
                write!(f, "no longer waits for {wait}")?;
                write_place(f, *at)
            }
            Traced::Woken { by, source } => {
                f.write_str("woken")?;
                if let Some(source) = source {
                    write!(f, " through {source}")?;
                }
                match by {
                    Some(by) => write!(f, " by {by}"),
                    None => Ok(()),
                }
            }
            Traced::Paused => f.write_str("paused"),
            Traced::Unpaused => f.write_str("unpaused"),
            Traced::Emitted { name } => write!(f, "emitted {name}"),
            Traced::FrameBegan { elapsed } => write!(f, "begins, at {elapsed:?}"),
            Traced::PhaseBegan => f.write_str("begins"),
            Traced::PhaseEnded => f.write_str("ends"),
        }
    }
}

fn write_place(f: &mut fmt::Formatter<'_>, at: Option<&Location<'_>>) -> fmt::Result {
    match at {
        Some(at) => write!(f, ", at {at}"),
        None => Ok(()),
    }
}
