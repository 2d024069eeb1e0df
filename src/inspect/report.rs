//! Problems that an executor survived, and that its host should know of.

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

/// A problem that did no harm, but should be looked into.
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
///         "frame 2: 750ms of the dt exceed max_delta; the game clock skips them",
///     ]
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Report {
    /// The dt of a frame, or the length of a fixed step, was NaN, negative or
    /// infinite.
    InvalidDelta {
        /// The frame that began with it, or in which the step began.
        frame: u64,
        /// The length that it counts as.
        counted_as: Duration,
    },
    /// A frame's dt was longer than the executor's `max_delta`.
    TimeDropped {
        /// The frame that began with it.
        frame: u64,
        /// How much of the dt the game clock skipped.
        dropped: Duration,
    },
    /// More fixed steps were due in a frame than `max_delta` allows.
    StepsDropped {
        /// The frame.
        frame: u64,
        /// How much fixed time passed without a step.
        dropped: Duration,
    },
    /// A coroutine was woken too often in one run of a phase. It continues in the
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
        /// How many times it was polled.
        polls: u32,
    },
    /// Coroutines kept starting, spawning, stopping or joining others without end in
    /// one run of a phase or in one stop, or closures of [`with_soon`](crate::with_soon) kept adding more. The
    /// rest continue in the next run, or with the next borrow. Starts that nest more
    /// than 100 deep are reported, too: they begin once an outer one waits.
    Runaway {
        /// The frame of the run.
        frame: u64,
        /// The phase that was run.
        phase: Phase,
    },
    /// A poll of a coroutine reached the limit that
    /// [`slow_poll`](crate::Builder::slow_poll) sets.
    SlowPoll {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The frame in which it was polled.
        frame: u64,
        /// The phase that was run. `None` if the host started the coroutine outside
        /// of a run.
        phase: Option<Phase>,
        /// How long the poll took, less the polls of coroutines that it started.
        took: Duration,
    },
    /// A coroutine or its destructor panicked, and no join returned the panic: the
    /// handle was dropped, before or afterwards. With
    /// [`propagate_panics`](crate::Builder::propagate_panics), the panic is passed
    /// on to the host instead.
    CoroutinePanicked {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The frame in which it panicked.
        frame: u64,
        /// The phase that was run. `None` if it panicked outside of a run.
        phase: Option<Phase>,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
    },
    /// A closure of [`with_soon`](crate::with_soon) panicked. The other closures
    /// were called. With [`propagate_panics`](crate::Builder::propagate_panics),
    /// the panic is passed on to the host instead.
    WithSoonPanicked {
        /// The type of the state that it borrowed.
        state: &'static str,
        /// Where `with_soon` was called.
        place: &'static Location<'static>,
        /// The frame in which the closure was called.
        frame: u64,
        /// The phase that was run. `None` if it was called outside of a run.
        phase: Option<Phase>,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
    },
    /// A callback of a [`Behaviour`](crate::Behaviour) or its destructor panicked.
    /// The behaviour is removed, and the scene continues.
    BehaviourPanicked {
        /// The type of the behaviour.
        behaviour: &'static str,
        /// The callback; `drop` is the destructor.
        callback: &'static str,
        /// The frame in which it was called.
        frame: u64,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
    },
}

impl Report {
    /// One bit for each kind, to note which kinds have been printed.
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
                 the game clock skips them"
            ),
            Report::StepsDropped { frame, dropped } => write!(
                f,
                "frame {frame}: fixed steps for {dropped:?} exceed what max_delta allows; \
                 fixed time skips them"
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
                 run because others kept waking it; it continues in the next run"
            ),
            Report::Runaway { frame, phase } => write!(
                f,
                "frame {frame}, {phase}: coroutines kept starting, spawning, stopping or joining one \
                 another; the rest continue later"
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
                    ": coroutine {id} ({name}) took {took:?} in one poll, which blocked the frame"
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
                     returns the panic",
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
                    ": the closure of `with_soon` at {place}, called with `{state}`, panicked: {}",
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
                "frame {frame}: `{callback}` of {behaviour} panicked: {}; the behaviour is \
                 removed from its scene",
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
    /// Ends the reports of an executor. If the host had a hook for them, later
    /// reports are not printed either.
    pub(crate) fn close(&self) {
        if self.hook.is_set() {
            self.printed.set(!0);
        }
        self.hook.close();
    }

    /// Sends a report to the hook, or prints it. Calls user code: nothing may be
    /// borrowed.
    #[cold]
    pub(crate) fn send(&self, report: &Report) {
        let heard = self.hook.call(report) || self.hook.is_set();
        if !heard && self.printed.get() & report.kind() == 0 {
            self.printed.set(self.printed.get() | report.kind());
            // A failure to print is ignored.
            drop(writeln!(
                io::stderr(),
                "framestep: {report} (printed once; `Executor::on_report` receives all reports)"
            ));
        }
    }
}
