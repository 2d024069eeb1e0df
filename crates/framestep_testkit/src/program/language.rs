//! The language: what scripts and hosts do.

use std::fmt;

use framestep::Phase;

use super::own::{Length, Own};

/// The unit of time, in nanoseconds. Clocks that are scaled by quarters, several deep, divide
/// it without a remainder.
pub const UNIT: u64 = 1 << 27;

/// The steps of the host, and the scripts that the host and scripts may begin.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub settings: Settings,
    pub scripts: Vec<Script>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub struct Settings {
    /// How many executors there are: one or two.
    pub executors: usize,
    /// Whether frames of any length count in full.
    pub unlimited: bool,
    /// The maximum number of coroutines that a program begins.
    pub most: usize,
    /// `max_polls_per_run`, if the program sets it.
    pub polls: Option<u32>,
    /// Waits move between coroutines, so that the order within a run is open.
    pub any_order: bool,
    /// Coroutines may await themselves, which panics.
    pub itself: bool,
    /// No two timers have the same length.
    pub apart: bool,
    /// The host ends a step before it runs any phase but the fixed one.
    pub ends_steps: bool,
    /// What the host begins is below one owner.
    pub rooted: bool,
    /// Only the time decides what is due, not the number of frames or steps: the host may
    /// sleep.
    pub sleepy: bool,
    /// Scripts await one thing at a time, and nothing pauses or stops them.
    pub simple: bool,
    /// Scripts share waits.
    pub shares: bool,
    /// Coroutines are paused.
    pub pauses: bool,
    /// Requests to stop have a time.
    pub requests: bool,
    /// Clocks move while scripts are paused: otherwise the host resumes all before each frame
    /// and each step.
    pub long_pauses: bool,
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
            rooted: false,
            sleepy: false,
            simple: false,
            shares: false,
            pauses: false,
            requests: false,
            long_pauses: true,
        }
    }
}

/// A coroutine. It begins only later scripts, so that every program ends.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// How often the body is repeated.
    pub turns: usize,
    pub body: Vec<Op>,
    /// The acts of its destructor.
    pub on_drop: Vec<Act>,
}

#[derive(Clone, Debug)]
pub enum Op {
    Act(Act),
    Await(Wait),
    /// Polls the wait once and leaves it to others, which find it with `Wait::Loose`.
    Leave(Wait),
    Return,
}

/// Acts that take no time. Indices into tables are taken modulo their length.
#[derive(Clone, Debug)]
pub enum Act {
    /// Begins a script.
    Begin(How, On, usize),
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
    /// Sets a watched value.
    Set(usize, u64),
    /// Keeps the oldest promise.
    KeepPromise,
    AddPermits(usize, usize),
    SetPermits(usize, usize),
    /// Returns the permits that the coroutine has taken last.
    ReturnPermits,
    /// Moves the deadline of the timer in this place.
    Reset(usize, Length),
    /// Logs whether the coroutine has been asked to stop.
    IsStopRequested,
    Owner(OwnerAct),
    Clock(ClockAct),
    /// Borrows the lent state for the length of some acts.
    With(Vec<Act>),
    /// Logs the visible state of a coroutine and of a clock.
    Look(usize),
    /// Drives an executor from inside a coroutine: another one, or its own, which refuses.
    Drive(usize, Drive),
    Panic,
}

/// The target on which a coroutine is begun.
#[derive(Clone, Copy, Debug)]
pub enum On {
    /// With the free functions where they work, else on the executor.
    Here,
    Owner(usize),
    OtherExecutor,
}

#[derive(Clone, Copy, Debug)]
pub enum To {
    All,
    One,
}

#[derive(Clone, Copy, Debug)]
pub enum OwnerAct {
    /// Makes an owner, below another of the table or that of the coroutine, and perhaps on a
    /// clock.
    Make(Option<usize>, Option<usize>),
    Drop(usize),
    StopAll(usize),
    RequestStop(usize),
    StopWithin(usize, Length),
    Pause(usize),
    Resume(usize),
    /// Takes a guard that pauses it.
    Hold(usize),
    /// Drops the latest such guard.
    Release,
    SetActive(usize, bool),
}

#[derive(Clone, Copy, Debug)]
pub enum ClockAct {
    Child(usize),
    /// In quarters of its parent's speed.
    Scale(usize, u8),
    Pause(usize),
    Resume(usize),
    /// Takes a guard that holds it.
    Hold(usize),
    /// Takes a guard that halves its speed.
    Slow(usize),
    /// Drops the latest such guard.
    Release,
}

#[derive(Clone, Copy, Debug)]
pub enum How {
    Start,
    Spawn,
    SpawnIn(Phase),
    StartIn(Phase),
}

/// The phase that a wait names, if it names one.
pub type At = Option<Phase>;

#[derive(Clone, Debug)]
pub enum Wait {
    /// One of the table.
    Own(Own),
    /// Until a clock reads a number of units.
    Point(usize, u64, At),
    Join(usize),
    Finished(usize),
    /// For the end of the coroutines of an owner.
    Ended(usize),
    /// The same, with a request to stop.
    StopWithin(usize, Length),
    StopRequested,
    Bell(usize),
    Event(usize, Hear),
    /// For a change of a watched value.
    Changed(usize),
    /// Until a watched value is at least this.
    AtLeast(usize, u64),
    /// For so many changes.
    Changes(usize, usize),
    /// For a promise that is made now.
    Promise,
    /// For so many permits, which the coroutine keeps.
    Permits(usize, usize),
    /// On the coroutine's clock, in a place where acts find it.
    Timer(usize, Length, At),
    Yield,
    /// The `yield_now` of another crate.
    ForeignYield,
    Checkpoint,
    Animate(Length, At),
    /// So many ticks.
    Interval(Length, usize, At),
    /// So many items of a stream of frames.
    Frames(usize, At),
    OnClock(usize, Box<Wait>),
    Timeout(Length, At, Box<Wait>),
    /// A wait that another coroutine has left.
    Loose,
    /// The shared wait of that number. The first coroutine that awaits it makes it.
    Shared(usize, Box<Wait>),
    Group(Mode, Vec<Wait>),
}

/// Which events of a signal.
#[derive(Clone, Copy, Debug)]
pub enum Hear {
    Next,
    /// The next whose number has this remainder by three.
    This(u64),
    /// So many, by a subscription.
    Many(usize),
}

/// How several waits become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Polls all pending ones, in order, until none is left.
    All,
    /// The same behind a wrapper that passes on no waker.
    Muffled,
    /// The first that is ready; of several, the first in order.
    First,
    /// `FuturesUnordered`, one item after another.
    Unordered,
    /// The same, for the first item.
    FirstUnordered,
    /// `Unordered` behind a wrapper that passes on no waker.
    MuffledUnordered,
    /// `futures::future::join_all`: another one from 31 waits on.
    TheirJoinAll,
    /// `futures::future::select_all`, until none is left.
    TheirSelectAll,
    /// `framestep::combine::join_all`.
    JoinAll,
    /// `framestep::combine::race`.
    Race,
    /// `framestep::join!`, two by two.
    Join,
    /// `framestep::select!`, one within the other.
    Select,
}

/// A step of the host, with the number of the executor.
#[derive(Clone, Debug)]
pub enum Step {
    Drive(usize, Drive),
    /// Something done between runs.
    Outside(usize, Act),
    /// The same inside `Executor::enter`.
    Inside(usize, Act),
    /// Spawns a script through a remote handle.
    Remote(usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Drive {
    /// Begins a frame.
    Begin(Length),
    /// A whole frame, with state lent to it.
    Frame(Length),
    /// So many fixed steps, if they are due. Each has perhaps a run of a custom phase, then so
    /// many runs of the fixed phase.
    Fixed {
        steps: usize,
        custom: Option<Phase>,
        runs: usize,
    },
    /// One run of a phase, with or without state lent to it.
    Run(Phase, bool),
}

impl Wait {
    /// Whether this holds for it or for a wait that it is made of.
    pub fn has(&self, is: fn(&Wait) -> bool) -> bool {
        is(self) || self.inner().iter().any(|inner| inner.has(is))
    }

    /// Whether it panics, if an owner is that of its coroutine, or a length is none.
    pub(super) fn may_panic(&self) -> bool {
        match self {
            Wait::Own(own) => own.length == Length::NotANumber,
            Wait::Ended(_) | Wait::StopWithin(..) => true,
            _ => false,
        }
    }

    /// Whether it passes on no waker to its parts.
    pub fn is_muffled(&self) -> bool {
        matches!(self, Wait::Group(Mode::Muffled | Mode::MuffledUnordered, _))
    }

    /// The waits that it is made of.
    pub fn inner(&self) -> &[Wait] {
        match self {
            Wait::OnClock(_, inner) | Wait::Timeout(_, _, inner) | Wait::Shared(_, inner) => {
                std::slice::from_ref(inner)
            }
            Wait::Group(_, inner) => inner,
            _ => &[],
        }
    }

    /// The same around another wait, in place of the one at this index.
    pub(super) fn around(&self, at: usize, part: Wait) -> Wait {
        let mut all = self.clone();
        match &mut all {
            Wait::OnClock(_, inner) | Wait::Timeout(_, _, inner) | Wait::Shared(_, inner) => {
                **inner = part;
            }
            Wait::Group(_, inner) => inner[at] = part,
            _ => {}
        }
        all
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.settings)?;
        for (at, script) in self.scripts.iter().enumerate() {
            writeln!(f, "script {at}, {} times", script.turns)?;
            for op in &script.body {
                match op {
                    Op::Act(act) => writeln!(f, "    {act:?};")?,
                    Op::Await(wait) => writeln!(f, "    {wait:?}.await;")?,
                    Op::Leave(wait) => writeln!(f, "    leave {wait:?};")?,
                    Op::Return => writeln!(f, "    return;")?,
                }
            }
            for act in &script.on_drop {
                writeln!(f, "    when dropped: {act:?};")?;
            }
        }
        for step in &self.steps {
            match step {
                Step::Drive(of, drive) => writeln!(f, "host {of}: {drive:?}")?,
                Step::Outside(of, act) => writeln!(f, "host {of}: {act:?}")?,
                Step::Inside(of, act) => writeln!(f, "host {of}, inside: {act:?}")?,
                Step::Remote(of, script) => writeln!(f, "host {of}, remote: spawn {script}")?,
            }
        }
        Ok(())
    }
}
