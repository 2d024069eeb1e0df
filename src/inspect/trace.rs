//! Events in the life of coroutines.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::coroutine::{CoroutineId, Outcome};
use crate::time::Phase;

use super::hook::Hook;

/// An event in the life of a coroutine, as passed to the hook of
/// [`Executor::on_trace`](crate::Executor::on_trace).
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
    /// The coroutine.
    pub id: CoroutineId,
    /// The coroutine's [name](crate::Coroutine::named), if it has been set yet,
    /// else the name of its future's type.
    pub name: Cow<'static, str>,
    /// What happened to the coroutine.
    pub what: Traced,
    /// The name of the [`Signal`](crate::Signal) or [`Watch`](crate::Watch) that
    /// woke the resumed coroutine; the first if several did. `None` if something
    /// else did, or if it has no [name](crate::Signal::named).
    pub by: Option<Arc<str>>,
}

/// What happened, in a [`TraceEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Traced {
    /// The coroutine was spawned or started. It has not been polled.
    Spawned,
    /// The coroutine is about to be polled, for the first time or again.
    Resumed,
    /// The coroutine has ended: its future is gone.
    Ended(Outcome),
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.frame)?;
        if let Some(phase) = self.phase {
            write!(f, ", {phase}")?;
        }
        write!(f, ": {} {} {}", self.id, self.name, self.what)?;
        match &self.by {
            Some(name) => write!(f, " by {name}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Traced::Spawned => "spawned",
            Traced::Resumed => "resumed",
            Traced::Ended(Outcome::Finished) => "finished",
            Traced::Ended(Outcome::Stopped) => "stopped",
            Traced::Ended(Outcome::Panicked) => "panicked",
        })
    }
}

/// The hook of a trace, and the events that have yet to be sent to it.
///
/// Coroutines end at points where no user code may run. So events are stored,
/// and sent before another coroutine is polled.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) hook: Hook<TraceEvent>,
    unsent: RefCell<VecDeque<TraceEvent>>,
}

impl Trace {
    /// Stores an event, if there is a hook.
    pub(crate) fn note(&self, event: impl FnOnce() -> TraceEvent) {
        if self.hook.is_listening() {
            self.unsent.borrow_mut().push_back(event());
        }
    }

    /// The next event to send, if the hook is not being called.
    pub(crate) fn next(&self) -> Option<TraceEvent> {
        if self.hook.is_listening() {
            self.unsent.borrow_mut().pop_front()
        } else {
            None
        }
    }
}
