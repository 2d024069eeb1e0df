//! A small language of programs.

use std::fmt;

use framestep::Phase;

/// What a host does, and the scripts that it and they may begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) scripts: Vec<Script>,
    pub(super) steps: Vec<Step>,
    /// Whether frames of any length count in full.
    pub(super) unlimited: bool,
}

/// A coroutine. It begins only scripts that come after it, so that there is an
/// end.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// How often the body is gone through.
    pub(super) turns: usize,
    pub(super) body: Vec<Op>,
    /// What its destructor does.
    pub(super) on_drop: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Act(Act),
    Await(Wait),
    /// Waits for all of them, looking at them in this order.
    All(Vec<Wait>),
    /// The same behind a wrapper that hands no waker on.
    Muffled(Vec<Wait>),
    /// Waits for the first of them; of several, the upper one.
    First(Vec<Wait>),
    Return,
}

/// What takes no time. Places in tables are taken modulo their length.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Begin {
        how: How,
        owner: Option<usize>,
        script: usize,
    },
    Stop(usize),
    StopSelf,
    Pause(usize),
    PauseSelf,
    Resume(usize),
    StopOnDrop(usize),
    DropHandle(usize),
    Flag(usize, bool),
    Ring(usize),
    Owner(OwnerAct),
    Clock(ClockAct),
    /// Borrows the lent state for the length of some acts.
    With(Vec<Act>),
    Panic,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum OwnerAct {
    /// Makes one, below another of the table or that of the coroutine.
    Make {
        below: Option<usize>,
        clock: Option<usize>,
    },
    Drop(usize),
    StopAll(usize),
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
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    NextFrame(Phase),
    Frames(u64, Phase),
    Seconds(Length, Phase),
    Realtime(Length, Phase),
    OnClock(usize, Length, Phase),
    /// Until a flag has a value.
    Until(usize, bool, Phase),
    /// While it has.
    While(usize, bool, Phase),
    InPhase(Phase),
    FixedUpdate,
    EndOfFrame,
    Join(usize),
    Finished(usize),
    Bell(usize),
    Yield,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Nanos(u64),
    Negative,
    Infinite,
    NotANumber,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Frame(Length),
    /// A fixed step, if one is due: maybe a phase of the host's own, then that
    /// of fixed updates.
    Fixed(Option<Phase>),
    /// One run of a phase, with or without state lent to it.
    Run(Phase, bool),
    /// Something done between runs.
    Outside(Act),
    /// The same inside of `Executor::enter`.
    Inside(Act),
    Remote(usize),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "unlimited: {}", self.unlimited)?;
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
