//! Events in the life of coroutines, and all others of a full trace.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::task::coroutine::{CoroutineId, Outcome};
use crate::time::Phase;

use super::names;
use super::source::Source;
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
    pub kind: TraceKind,
}

impl TraceEvent {
    /// The name in short, like [`CoroutineInfo::short_name`](crate::inspect::CoroutineInfo::short_name).
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
///     Resumed        a poll begins
///       ..           what the coroutine does: it spawns, emits, wakes, pauses
///     Suspended      the poll has ended, with what it waits for; or Ended
///   PhaseEnded
/// ```
///
/// A coroutine that starts another one polls it inside its own poll. Between two runs, an
/// end is sent in the call that causes it, and all other events with the next one, or when
/// the next run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceKind {
    /// The coroutine was spawned or started. It has not been polled.
    Spawned {
        /// The line of the call. `None` if another thread made it.
        at: Option<&'static Location<'static>>,
        /// The coroutine that made the call. `None` if the host did.
        parent: Option<CoroutineId>,
        /// The label of its owner, as in [`CoroutineInfo::owner`](crate::inspect::CoroutineInfo::owner).
        owner: Option<Arc<str>>,
    },
    /// The coroutine is about to be polled, for the first time or again.
    Resumed {
        /// The name of the [`Signal`](crate::sync::Signal), [`Watch`](crate::sync::Watch) or
        /// [`Semaphore`](crate::sync::Semaphore) that woke it; the first if several did. `None`
        /// if something else did, or if it has no [name](crate::sync::Signal::named).
        by: Option<Arc<str>>,
        /// The line and column of the `.await` from which it continues, if known.
        from: Option<&'static Location<'static>>,
    },
    /// The coroutine has ended: its future is gone.
    Ended(Outcome),
    /// A poll has ended, and the coroutine waits.
    Suspended {
        /// What it waits for now. A wait that is not in the list any more is over: it was
        /// served, or dropped.
        waits: Vec<Waiting>,
    },
    /// The coroutine's waker was called.
    Woken {
        /// The coroutine that called it. `None` if the host or another thread did.
        by: Option<CoroutineId>,
        /// The name of the signal, the watch or the semaphore that called it.
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
        /// Which one of that name it is.
        source: Source,
        /// How many waits, subscriptions and streams of it there were. An event of a signal
        /// that has none is lost.
        listeners: usize,
        /// The new value of a watch that [shows](crate::sync::Watch::shown) it.
        value: Option<Arc<str>>,
    },
    /// The coroutine, or the host, got permits of a semaphore that has a name.
    Acquired {
        /// Which ones.
        source: Source,
        /// How many.
        count: usize,
        /// The line and column of the `.await` or of the call.
        at: &'static Location<'static>,
    },
    /// The coroutine, or the host, has dropped permits of a semaphore that has a name. It may be another
    /// one than that which got them.
    Released {
        /// Which ones.
        source: Source,
        /// How many.
        count: usize,
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

/// A wait of a coroutine, in [`TraceKind::Suspended`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// What it waits for, as when the wait began.
    pub wait: Wait,
    /// The line and column of the `.await`. See
    /// [`CoroutineInfo::waits_at`](crate::inspect::CoroutineInfo::waits_at).
    pub at: Option<&'static Location<'static>>,
    /// Whether the wait began in this poll. One for a condition begins anew each time the
    /// condition is checked.
    pub is_new: bool,
}

impl TraceKind {
    /// Whether `on_trace` receives it.
    pub(crate) fn is_life(&self) -> bool {
        matches!(
            self,
            TraceKind::Spawned { .. } | TraceKind::Resumed { .. } | TraceKind::Ended(_)
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
            Some(id) => write!(f, ": {id} {} {}", self.name, self.kind),
            None => write!(f, ": {}", self.kind),
        }
    }
}

impl fmt::Display for TraceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceKind::Spawned { .. } => f.write_str("spawned"),
            TraceKind::Resumed { by: None, .. } => f.write_str("resumed"),
            TraceKind::Resumed { by: Some(name), .. } => write!(f, "resumed by {name}"),
            TraceKind::Ended(Outcome::Finished) => f.write_str("finished"),
            TraceKind::Ended(Outcome::Stopped) => f.write_str("stopped"),
            TraceKind::Ended(Outcome::Panicked) => f.write_str("panicked"),
            TraceKind::Suspended { waits } => {
                f.write_str("suspended")?;
                let mut before = ", waits for ";
                for waiting in waits {
                    write!(f, "{before}{waiting}")?;
                    before = " | ";
                }
                Ok(())
            }
            TraceKind::Woken { by, source } => {
                f.write_str("woken")?;
                if let Some(source) = source {
                    write!(f, " through {source}")?;
                }
                match by {
                    Some(by) => write!(f, " by {by}"),
                    None => Ok(()),
                }
            }
            TraceKind::Paused => f.write_str("paused"),
            TraceKind::Unpaused => f.write_str("unpaused"),
            TraceKind::Emitted { name, value, .. } => {
                write!(f, "emitted {name}")?;
                match value {
                    Some(value) => write!(f, ": {value}"),
                    None => Ok(()),
                }
            }
            TraceKind::Acquired { source, count, .. } => {
                write_permits(f, "acquired", source, *count)
            }
            TraceKind::Released { source, count } => write_permits(f, "released", source, *count),
            TraceKind::FrameBegan { elapsed } => write!(f, "begins, at {elapsed:?}"),
            TraceKind::PhaseBegan => f.write_str("begins"),
            TraceKind::PhaseEnded => f.write_str("ends"),
        }
    }
}

fn write_permits(
    f: &mut fmt::Formatter<'_>,
    verb: &str,
    source: &Source,
    count: usize,
) -> fmt::Result {
    let name = source.name();
    match count {
        1 => write!(f, "{verb} a permit of {name}"),
        count => write!(f, "{verb} {count} permits of {name}"),
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.wait)?;
        match self.at {
            Some(at) => write!(f, ", at {at}"),
            None => Ok(()),
        }
    }
}
