//! What a coroutine waits for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::task::coroutine::CoroutineId;
use crate::time::{ClockIndex, Phase};

use super::source::Source;

/// One thing that a coroutine waits for, in a [`Snapshot`](crate::inspect::Snapshot).
///
/// A wait that is built on others is shown as those: an
/// [`interval`](crate::interval()) as a timer, [`animate`](crate::wait::animate()) as the
/// next frame and the timer of its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// The next frame.
    Frame {
        /// The phase it resumes in.
        phase: Phase,
    },
    /// The next run of a phase, such as the next fixed step.
    Run {
        /// The phase.
        phase: Phase,
    },
    /// A condition, checked in each run of the phase.
    Condition {
        /// The phase it is checked in.
        phase: Phase,
    },
    /// Several frames.
    FrameCount {
        /// The phase it resumes in.
        phase: Phase,
        /// How many frames have yet to begin.
        left: u64,
    },
    /// Several fixed steps.
    StepCount {
        /// The phase it resumes in.
        phase: Phase,
        /// How many steps have yet to begin.
        left: u64,
    },
    /// A deadline on a clock.
    Timer {
        /// The phase it resumes in.
        phase: Phase,
        /// The clock it counts on.
        clock: TimerClock,
        /// The clock reading when it is due; for a paused coroutine, as if it were
        /// resumed now.
        deadline: Duration,
        /// How far the clock has yet to advance.
        left: Duration,
    },
    /// The end of another coroutine.
    Join {
        /// The other coroutine.
        id: CoroutineId,
    },
    /// The [end](crate::Owner::ended) of all coroutines of an owner.
    Scripts {
        /// The name of the owner, or its number.
        owner: Arc<str>,
    },
    /// A [`Signal`](crate::sync::Signal) that has a [name](crate::sync::Signal::named).
    Signal {
        /// Its name.
        name: Arc<str>,
        /// Which one of that name it is.
        source: Source,
        /// The phase it resumes in.
        phase: Phase,
    },
    /// A [`Watch`](crate::sync::Watch) that has a [name](crate::sync::Watch::named).
    Watch {
        /// Its name.
        name: Arc<str>,
        /// Which one of that name it is.
        source: Source,
        /// The phase it resumes in.
        phase: Phase,
    },
    /// A permit of a [`Semaphore`](crate::sync::Semaphore) that has a
    /// [name](crate::sync::Semaphore::named).
    Permit {
        /// Its name.
        name: Arc<str>,
        /// Which one of that name it is.
        source: Source,
        /// The phase it resumes in.
        phase: Phase,
    },
    /// An answer from the host to a question of a durable script.
    Answer {
        /// The name of the question.
        name: Arc<str>,
        /// The phase it resumes in.
        phase: Phase,
    },
    /// Something of another crate, which says what it is by a
    /// [`WaitNote`](crate::inspect::WaitNote).
    Other {
        /// What, as the note says it: "a change of Health".
        what: Arc<str>,
        /// The phase it resumes in.
        phase: Phase,
    },
    /// A [request to stop](crate::Owner::request_stop).
    StopRequest {
        /// The phase it resumes in.
        phase: Phase,
    },
    /// A call of its waker: by a channel, a [`Signal`](crate::sync::Signal) without a
    /// name, a socket. Shown as long as somebody has the waker; once somebody on another
    /// thread has had one, for as long as the coroutine exists.
    Wake {
        /// The phase it resumes in.
        phase: Phase,
    },
    /// Nothing. It has no timer, waits for no phase, joins no coroutine, and nobody has its
    /// waker. A wait of infinite length is shown like this.
    Never,
}

/// The clock that a timer counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimerClock {
    /// The game clock.
    Game,
    /// The game clock, as fixed steps read it.
    Fixed,
    /// The sum of all dt.
    Realtime,
    /// Another [`Clock`](crate::time::Clock). Clocks are numbered from 1, by creation.
    Other(u32),
}

impl Wait {
    /// The phase it resumes in. `None` for a join, and for the end of the scripts of an
    /// owner: it resumes in the phase in which the last of them ends.
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
            | Wait::Permit { phase, .. }
            | Wait::Answer { phase, .. }
            | Wait::Other { phase, .. }
            | Wait::StopRequest { phase }
            | Wait::Wake { phase } => Some(phase),
            Wait::Join { .. } | Wait::Scripts { .. } | Wait::Never => None,
        }
    }

    /// The signal, the watch or the semaphore that it waits for, if it has a name.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Wait::Signal { source, .. }
            | Wait::Watch { source, .. }
            | Wait::Permit { source, .. } => Some(source),
            _ => None,
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
    /// Leaves out the phase if it is [`Phase::Update`].
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
            Wait::Scripts { owner } => write!(f, "the end of the scripts of {owner}")?,
            Wait::Signal { name, .. } => write!(f, "signal {name}")?,
            Wait::Watch { name, .. } => write!(f, "watch {name}")?,
            Wait::Permit { name, .. } => write!(f, "a permit of {name}")?,
            Wait::Answer { name, .. } => write!(f, "an answer to {name}")?,
            Wait::Other { what, .. } => f.write_str(what)?,
            Wait::StopRequest { .. } => f.write_str("a request to stop")?,
            Wait::Wake { .. } => f.write_str("a wake")?,
            Wait::Never => f.write_str("nothing (never resumes)")?,
        }
        match self.phase() {
            None | Some(Phase::Update) => Ok(()),
            Some(phase) => write!(f, ", in {phase}"),
        }
    }
}

impl TimerClock {
    pub(crate) fn of(index: ClockIndex) -> Self {
        match index {
            ClockIndex::GAME => TimerClock::Game,
            ClockIndex::FIXED => TimerClock::Fixed,
            ClockIndex::REALTIME => TimerClock::Realtime,
            other => TimerClock::Other(other.number()),
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
