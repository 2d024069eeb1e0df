//! What happens to coroutines, as events.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::coroutine::{CoroutineId, Outcome};
use crate::time::Phase;

use super::hook::Hook;

/// Something that happened to a coroutine, as told to
/// [`Executor::on_trace`](crate::Executor::on_trace).
///
/// The same program gives the same events, in the same order: two runs, or two
/// machines, can be compared by what their events print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The frame in which it happened.
    pub frame: u64,
    /// The phase whose run was under way, if one was.
    pub phase: Option<Phase>,
    /// The coroutine.
    pub id: CoroutineId,
    /// Its name: what it has been [named](crate::Coroutine::named) by now, else
    /// the name of its future's type.
    pub name: Cow<'static, str>,
    /// What happened to it.
    pub what: Traced,
    /// The name of the [`Signal`](crate::Signal) or [`Watch`](crate::Watch) that woke
    /// a coroutine which is resumed, the first if several did. `None`: something
    /// else did, or it has no [name](crate::Signal::named).
    pub by: Option<Arc<str>>,
}

/// What happened, in a [`TraceEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Traced {
    /// It was spawned or started. It has not been polled.
    Spawned,
    /// It is about to be polled, for the first time or again.
    Resumed,
    /// It has ended: its future is gone.
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

/// Who hears the events, and what there is still to tell.
///
/// Coroutines end in places where no user code may run, so events are put down
/// and told a little later, before anybody else is polled.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) hook: Hook<TraceEvent>,
    untold: RefCell<VecDeque<TraceEvent>>,
}

impl Trace {
    /// Puts an event down, if anybody listens.
    pub(crate) fn note(&self, event: impl FnOnce() -> TraceEvent) {
        if self.hook.is_listening() {
            self.untold.borrow_mut().push_back(event());
        }
    }

    /// The next event to tell, if the hook is not at work.
    pub(crate) fn next(&self) -> Option<TraceEvent> {
        if self.hook.is_listening() {
            self.untold.borrow_mut().pop_front()
        } else {
            None
        }
    }
}
