//! A small language of programs.

use std::fmt;

use framestep::Phase;

pub(super) use framestep_testkit::own::{Length, Own, rows};

/// The steps of the host, and the scripts that the host and scripts may begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) settings: Settings,
    pub(super) scripts: Vec<Script>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(super) struct Settings {
    /// How many executors there are: one or two.
    pub(super) executors: usize,
    /// Whether frames of any length count in full.
    pub(super) unlimited: bool,
    /// The maximum number of coroutines that a program begins.
    pub(super) most: usize,
    /// `max_polls_per_run`, if the program sets it.
    pub(super) polls: Option<u32>,
    /// Waits move between coroutines, so that the order within a run is open.
    pub(super) any_order: bool,
    /// Coroutines may await themselves, which panics.
    pub(super) itself: bool,
    /// No two timers have the same length.
    pub(super) apart: bool,
    /// The host ends a step before it runs any phase but the fixed one.
    pub(super) ends_steps: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            executors: 1,
            unlimited: true,
            most: 30,
            polls: None,
            any_order: false,
            itself: false,
            apart: false,
            ends_steps: true,
        }
    }
}

/// A coroutine. It begins only later scripts, so that every program ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// How often the body is repeated.
    pub(super) turns: usize,
    pub(super) body: Vec<Op>,
    /// The acts of its destructor.
    pub(super) on_drop: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Act(Act),
    Await(Wait),
    /// Polls the wait once and leaves it to others, which find it with
    /// `Wait::Loose`.
    Leave(Wait),
    Return,
}

/// Acts that take no time. Indices into tables are taken modulo their length.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Begin {
        how: How,
        on: On,
        script: usize,
    },
    /// Spawns one script so many times.
    Crowd(usize, usize),
    Stop(usize),
    /// Stops the coroutine that was begun right after this one.
    StopNext,
    StopSelf,
    Pause(usize),
    PauseSelf,
    Resume(usize),
    ResumeSelf,
    StopOnDrop(usize),
    DropHandle(usize),
    Flag(usize, bool),
    Ring(usize),
    /// Rings on another thread, and waits for that thread.
    RingElsewhere(usize),
    /// Emits an event, to all or to one.
    Emit(usize, To),
    Semaphore(usize, PermitsAct),
    /// Returns the permit that the coroutine has taken last.
    Release,
    /// Moves the deadline of the timer in this place.
    Reset(usize, Length),
    /// Logs whether the coroutine has been requested to stop.
    ReadAsk,
    Owner(OwnerAct),
    Clock(ClockAct),
    /// Borrows the lent state for the length of some acts.
    With(Vec<Act>),
    /// Logs the visible state of a coroutine and of a clock.
    Look(usize),
    /// Drives an executor from inside a coroutine: another one, or its own,
    /// which refuses.
    Drive(usize, Drive),
    Panic,
}

/// The target on which a coroutine is begun.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    /// With the free functions where they work, else on the executor.
    Here,
    Owner(usize),
    /// On the other executor.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    All,
    One,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PermitsAct {
    Add(usize),
    SetCount(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum OwnerAct {
    /// Makes an owner, below another of the table or that of the coroutine.
    Make {
        below: Option<usize>,
        clock: Option<usize>,
    },
    Drop(usize),
    StopAll(usize),
    Ask(usize),
    Pause(usize),
    Resume(usize),
    SetActive(usize, bool),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ClockAct {
    Child(usize),
    /// In quarters of its parent's speed.
    Scale(usize, u8),
    Pause(usize),
    Resume(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Start,
    Spawn,
    SpawnIn(Phase),
    StartIn(Phase),
}

/// The phase that a wait names, if it names one.
pub(super) type At = Option<Phase>;

#[derive(Clone, Debug)]
pub(super) enum Wait {
    /// One of the table.
    Own(Own),
    Join(usize),
    Finished(usize),
    /// For the end of the coroutines of an owner.
    Ended(usize),
    /// For a request to stop.
    Asked,
    Bell(usize),
    Event(usize),
    /// For so many permits, which the coroutine keeps.
    Semaphore(usize, usize),
    /// On the coroutine's clock, in a place where acts find it.
    Timer(usize, Length, At),
    Yield,
    Animate(Length, At),
    /// So many ticks.
    Interval(Length, usize, At),
    Timeout(Length, At, Box<Wait>),
    /// A wait that another coroutine has left.
    Loose,
    /// The shared wait of that number. The first coroutine that awaits it makes
    /// it.
    Shared(usize, Box<Wait>),
    Group(Mode, Vec<Wait>),
}

/// How several waits become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Polls all pending ones, in order, until none is left.
    All,
    /// The same behind a wrapper that passes on no waker.
    Muffled,
    /// The first that is ready; of several, the first in order.
    First,
    /// `FuturesUnordered`, one item after another.
    Unordered,
    /// The same behind a wrapper that passes on no waker.
    MuffledUnordered,
    /// `futures::future::join_all`: another one from 31 waits on.
    JoinAll,
    /// `futures::future::select_all`, until none is left.
    SelectAll,
    /// `framestep::combine::join_all`.
    OwnJoinAll,
    /// `framestep::combine::race`.
    OwnRace,
    /// `framestep::join!`, two by two.
    OwnJoin,
    /// `framestep::select!`, one within the other.
    OwnSelect,
}

/// A step of the host, with the number of the executor.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Drive(usize, Drive),
    /// Something done between runs.
    Outside(usize, Act),
    /// The same inside `Executor::enter`.
    Inside(usize, Act),
    RemoteHandle(usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Drive {
    Frame(Length),
    /// So many fixed steps, if they are due. Each has perhaps a run of a custom
    /// phase, then so many runs of the fixed phase.
    Fixed {
        steps: usize,
        custom: Option<Phase>,
        runs: usize,
    },
    /// One run of a phase, with or without state lent to it.
    Run(Phase, bool),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.settings)?;
        for (at, script) in self.scripts.iter().enumerate() {
            writeln!(f, "script {at}, {} times", script.turns)?;
            for op in &script.body {
                writeln!(f, "  {op:?}")?;
            }
            for act in &script.on_drop {
                writeln!(f, "  when dropped: {act:?}")?;
            }
        }
        for step in &self.steps {
            writeln!(f, "host: {step:?}")?;
        }
        Ok(())
    }
}
