//! Problems that an executor survived, and that its host should know of.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crate::task::coroutine::CoroutineId;
use crate::time::Phase;

/// A problem that did no harm, but should be investigated.
///
/// Reports go to the hook set with
/// [`Executor::on_report`](crate::Executor::on_report). Without one, and once the
/// executor is dropped, reports are printed to standard error: the first of each
/// kind for each script, by its name and place. An executor prints at most 20
/// reports. The last line says so.
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
        /// The frame that began with it, or the frame of the step.
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
    /// A coroutine was woken, or [yielded](crate::wait::yield_now), too often in one run of a
    /// phase. It continues in the next run.
    PollLimitReached {
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
    /// In one run or one stop, coroutines kept starting, spawning, stopping or joining
    /// others without end, or closures of [`with_deferred`](crate::lend::with_deferred) kept adding
    /// more. The rest continue in the next run, or with the next borrow. Starts that
    /// nest more than 100 deep are also reported: they begin once an outer one waits, or
    /// in the next run.
    Runaway {
        /// The coroutine that reached the limit: the one that was being polled, or else
        /// one that continues in the next run. Usually it is one of those that never
        /// stop. `None` if a call by the host reached it.
        id: Option<CoroutineId>,
        /// Its name.
        name: Option<Cow<'static, str>>,
        /// The frame of the run.
        frame: u64,
        /// The phase that was run. `None` outside a run.
        phase: Option<Phase>,
        /// How many of these one run may have, beside one for each coroutine that is alive: a
        /// hundred times [`max_polls_per_run`](crate::Builder::max_polls_per_run). `None` if starts
        /// nest more than 100 deep, which no setting moves.
        polls: Option<u64>,
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
        /// How long the poll took, without the polls of coroutines that it started.
        took: Duration,
        /// The line of the `.await` from which the coroutine continued. `None` in its
        /// first poll, and if the wait is that of another crate.
        from: Option<&'static Location<'static>>,
        /// The line of the `.await` at which it waits now. `None` if it has ended, and
        /// if the wait is that of another crate.
        to: Option<&'static Location<'static>>,
    },
    /// A coroutine or its destructor panicked, and no join returned the panic: the
    /// handle was dropped, before or afterwards. Or the destructor of an output that
    /// nothing had read panicked. With
    /// [`propagate_panics`](crate::Builder::propagate_panics) and
    /// [`strict`](crate::Builder::strict), the first such panic is passed on to the
    /// host instead.
    CoroutinePanicked {
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The [name](crate::Owner::named) of its owner, if that or an owner above it has one.
        owner: Option<String>,
        /// The frame in which it panicked.
        frame: u64,
        /// The phase that was run. `None` if it panicked outside a run.
        phase: Option<Phase>,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
        /// The line of the `.await` from which the coroutine had continued, if it is
        /// observed ([`inspect`](crate::Builder::inspect), a trace).
        from: Option<&'static Location<'static>>,
    },
    /// A hook of the host panicked. The executor continues, and calls the hook again
    /// for the next event. With
    /// [`propagate_panics`](crate::Builder::propagate_panics) and
    /// [`strict`](crate::Builder::strict), the panic is passed on to the host instead.
    ///
    /// A panic of the hook for reports is printed: that hook does not receive it.
    HookPanicked {
        /// The function that set the hook: `on_unobserved`, `on_trace`, `on_report` or
        /// `stopwatch`.
        hook: &'static str,
        /// The frame in which the hook was called.
        frame: u64,
        /// The phase that was run. `None` if it was called outside a run.
        phase: Option<Phase>,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
    },
    /// A coroutine was started or spawned where it cannot run. Its future was dropped,
    /// and its handle is that of a stopped coroutine.
    ///
    /// If the executor is gone, the report goes to the executor that runs the
    /// caller. If there is none, it is printed.
    Refused {
        /// The name of the coroutine.
        name: Cow<'static, str>,
        /// Where it was started or spawned.
        place: &'static Location<'static>,
        /// Why it was refused.
        reason: SpawnError,
    },
    /// The time of a request to stop was over, and none of the scripts had read it.
    StopIgnored {
        /// The name of the owner, or its number.
        owner: String,
        /// Where [`stop_within`](crate::Owner::stop_within) was called.
        place: &'static Location<'static>,
        /// How many scripts were stopped.
        scripts: usize,
    },
    /// The host has not run a phase for many frames, although coroutines wait for it. Nothing
    /// else can resume them. Until the phase is run, these waits do not keep a
    /// [sleeping host](crate::Executor::idle_until) awake.
    ///
    /// [`Builder::skipped_phase`](crate::Builder::skipped_phase) sets the number of frames, and
    /// says which phases count.
    PhaseSkipped {
        /// The phase.
        phase: Phase,
        /// The frame.
        frame: u64,
        /// For how many frames it has not been run.
        frames: u64,
        /// How many coroutines wait for it, or are ready to run in it. Those that are paused
        /// do not count.
        waiting: usize,
        /// One of them.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// The line of its `.await`. `None` if it is not observed
        /// ([`inspect`](crate::Builder::inspect), a trace), or has not begun.
        at: Option<&'static Location<'static>>,
    },
    /// A coroutine was granted a permit, or an event by
    /// [`Signal::emit_one`](crate::sync::Signal::emit_one), and has not taken it for many frames: it
    /// has kept the wait, and polls something else. No other coroutine gets what it was granted
    /// until the wait is polled or dropped.
    ///
    /// [`Builder::untaken_grant`](crate::Builder::untaken_grant) sets the number of frames.
    GrantUntaken {
        /// What it was granted: "a permit of `attack tokens`".
        what: String,
        /// The frame.
        frame: u64,
        /// How many frames ago.
        frames: u64,
        /// The coroutine.
        id: CoroutineId,
        /// Its name.
        name: Cow<'static, str>,
        /// Where it last polled the wait: the line of the `.await`, of the macro or of the
        /// combinator. `None` if it was polled through a reference.
        at: Option<&'static Location<'static>>,
    },
    /// A [subscription](crate::sync::Signal::subscribe), or a
    /// [`wait_for`](crate::sync::Signal::wait_for), has lost events: the signal was at its limit. Sent
    /// when it reads the next event.
    EventsMissed {
        /// The coroutine that reads. `None` if no coroutine does.
        id: Option<CoroutineId>,
        /// Its name.
        name: Option<Cow<'static, str>>,
        /// The [name](crate::sync::Signal::named) of the signal, if it has one.
        signal: Option<String>,
        /// The line of the `.await`.
        place: &'static Location<'static>,
        /// How many events it has lost since its last read.
        missed: u64,
        /// How many events the signal stores.
        limit: usize,
    },
    /// An event that [`emit_one`](crate::sync::Signal::emit_one) had sent was dropped: the coroutines
    /// that waited for it were stopped, or have refused it.
    EventUntaken {
        /// The [name](crate::sync::Signal::named) of the signal, if it has one.
        signal: Option<String>,
        /// Where it was emitted.
        place: &'static Location<'static>,
    },
    /// More than 100 ticks of an [`interval`](crate::interval()) were due at once. With
    /// [`MissedTicks::Burst`](crate::wait::MissedTicks::Burst) they come one in a run, so the interval
    /// is late for long, or forever if its period is shorter than a frame. Sent once, and again
    /// when it has caught up in between.
    TicksOwed {
        /// The coroutine that awaits the tick. `None` if no coroutine does.
        id: Option<CoroutineId>,
        /// Its name.
        name: Option<Cow<'static, str>>,
        /// Where the interval was made. Of one that a durable script has loaded: where its ticks are awaited.
        place: &'static Location<'static>,
        /// How many ticks are due.
        owed: u64,
    },
    /// A call that is allowed and does what the text says, but is probably not meant: a timer
    /// that is moved into the past, or fewer permits than are taken.
    SuspiciousCall {
        /// Where it was called.
        place: &'static Location<'static>,
        /// What it does, and what to write instead.
        text: String,
    },
    /// A closure of [`with_deferred`](crate::lend::with_deferred), [`defer`](crate::lend::defer) or
    /// [`defer_call`](crate::lend::defer_call) panicked. The other closures were called. With [`propagate_panics`](crate::Builder::propagate_panics),
    /// the panic is passed on to the host instead.
    WithDeferredPanicked {
        /// The function that it was passed to: `with_deferred`, `with_deferred_as`, `defer` or
        /// `defer_call`.
        function: &'static str,
        /// The type of the state that it borrowed. `()` in a `defer_call`, which borrows
        /// none.
        state: &'static str,
        /// Where that function was called.
        place: &'static Location<'static>,
        /// The frame in which the closure was called.
        frame: u64,
        /// The phase that was run. `None` if it was called outside a run.
        phase: Option<Phase>,
        /// The message of the panic, if its payload is a string.
        message: Option<String>,
    },
    /// A callback of a [`Behaviour`](crate::scene::Behaviour) or its destructor panicked.
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

/// Why a coroutine was [refused](Report::Refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpawnError {
    /// Its owner, or an owner above that, is [inactive](crate::Owner::set_active).
    OwnerInactive,
    /// Its owner, an owner above that, or its behaviour has been dropped or is being
    /// dropped.
    OwnerGone,
    /// Its executor has been dropped or is being dropped.
    ExecutorGone,
    /// As many coroutines are alive as
    /// [`Builder::max_coroutines`](crate::Builder::max_coroutines) allows: this many.
    TooMany(usize),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            SpawnError::OwnerInactive => "its owner, or an owner above that, is inactive",
            SpawnError::OwnerGone => {
                "its owner, or an owner above that, is gone: a script that goes on after the end of its \
                 owner starts what is to outlive it with `handle().start(..)`"
            }
            SpawnError::ExecutorGone => "its executor is gone",
            SpawnError::TooMany(limit) => {
                return write!(
                    f,
                    "{limit} coroutines are alive, the limit that `Builder::max_coroutines` sets"
                );
            }
        };
        f.write_str(text)
    }
}

impl Report {
    /// Writes a report that concerns no single coroutine.
    fn write_of_frame(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            _ => Ok(()),
        }
    }

    /// Writes a report of a limit of a run.
    fn write_of_limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::PollLimitReached {
                id,
                name,
                frame,
                phase,
                polls,
            } => write!(
                f,
                "frame {frame}, {phase}: coroutine {id} ({name}) was polled {polls} times in one \
                 run (the limit that `Builder::max_polls_per_run` sets) because others kept waking \
                 it, or because it kept yielding; it continues in the next run"
            ),
            Report::Runaway {
                id,
                name,
                frame,
                phase,
                polls,
            } => {
                write_moment(f, *frame, *phase)?;
                f.write_str(
                    ": coroutines kept starting, spawning, stopping or joining one another",
                )?;
                if let (Some(id), Some(name)) = (id, name) {
                    write!(f, ", at last {id} ({name})")?;
                }
                match polls {
                    Some(polls) => write!(
                        f,
                        "; after {polls} beyond those alive (100 times \
                         `Builder::max_polls_per_run`), the rest continue later"
                    ),
                    None => f.write_str(
                        "; starts in starts nest at most 100 deep, so the rest continue later",
                    ),
                }
            }
            _ => Ok(()),
        }
    }

    /// Writes a report of a wait that nothing ends.
    fn write_of_wait(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::PhaseSkipped {
                phase,
                frame,
                frames,
                waiting,
                id,
                name,
                at,
            } => {
                let others = waiting - 1;
                write!(
                    f,
                    "frame {frame}: {phase} has not been run for {frames} frames, but coroutine {id} \
                     ({name}) "
                )?;
                match others {
                    0 => f.write_str("waits for it")?,
                    1 => f.write_str("and another one wait for it")?,
                    _ => write!(f, "and {others} others wait for it")?,
                }
                if let Some(at) = at {
                    write!(f, ", at {at}")?;
                }
                write!(
                    f,
                    ": run it in each frame with `run_phase`, or wait for a phase that is run; \
                     `Builder::skipped_phase` sets the number of frames"
                )
            }
            Report::GrantUntaken {
                what,
                frame,
                frames,
                id,
                name,
                at,
            } => {
                write!(
                    f,
                    "frame {frame}: coroutine {id} ({name}) was granted {what} {frames} frames ago \
                     and has not taken it: it keeps the wait"
                )?;
                if let Some(at) = at {
                    write!(f, " that it polled at {at}")?;
                }
                f.write_str(
                    ", but polls it no more, so no other coroutine gets that; await the wait, or \
                     drop it (`Builder::untaken_grant` sets the number of frames)",
                )
            }
            _ => Ok(()),
        }
    }

    /// Writes a report of something that a script has lost, or has not got.
    fn write_of_loss(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::EventsMissed {
                id,
                name,
                signal,
                place,
                missed,
                limit,
            } => {
                write_script(f, *id, name.as_deref())?;
                write!(f, "has lost {missed} events of ")?;
                write_signal(f, signal.as_deref())?;
                write!(
                    f,
                    " before the `.await` at {place}: the signal stores {limit}, and drops the \
                     oldest; read them in time, or give it a larger limit with `with_limit`"
                )
            }
            Report::EventUntaken { signal, place } => {
                write!(f, "the event that `emit_one` at {place} has sent with ")?;
                write_signal(f, signal.as_deref())?;
                f.write_str(
                    " was dropped: the scripts that waited for it were stopped, or have refused \
                     it; emit it when such a script exists, or keep it in a queue",
                )
            }
            Report::TicksOwed {
                id,
                name,
                place,
                owed,
            } => {
                write_script(f, *id, name.as_deref())?;
                write!(
                    f,
                    "is owed {owed} ticks of the interval at {place}, which come one in a \
                     run: await `ticks()`, which returns how many are due, or choose \
                     `MissedTicks::Skip`"
                )
            }
            _ => Ok(()),
        }
    }

    /// Writes a report of a panic in code that is not a coroutine's.
    fn write_of_callback(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::WithDeferredPanicked {
                function,
                state,
                place,
                frame,
                phase,
                message,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(f, ": the closure of `{function}` at {place}")?;
                if *state != NO_STATE {
                    write!(f, ", called with `{state}`,")?;
                }
                write!(f, " panicked: {}", text_or_none(message.as_deref()))
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
            Report::HookPanicked {
                hook,
                frame,
                phase,
                message,
            } => {
                write_moment(f, *frame, *phase)?;
                let text = text_or_none(message.as_deref());
                write!(
                    f,
                    ": the hook of the host set with `{hook}` panicked: {text}"
                )
            }
            _ => Ok(()),
        }
    }
}

/// The state of a closure that borrows none.
pub(crate) const NO_STATE: &str = "()";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::SlowPoll {
                id,
                name,
                frame,
                phase,
                took,
                from,
                to,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(
                    f,
                    ": coroutine {id} ({name}) took {took:?} in one poll, which blocked the frame"
                )?;
                match (from, to) {
                    (Some(from), Some(to)) => write!(f, ": between {from} and {to}"),
                    (Some(from), None) => write!(f, ": after {from}"),
                    (None, Some(to)) => write!(f, ": before {to}"),
                    (None, None) => Ok(()),
                }
            }
            Report::CoroutinePanicked {
                id,
                name,
                owner,
                frame,
                phase,
                message,
                from,
            } => {
                write_moment(f, *frame, *phase)?;
                write!(f, ": coroutine {id} ({name}) ")?;
                if let Some(owner) = owner {
                    write!(f, "of {owner} ")?;
                }
                write!(f, "panicked: {}", text_or_none(message.as_deref()))?;
                match from {
                    Some(from) => write!(f, " (after the .await at {from})"),
                    None => Ok(()),
                }
            }
            Report::Refused {
                name,
                place,
                reason,
            } => write!(
                f,
                "coroutine `{name}`, made at {place}, was refused and does not run: {reason}"
            ),
            Report::StopIgnored {
                owner,
                place,
                scripts,
            } => write!(
                f,
                "the request to stop the scripts of `{owner}`, made at {place}, was read by none \
                 of them: {scripts} were stopped when its time was over; await `stop_requested()` in \
                 them beside their waits, or call `stop_all()`"
            ),
            Report::SuspiciousCall { place, text } => write!(f, "at {place}: {text}"),
            Report::WithDeferredPanicked { .. }
            | Report::BehaviourPanicked { .. }
            | Report::HookPanicked { .. } => self.write_of_callback(f),
            Report::PollLimitReached { .. } | Report::Runaway { .. } => self.write_of_limit(f),
            Report::PhaseSkipped { .. } | Report::GrantUntaken { .. } => self.write_of_wait(f),
            Report::InvalidDelta { .. }
            | Report::TimeDropped { .. }
            | Report::StepsDropped { .. } => self.write_of_frame(f),
            Report::EventsMissed { .. }
            | Report::EventUntaken { .. }
            | Report::TicksOwed { .. } => self.write_of_loss(f),
        }
    }
}

fn write_script(
    f: &mut fmt::Formatter<'_>,
    id: Option<CoroutineId>,
    name: Option<&str>,
) -> fmt::Result {
    match (id, name) {
        (Some(id), Some(name)) => write!(f, "coroutine {id} ({name}) "),
        _ => f.write_str("code outside of a coroutine "),
    }
}

fn write_signal(f: &mut fmt::Formatter<'_>, signal: Option<&str>) -> fmt::Result {
    match signal {
        Some(name) => write!(f, "the signal `{name}`"),
        None => f.write_str("a signal"),
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
