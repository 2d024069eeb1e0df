//! What a coroutine waits for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::coroutine::CoroutineId;
use crate::time::Phase;

/// One thing that a coroutine waits for, in a [`Snapshot`](crate::Snapshot).
///
/// Waits that are made of others show as those: an
/// [`interval`](crate::interval()) is a timer, [`animate`](crate::animate()) the
/// next frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// The next frame.
    Frame {
        /// In which it resumes.
        phase: Phase,
    },
    /// The next run of a phase, such as the next fixed step.
    Run {
        /// That phase.
        phase: Phase,
    },
    /// A condition, asked in every frame.
    Condition {
        /// In which it is asked.
        phase: Phase,
    },
    /// Several frames.
    FrameCount {
        /// In which it resumes.
        phase: Phase,
        /// How many frames have still to begin.
        left: u64,
    },
    /// Several fixed steps.
    StepCount {
        /// In which it resumes.
        phase: Phase,
        /// How many steps have still to begin.
        left: u64,
    },
    /// A time.
    Timer {
        /// In which it resumes.
        phase: Phase,
        /// What it counts on.
        clock: TimerClock,
        /// What that clock reads when it is due; for a coroutine that is paused,
        /// if it went on at once.
        deadline: Duration,
        /// How far the clock has still to go.
        left: Duration,
    },
    /// The end of another coroutine.
    Join {
        /// That coroutine.
        id: CoroutineId,
    },
    /// A [`Signal`](crate::Signal) that has a [name](crate::Signal::named).
    Signal {
        /// That name.
        name: Arc<str>,
        /// In which it resumes.
        phase: Phase,
    },
    /// A [`Watch`](crate::Watch) that has a [name](crate::Watch::named).
    Watch {
        /// That name.
        name: Arc<str>,
        /// In which it resumes.
        phase: Phase,
    },
    /// Somebody who has its waker: a channel, a [`Signal`](crate::Signal) without a
    /// name, a socket. Whether anybody still has it is not known; and a coroutine
    /// that has once given its waker away counts as waiting for it, besides what else
    /// it waits for, unless that is a named signal or watch.
    Wake {
        /// In which it resumes.
        phase: Phase,
    },
    /// Nothing that will ever come: it has no timer and no place in a phase, joins
    /// nobody, and nobody has its waker. A wait for infinity is such a one.
    Never,
}

/// What a timer counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimerClock {
    /// The game clock.
    Game,
    /// The game clock, as fixed steps read it.
    Fixed,
    /// The sum of all dt.
    Realtime,
    /// Another [`Clock`](crate::Clock). Clocks are numbered in the order in which
    /// they were made, from 1.
    Other(u32),
}

impl Wait {
    /// The phase in which it resumes; a join does in whichever the other ends.
    pub fn phase(&self) -> Option<Phase> {
        match *self {
            Wait::Frame { phase }
            | Wait::Run { phase }
            | Wait::Condition { phase }
            | Wait::FrameCount { phase, .. }
            | Wait::StepCount { phase, .. }
            | Wait::Timer { phase, .. }
            | Wait::Signal { phase, .. }
            | Wait::Watch { phase, .. }
            | Wait::Wake { phase } => Some(phase),
            Wait::Join { .. } | Wait::Never => None,
        }
    }

    /// The coroutine that it joins.
    pub fn joins(&self) -> Option<CoroutineId> {
        match *self {
            Wait::Join { id } => Some(id),
            _ => None,
        }
    }
}

impl fmt::Display for Wait {
    /// Leaves the phase out if that is [`Phase::Update`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Frame { .. } => f.write_str("the next frame")?,
            Wait::Run { phase } => return write!(f, "the next {phase}"),
            Wait::Condition { .. } => f.write_str("a condition")?,
            Wait::FrameCount { left: 1, .. } => f.write_str("1 frame")?,
            Wait::FrameCount { left, .. } => write!(f, "{left} frames")?,
            Wait::StepCount { left: 1, .. } => f.write_str("1 step")?,
            Wait::StepCount { left, .. } => write!(f, "{left} steps")?,
            Wait::Timer {
                clock,
                deadline,
                left,
                ..
            } => match clock {
                TimerClock::Game => write!(f, "{left:?}, until {deadline:?}")?,
                clock => write!(f, "{left:?}, until {deadline:?} of {clock}")?,
            },
            Wait::Join { id } => write!(f, "the end of {id}")?,
            Wait::Signal { name, .. } => write!(f, "signal {name}")?,
            Wait::Watch { name, .. } => write!(f, "watch {name}")?,
            Wait::Wake { .. } => f.write_str("a wake")?,
            Wait::Never => f.write_str("nothing, for ever")?,
        }
        match self.phase() {
            None | Some(Phase::Update) => Ok(()),
            Some(phase) => write!(f, ", in {phase}"),
        }
    }
}

impl fmt::Display for TimerClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimerClock::Game => f.pad("the game clock"),
            TimerClock::Fixed => f.pad("fixed time"),
            TimerClock::Realtime => f.pad("realtime"),
            TimerClock::Other(number) => f.pad(&format!("clock {number}")),
        }
    }
}
