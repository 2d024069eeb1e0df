//! One coroutine at one moment.

use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::task::coroutine::CoroutineId;
use crate::time::Phase;

use super::call_chain::CallChain;
use super::names;
use super::observed::{Line, Profile};
use super::wait::{TimerClock, Wait};

/// The state of one coroutine when a [`Snapshot`](crate::inspect::Snapshot) was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct CoroutineInfo {
    pub(crate) id: CoroutineId,
    pub(crate) name: Cow<'static, str>,
    pub(crate) state: State,
    pub(crate) phase: Phase,
    pub(crate) home: Phase,
    pub(crate) home_has_run: bool,
    /// The first wait. Nearly all coroutines have only one.
    pub(crate) wait: Option<Wait>,
    pub(crate) more_waits: Vec<Wait>,
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) clock: TimerClock,
    /// Only observed coroutines have it.
    pub(crate) origin: Option<Box<Origin>>,
}

// A snapshot takes most of its time to write these.
const _: () = assert!(size_of::<CoroutineInfo>() <= 152);

/// The notes about an observed coroutine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) since: Option<Moment>,
    pub(crate) place: Option<Line>,
    pub(crate) parent: Option<CoroutineId>,
    /// Where it waits: a line for each of its waits, in their order. Nearly all
    /// coroutines have only one.
    pub(crate) line: Option<Line>,
    pub(crate) more_lines: Vec<Option<Line>>,
    /// If its executor notes them: a call chain for each of its waits, in their order.
    pub(crate) chains: Vec<Option<CallChain>>,
    pub(crate) description: Option<String>,
    pub(crate) profile: Option<Profile>,
}

/// Whether a coroutine waits, in a [`CoroutineInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It is being polled. The snapshot was taken in its poll, or in the poll of a
    /// coroutine that it started.
    Running,
    /// It is due: it was spawned or woken, or a wait is over. It resumes in this
    /// run, or in the next run of [`phase`](CoroutineInfo::phase).
    Ready,
    /// It waits.
    Waiting,
    /// It is paused, or an owner above it is. It may also be ready.
    Paused,
}

/// A point in time, in frames and on the game clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment {
    /// The frame.
    pub frame: u64,
    /// The reading of the game clock.
    pub elapsed: Duration,
}

impl CoroutineInfo {
    /// The coroutine's id.
    pub fn id(&self) -> CoroutineId {
        self.id
    }

    /// The coroutine's [name](crate::Coroutine::named), else the name of its future's
    /// type. For an `async fn`, that is the path of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name as a printed snapshot shows it: of a path, the last two parts without type
    /// parameters, such as `enemies::patrol`. Other names do not change.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::new();
    /// let door = executor.start(wait_seconds(1)).id();
    /// let snapshot = executor.snapshot();
    /// let door = snapshot.get(door).unwrap();
    /// assert_eq!(door.name(), "framestep::wait::seconds::WaitSeconds");
    /// assert_eq!(door.short_name(), "seconds::WaitSeconds");
    /// ```
    pub fn short_name(&self) -> &str {
        names::short(&self.name)
    }

    /// Whether the coroutine waits.
    pub fn state(&self) -> State {
        self.state
    }

    /// What it waits for. The first of these that is due resumes it. Empty if the
    /// coroutine is running or ready. If it is paused, the waits that have not been
    /// served.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.wait.iter().chain(&self.more_waits)
    }

    /// What it waits for, and where: the file, line and column of each `.await`.
    ///
    /// The innermost `.await` is shown: in an `async fn` that a script awaits, the line
    /// in that function. Of a wait inside a combinator of this crate, the line is that
    /// of the combinator's `.await`, and of its macros the line of the macro.
    ///
    /// The line is `None` if it was not noted (see
    /// [`Builder::inspect`](crate::Builder::inspect)), if the wait is that of another
    /// crate, or if it began before a trace was set. If a combinator of another crate
    /// polls the wait, its line is shown.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().inspect(true).build();
    /// let (door, line) = (executor.start(async { wait_seconds(1).await }), line!());
    /// let snapshot = executor.snapshot();
    /// let (wait, at) = snapshot.get(door.id()).unwrap().waits_at().next().unwrap();
    /// assert_eq!(wait.to_string(), "1s, until 1s");
    /// assert_eq!(at.unwrap().line(), line);
    /// ```
    pub fn waits_at(&self) -> impl Iterator<Item = (&Wait, Option<&'static Location<'static>>)> {
        let origin = self.origin.as_ref();
        let first = origin.and_then(|origin| origin.line);
        let more = origin.map_or(&[][..], |origin| &origin.more_lines);
        let lines = iter::once(first).chain(more.iter().copied());
        self.waits().zip(lines.chain(iter::repeat(None)))
    }

    /// Through which functions the script has come to each of its [waits](Self::waits), in their order,
    /// if its executor [notes](crate::Builder::call_chains) that.
    ///
    /// It is `None` for a wait of another crate, and for one that began before the coroutine was
    /// observed.
    ///
    /// # Examples
    ///
    /// See [`Builder::call_chains`](crate::Builder::call_chains).
    pub fn call_chains(&self) -> impl Iterator<Item = Option<&CallChain>> {
        let origin = self.origin.as_ref();
        let chains = origin.map_or(&[][..], |origin| &origin.chains);
        let chains = chains.iter().map(Option::as_ref);
        self.waits()
            .zip(chains.chain(iter::repeat(None)))
            .map(|(_, chain)| chain)
    }

    /// What the script last [said](crate::inspect::describe()) of itself.
    pub fn description(&self) -> Option<&str> {
        self.origin.as_ref()?.description.as_deref()
    }

    /// How often it was polled, and for how long. `None` unless the executor
    /// [profiles](crate::Builder::profile).
    pub fn profile(&self) -> Option<Profile> {
        self.origin.as_ref()?.profile
    }

    /// The phase it resumes in if it is ready, or when it is woken. That is its
    /// [home](CoroutineInfo::home), unless a wait in another phase has made it ready.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Its home phase: [`Phase::Update`], or the one that its builder
    /// [names](crate::task::ScriptBuilder::in_phase).
    pub fn home(&self) -> Phase {
        self.home
    }

    /// Whether the executor has run the [home](CoroutineInfo::home) phase. If not, the
    /// host may have forgotten to run it: a custom phase runs only if the host runs it.
    pub fn home_has_run(&self) -> bool {
        self.home_has_run
    }

    /// The [name](crate::Owner::named) of its [`Owner`](crate::Owner). An owner
    /// without a name is shown as a number, after the name of the closest owner
    /// above it that has one.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// The clock that its plain waits count on.
    pub fn clock(&self) -> TimerClock {
        self.clock
    }

    /// When it was last polled: it has been waiting since then. `None` if it has not
    /// been polled, or if that was not noted (see
    /// [`Builder::inspect`](crate::Builder::inspect)).
    pub fn since(&self) -> Option<Moment> {
        self.origin.as_ref()?.since
    }

    /// Where it was spawned or started. `None` if that was not noted (see
    /// [`Builder::inspect`](crate::Builder::inspect)).
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.origin.as_ref()?.place
    }

    /// The coroutine that spawned it, which may have ended. `None` if the host did,
    /// or if that was not noted (see
    /// [`Builder::inspect`](crate::Builder::inspect)).
    pub fn parent(&self) -> Option<CoroutineId> {
        self.origin.as_ref()?.parent
    }

    /// Whether nothing can resume it any more (see [`Wait::Never`]). It can still
    /// be stopped.
    pub fn never_resumes(&self) -> bool {
        self.wait == Some(Wait::Never)
    }

    /// Whether it is shown with a wait for an event already.
    pub(crate) fn waits_for_event(&self) -> bool {
        let is_event = |wait: &Wait| {
            matches!(
                wait,
                Wait::Signal { .. }
                    | Wait::Watch { .. }
                    | Wait::Permit { .. }
                    | Wait::Answer { .. }
                    | Wait::Other { .. }
                    | Wait::Wake { .. }
            )
        };
        self.waits().any(is_event)
    }

    /// Adds a wait that began at the `.await` in `line`.
    pub(crate) fn add_wait(&mut self, wait: Wait, line: Option<Line>) {
        let is_first = self.wait.is_none();
        if is_first {
            self.wait = Some(wait);
        } else {
            self.more_waits.push(wait);
        }
        match &mut self.origin {
            Some(origin) if is_first => origin.line = line,
            Some(origin) => origin.more_lines.push(line),
            None => {}
        }
    }

    /// Sets the call chain of the wait that was added last.
    pub(crate) fn set_chain(&mut self, chain: Option<CallChain>) {
        let count = self.waits().count();
        if let Some(origin) = &mut self.origin {
            origin.chains.resize(count, None);
            origin.chains[count - 1] = chain;
        }
    }

    pub(crate) fn clear_waits(&mut self) {
        self.wait = None;
        self.more_waits = Vec::new();
        if let Some(origin) = &mut self.origin {
            origin.line = None;
            origin.more_lines.clear();
            origin.chains.clear();
        }
    }

    /// Writes the state, and each wait by `write_wait`.
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
