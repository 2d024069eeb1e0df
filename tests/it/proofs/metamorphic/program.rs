//! A small language of programs.

use std::fmt;

use framestep::Phase;

pub(super) use crate::proofs::own::{Length, Own};

/// The unit of time, in nanoseconds. Clocks that are scaled by quarters, four deep,
/// divide it without a remainder.
pub(super) const UNIT: u64 = 1 << 27;

/// The steps of a host, and the scripts that the host and other scripts begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) settings: Settings,
    pub(super) scripts: Vec<Script>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is a fact of its own"
)]
pub(super) struct Settings {
    /// Frames of any length count in full.
    pub(super) unlimited: bool,
    /// All scripts are below one owner.
    pub(super) rooted: bool,
    /// Only the time decides what is due, not the number of frames or steps: the host
    /// may sleep.
    pub(super) sleepy: bool,
    /// Scripts await one thing at a time, and nothing pauses or stops them.
    pub(super) simple: bool,
    /// Scripts share waits.
    pub(super) shares: bool,
    /// Clocks move while scripts are paused: otherwise the host resumes all before each
    /// frame and each step.
    pub(super) long_pauses: bool,
}

/// A script. It begins only later ones, so that every program ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) turns: usize,
    pub(super) body: Vec<Op>,
    /// The acts of its destructor.
    pub(super) on_drop: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Act(Act),
    Wait(Wait),
    Return,
}

/// Acts that take no time. Indices into tables are taken modulo their length.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Begin(How, On, usize),
    Stop(usize),
    StopSelf,
    Pause(usize),
    Resume(usize),
    PauseSelf,
    ResumeSelf,
    DropHandle(usize),
    StopOnDrop(usize),
    Owner(OwnerAct),
    Clock(ClockAct),
    Flag(usize, bool),
    Emit(usize, u64),
    Set(usize, u64),
    /// Keeps the oldest promise.
    Answer,
    /// Returns a permit that the script holds.
    Release,
    /// Calls the wakers of everything that listens to a bell.
    Ring(usize),
    /// Borrows the lent state for some acts.
    With(Vec<Act>),
    Look(usize),
    Panic,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Start,
    Spawn,
    StartIn(Phase),
    SpawnIn(Phase),
}

/// The owner of a script that begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    /// That of the script that begins it.
    Here,
    Owner(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum OwnerAct {
    /// Below another one, on a clock.
    Make(Option<usize>, Option<usize>),
    Drop(usize),
    StopAll(usize),
    Pause(usize),
    Resume(usize),
    Hold(usize),
    Release,
    SetActive(usize, bool),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ClockAct {
    Child(usize),
    /// In quarters.
    Scale(usize, u8),
    Pause(usize),
    Resume(usize),
    Hold(usize),
    Slow(usize),
    Release,
}

/// The phase that a wait names, if it names one.
pub(super) type At = Option<Phase>;

#[derive(Clone, Debug)]
pub(super) enum Wait {
    /// One of the table.
    Own(Own),
    /// Until a clock reads a number of units.
    Point(usize, u64, At),
    Join(usize),
    Finished(usize),
    Signal(usize),
    SignalFor(usize, u64),
    /// So many events of a signal.
    Events(usize, usize),
    Changed(usize),
    Value(usize, u64),
    /// So many changes of a value.
    Changes(usize, usize),
    Permit(usize),
    /// For a promise that is made now.
    Promise,
    Bell(usize),
    Yield,
    /// The `yield_now` of another crate.
    ForeignYield,
    Checkpoint,
    Animate(Length, At),
    /// So many ticks.
    Interval(Length, usize, At),
    /// So many frames.
    FrameStream(usize, At),
    On(usize, Box<Wait>),
    Timeout(Length, At, Box<Wait>),
    /// The shared wait of that number. The first script that awaits it makes it.
    Shared(usize, Box<Wait>),
    Several(Mode, Vec<Wait>),
}

/// How several waits become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Select,
    Race,
    Join,
    JoinAll,
    /// `futures::future::select_all`.
    SelectAll,
    /// `futures::future::join_all`.
    TheirJoinAll,
    /// `FuturesUnordered`, to its end.
    Unordered,
    /// `FuturesUnordered`, for the first item.
    FirstOfUnordered,
}

/// A step of the host.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A whole frame.
    Frame(u64),
    Begin(u64),
    Run(Phase),
    /// At most so many fixed steps, each with so many runs.
    Fixed(usize, usize),
    Act(Act),
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
