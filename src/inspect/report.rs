//! What an executor survived and its host should know of.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::io::{self, Write as _};
use std::panic::Location;
use std::time::Duration;

use crate::coroutine::CoroutineId;
use crate::time::Phase;

use super::hook::Hook;

/// Something that went on without harm, but should be looked into.
///
/// Reports go to the hook set with
/// [`Executor::on_report`](crate::Executor::on_report). Without one, and once the
/// executor is dropped, the first report of each kind is printed to standard
/// error.
///
/// # Examples
///
/// ```
/// use std::{cell::RefCell, rc::Rc};
/// use framestep::prelude::*;
///
/// let mut executor = Executor::builder().max_delta(0.25).build();
/// let heard = Rc::new(RefCell::new(Vec::new()));
/// let log = heard.clone();
/// executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
///
/// executor.run_frame(f32::NAN);
/// executor.run_frame(1.0);
/// assert_eq!(
///     *heard.borrow(),
///     [
///         "frame 1: the dt is not a length of time (NaN, negative or infinite); \
///          it counts as 0ns",
///         "frame 2: 750ms of the dt exceed max_delta; the game clock does without them",
///     ]
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Report {
    /// A frame's dt was NaN, negative or infinite.
    InvalidDelta {
        /// The frame that began with it.
        frame: u64,
        /// What it counts as.
        counted_as: Duration,
    },
    /// A frame's dt was longer than the executor's `max_delta`.
    TimeDropped {
        /// The frame that began with it.
        frame: u64,
        /// What the game clock did not go forward by.
        dropped: Duration,
    },
    /// More fixed steps were due in a frame than `max_delta` has room for.
    StepsDropped {
        /// The frame.
        frame: u64,
        /// How much fixed time went by without a step.
        dropped: Duration,
    },
    /// A coroutine was woken too often in one run of a phase. It goes on in the
    /// next run.
    Greedy {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The frame of the run.
        frame: u64,
        /// The phase that was run.
        phase: Phase,
        /// How many polls it got.
        polls: u32,
    },
    /// Coroutines kept spawning or ending one another without end in one run of
    /// a phase, or closures of [`with_soon`](crate::with_soon) kept adding more.
    /// Those left over go on in the next run, or with the next borrow.
    Runaway {
        /// The frame of the run.
        frame: u64,
        /// The phase that was run.
        phase: Phase,
    },
    /// A poll of a coroutine took as long as
    /// [`slow_poll`](crate::Builder::slow_poll) allows, or longer.
    SlowPoll {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The frame in which it was polled.
        frame: u64,
        /// The phase that was run; `None` if the host started it outside of a
        /// run.
        phase: Option<Phase>,
        /// How long the poll took, less what coroutines took that it started.
        took: Duration,
    },
    /// A coroutine panicked, or its destructor, and no join returned that: its
    /// handle was dropped, before or afterwards. With
    /// [`propagate_panics`](crate::Builder::propagate_panics), the host gets the
    /// panic instead.
    CoroutinePanicked {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The frame in which it panicked.
        frame: u64,
        /// The phase that was run; `None` if it panicked outside of a run.
        phase: Option<Phase>,
        /// What the panic said, if it was raised with a text.
        message: Option<String>,
    },
    /// A closure of [`with_soon`](crate::with_soon) panicked. The others were called.
    /// With [`propagate_panics`](crate::Builder::propagate_panics), the host gets the
    /// panic instead.
    WithSoonPanicked {
        /// The type of the state that it borrowed.
        state: &'static str,
        /// Where `with_soon` was called.
        place: &'static Location<'static>,
        /// The frame in which the closure was called.
        frame: u64,
        /// The phase that was run; `None` if it was called outside of a run.
        phase: Option<Phase>,
        /// What the panic said, if it was raised with a text.
        message: Option<String>,
    },
    /// A callback of a [`Behaviour`](crate::Behaviour) panicked, or its
    /// destructor. The behaviour is removed; the scene goes on.
    BehaviourPanicked {
        /// The type of the behaviour.
        behaviour: &'static str,
        /// Which of its callbacks; `drop` is the destructor.
        callback: &'static str,
        /// The frame in which it was called.
        frame: u64,
        /// What the panic said, if it was raised with a text.
        message: Option<String>,
    },
}

impl Report {
    /// One bit for each kind, to tell which have been printed.
    fn kind(&self) -> u16 {
        match self {
            Report::InvalidDelta { .. } => 1,
            Report::TimeDropped { .. } => 1 << 1,
            Report::Greedy { .. } => 1 << 2,
            Report::Runaway { .. } => 1 << 3,
            Report::BehaviourPanicked { .. } => 1 << 4,
            Report::SlowPoll { .. } => 1 << 5,
            Report::StepsDropped { .. } => 1 << 6,
            Report::CoroutinePanicked { .. } => 1 << 7,
            Report::WithSoonPanicked { .. } => 1 << 8,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::InvalidDelta { frame, counted_as } => write!(
                f,
                "frame {frame}: the dt is not a length of time (NaN, negative or infinite); \
                 it counts as {counted_as:?}"
            ),
            Report::TimeDropped { frame, dropped } => write!(
                f,
                "frame {frame}: {dropped:?} of the dt exceed max_delta; \
                 the game clock does without them"
            ),
            Report::StepsDropped { frame, dropped } => write!(
                f,
                "frame {frame}: fixed steps for {dropped:?} exceed what max_delta has room for; \
                 fixed time goes past them"
            ),
            Report::Greedy {
                id,
                name,
                frame,
                phase,
                polls,
            } => write!(
                f,
                "frame {frame}, {phase}: coroutine {id} ({name}) was polled {polls} times in one \
                 run because others kept waking it; it goes on in the next run"
            ),
            Report::Runaway { frame, phase } => write!(
                f,
                "frame {frame}, {phase}: coroutines kept spawning or joining one another; \
                 the rest goes on in the next run"
            ),
            Report::SlowPoll {
                id,
                name,
                frame,
                phase,
                took,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(
                    f,
                    ": coroutine {id} ({name}) took {took:?} in one poll, which held everything up"
                )
            }
            Report::CoroutinePanicked {
                id,
                name,
                frame,
                phase,
                message,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(
                    f,
                    ": coroutine {id} ({name}) panicked: {}; its handle was dropped, so no join \
                     returns that",
                    text_or_none(message.as_deref())
                )
            }
            Report::WithSoonPanicked {
                state,
                place,
                frame,
                phase,
                message,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(
                    f,
                    ": the closure that got `{state}` of the `with_soon` at {place} panicked: {}",
                    text_or_none(message.as_deref())
                )
            }
            Report::BehaviourPanicked {
                behaviour,
                callback,
                frame,
                message,
            } => write!(
                f,
                "frame {frame}: `{callback}` of {behaviour} panicked: {}; it is removed from its \
                 scene",
                text_or_none(message.as_deref())
            ),
        }
    }
}

fn write_moment(f: &mut fmt::Formatter<'_>, frame: u64, phase: Option<Phase>) -> fmt::Result {
    write!(f, "frame {frame}")?;
    match phase {
        Some(phase) => write!(f, ", {phase}"),
        None => Ok(()),
    }
}

fn text_or_none(message: Option<&str>) -> &str {
    message.unwrap_or("(no text)")
}

/// Where an executor's reports go.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    pub(crate) hook: Hook<Report>,
    /// The kinds that have been printed.
    printed: Cell<u16>,
}

impl Reports {
    /// The executor is gone. What is reported from now on is not printed either, if
    /// the host had a hook for it.
    pub(crate) fn close(&self) {
        if self.hook.is_set() {
            self.printed.set(!0);
        }
        self.hook.close();
    }

    /// Calls user code: nothing may be borrowed.
    #[cold]
    pub(crate) fn send(&self, report: &Report) {
        let heard = self.hook.call(report) || self.hook.is_set();
        if !heard && self.printed.get() & report.kind() == 0 {
            self.printed.set(self.printed.get() | report.kind());
            // Where nothing can be printed, nothing happens.
            drop(writeln!(
                io::stderr(),
                "framestep: {report} (printed once; hear all with `Executor::on_report`)"
            ));
        }
    }
}
