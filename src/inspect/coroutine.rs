//! One coroutine at one moment.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::coroutine::CoroutineId;
use crate::time::Phase;

use super::wait::{TimerClock, Wait};

/// What was known of one coroutine when a [`Snapshot`](crate::Snapshot) was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct CoroutineInfo {
    pub(crate) id: CoroutineId,
    pub(crate) name: Cow<'static, str>,
    pub(crate) state: State,
    pub(crate) phase: Phase,
    /// Nearly all have one.
    pub(crate) wait: Option<Wait>,
    pub(crate) more_waits: Vec<Wait>,
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) clock: TimerClock,
    /// What only watched ones have.
    pub(crate) origin: Option<Box<Origin>>,
}

// A snapshot is mostly the writing of these.
const _: () = assert!(size_of::<CoroutineInfo>() <= 152);

/// What is known of a watched coroutine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) since: Option<Moment>,
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) parent: Option<CoroutineId>,
}

/// Whether a coroutine waits, in a [`CoroutineInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It is being polled: the snapshot was taken inside of it, or of what it has
    /// started.
    Running,
    /// It is due, for having been spawned or woken, or by what it waited for: it
    /// resumes in this run, or in the next one of [`phase`](CoroutineInfo::phase).
    Ready,
    /// It waits.
    Waiting,
    /// It, or an owner of it, is paused; it may be ready besides.
    Paused,
}

/// A point in time, in frames and on the game clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment {
    /// The frame.
    pub frame: u64,
    /// What the game clock read.
    pub elapsed: Duration,
}

impl CoroutineInfo {
    /// Its id.
    pub fn id(&self) -> CoroutineId {
        self.id
    }

    /// What it was [named](crate::Coroutine::named), else the name of its future's
    /// type: for an `async fn`, the path of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it waits.
    pub fn state(&self) -> State {
        self.state
    }

    /// What it waits for: whichever comes first resumes it. Nothing, if it is
    /// running or ready; what is left, if it is paused.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.wait.iter().chain(&self.more_waits)
    }

    /// The phase in which it resumes if it is woken, or ready: the one in which it
    /// was last polled.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Its [`Owner`](crate::Owner), by [name](crate::Owner::named): one without a
    /// name goes by a number, below the closest one above that has a name.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// The clock that its plain waits count on.
    pub fn clock(&self) -> TimerClock {
        self.clock
    }

    /// When it was last polled, and so began to wait. `None`: it has not been, or
    /// that was not noted, see [`Builder::inspect`](crate::Builder::inspect).
    pub fn since(&self) -> Option<Moment> {
        self.origin.as_ref()?.since
    }

    /// Where it was spawned or started. `None`: that was not noted, see
    /// [`Builder::inspect`](crate::Builder::inspect).
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.origin.as_ref()?.place
    }

    /// The coroutine that has spawned it, which may have ended. `None`: the host
    /// has, or that was not noted, see
    /// [`Builder::inspect`](crate::Builder::inspect).
    pub fn parent(&self) -> Option<CoroutineId> {
        self.origin.as_ref()?.parent
    }

    /// Whether nothing will ever resume it, see [`Wait::Never`]. It may still be
    /// stopped.
    pub fn waits_for_ever(&self) -> bool {
        self.wait == Some(Wait::Never)
    }

    /// Whether it waits for a signal or a watch that has a name.
    pub(crate) fn waits_by_name(&self) -> bool {
        let is_named = |wait: &Wait| matches!(wait, Wait::Signal { .. } | Wait::Watch { .. });
        self.waits().any(is_named)
    }

    pub(crate) fn add_wait(&mut self, wait: Wait) {
        match self.wait {
            None => self.wait = Some(wait),
            Some(_) => self.more_waits.push(wait),
        }
    }

    pub(crate) fn clear_waits(&mut self) {
        self.wait = None;
        self.more_waits = Vec::new();
    }

    /// Writes what it does, with each wait written by `write_wait`.
    pub(super) fn write_state<W: fmt::Write>(
        &self,
        out: &mut W,
        mut write_wait: impl FnMut(&mut W, &Wait) -> fmt::Result,
    ) -> fmt::Result {
        match self.state {
            State::Running => out.write_str("running")?,
            State::Ready if self.phase == Phase::Update => out.write_str("ready")?,
            State::Ready => write!(out, "ready, in {}", self.phase)?,
            State::Waiting => {}
            State::Paused => out.write_str("paused")?,
        }
        let mut between = match self.state {
            State::Waiting => "",
            _ => ": ",
        };
        for wait in self.waits() {
            out.write_str(between)?;
            write_wait(out, wait)?;
            between = " | ";
        }
        Ok(())
    }
}

impl fmt::Display for CoroutineInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.id, self.name)?;
        self.write_state(f, |f, wait| write!(f, "{wait}"))
    }
}
