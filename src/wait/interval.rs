//! Intervals: regular ticks without drift.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{FusedStream, Stream};

use crate::core::clock::own;
use crate::core::clock::own::OwnTime;
use crate::core::scope::Scope;
use crate::core::task::TaskKey;
use crate::time::{Nanos, Phase, PhaseIndex, Seconds};

use super::next_item::NextTick;
use super::{WaitSeconds, polled, wait_seconds};

/// Ticks every `period` seconds of the coroutine's clock, without drift.
///
/// **The time runs from the first poll**, not from the call. Tick number k is due
/// at the clock's time at the first poll plus k periods, exact to the nanosecond. A
/// tick may come late, because frames have a length, but that does not move the
/// later ticks. (A loop of [`wait_seconds`] drifts by the overshoot of each round.)
/// [`MissedTicks`] says what happens to ticks that are missed. With a period of
/// infinity, the interval never ticks.
///
/// [`tick`](Interval::tick) waits for the next tick. The interval is also a
/// [`Stream`] that does not end.
///
/// # Resumes
///
/// Like [`wait_seconds`](super::wait_seconds()): in the home phase of the coroutine,
/// in the first frame after the await that is at or past the time of the tick. A tick
/// that is overdue when it is awaited comes in the next frame.
/// [`in_phase`](Interval::in_phase) selects another phase; in [`Phase::FixedUpdate`],
/// steps count instead of frames. So a frame (or step) has at most one tick, however
/// long it was.
///
/// # Output
///
/// A [`Tick`]: how late it is, and how many ticks it replaces.
///
/// # Cancel safety
///
/// Dropping the future of [`tick`](Interval::tick), for example in a `select!`,
/// loses nothing: the interval keeps its schedule.
///
/// # Panics
///
/// - When called: if `period` is zero, negative or NaN.
/// - When polled: outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let frames = executor.run_until(
///     async {
///         let mut shots = interval(0.4);
///         let mut frames = Vec::new();
///         while frames.len() < 4 {
///             shots.tick().await;
///             frames.push(time().frame);
///         }
///         frames
///     },
///     0.25,
/// );
/// // Due at 0.4, 0.8, 1.2 and 1.6 s.
/// assert_eq!(frames, [2, 4, 5, 7]);
/// ```
///
/// # Source
///
/// `InvokeRepeating`, Unity scripting reference; `tokio::time::interval`, whose
/// first tick is immediate.
#[doc(alias = "InvokeRepeating")]
#[track_caller]
pub fn interval(period: impl Seconds) -> Interval {
    let period_ns = match period.length_ns() {
        Nanos::Finite(ns) if ns > 0 => Some(ns),
        Nanos::Overflow | Nanos::Infinite => None,
        _ => panic!(
            "the period of an interval must be above zero, or infinity: for one item in every \
             frame, use `frames()`"
        ),
    };
    Interval {
        period_ns,
        missed: MissedTicks::default(),
        phase: PhaseIndex::HOME,
        state: State::New,
        by: TaskKey::NOBODY,
        paused_ns: 0,
    }
}

/// What an [`interval`] does with missed ticks. It misses ticks if a frame is
/// longer than its period, or if its coroutine waits for something else.
///
/// The drawings show a period of one second, and a frame that lasts from 1.5 to 4.2
/// seconds. The other frames are short. `|` is a tick on time, `!` is a late tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTicks {
    /// All missed ticks come, one in each run, until the interval has caught up.
    /// For an action that must happen a fixed number of times: a wave of twenty
    /// enemies.
    ///
    /// ```text
    /// seconds  0    1    2    3    4    5    6    7
    /// frame           [-----------]
    /// ticks         |             !!!  |    |    |
    /// ```
    #[default]
    Burst,
    /// One late tick replaces all missed ticks. The schedule stays the same. For a
    /// beat: music, a blinking light.
    ///
    /// ```text
    /// seconds  0    1    2    3    4    5    6    7
    /// frame           [-----------]
    /// ticks         |             !    |    |    |
    /// ```
    Skip,
    /// One late tick replaces all missed ticks. The next tick follows a whole
    /// period later, so the schedule moves. For an action that needs a pause in
    /// between: a gun that cools down.
    ///
    /// ```text
    /// seconds  0    1    2    3    4    5    6    7
    /// frame           [-----------]
    /// ticks         |             !    |    |    |
    ///                             4.2  5.2  6.2  7.2
    /// ```
    Delay,
}

/// A tick of an [`interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tick {
    /// How far the clock was past the time of the tick.
    pub late: Duration,
    /// How many further ticks were already due, and are skipped. With
    /// [`MissedTicks::Burst`] it is always 0. To keep up, do the work `1 + skipped`
    /// times.
    pub skipped: u64,
}

/// The stream of [`interval`].
#[derive(Debug)]
#[must_use = "streams do nothing unless they are polled"]
pub struct Interval {
    /// `None` if it never ticks.
    period_ns: Option<u64>,
    missed: MissedTicks,
    phase: PhaseIndex,
    state: State,
    /// The coroutine that polled it last. The times of `state` are in that
    /// coroutine's time.
    by: TaskKey,
    /// How long that coroutine had been paused at that time.
    paused_ns: u64,
}

#[derive(Debug)]
enum State {
    /// It has not been polled yet.
    New,
    /// The next tick is due at this time of the coroutine, and no wait has begun.
    Due(OwnTime),
    /// The next tick is due at this time, and the wait for it has begun.
    Waiting(OwnTime, WaitSeconds),
}

impl Interval {
    /// Ticks in the runs of `phase`. In [`Phase::FixedUpdate`], the interval counts
    /// in [the time of the steps](crate::Clock#in-fixed-steps), and may tick in
    /// several steps of a frame.
    ///
    /// # Panics
    ///
    /// If the interval has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            matches!(self.state, State::New),
            "`in_phase` was called on an interval that has begun: call it before the first tick \
             is awaited"
        );
        self.phase = PhaseIndex::new(phase);
        self
    }

    /// Sets what happens to missed ticks. The default is [`MissedTicks::Burst`].
    pub fn missed_ticks(mut self, policy: MissedTicks) -> Self {
        self.missed = policy;
        self
    }

    /// Waits for the next tick.
    pub fn tick(&mut self) -> NextTick<'_> {
        NextTick::new(self)
    }

    /// The state after the tick that was due at `due`, and the tick.
    fn after(&self, due: OwnTime, now: OwnTime, period_ns: u64) -> (State, Tick) {
        let late_ns = now.since(due);
        let missed = late_ns / period_ns;
        let (latest, skipped) = match self.missed {
            MissedTicks::Burst => (due, 0),
            MissedTicks::Skip => (due.plus(missed * period_ns), missed),
            MissedTicks::Delay => (due.max(now), missed),
        };
        let late = Duration::from_nanos(late_ns);
        let next = State::Due(latest.plus(period_ns));
        (next, Tick { late, skipped })
    }
}

impl Stream for Interval {
    type Item = Tick;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Tick>> {
        let (phase, now, by, paused_ns) = polled("interval()", |scope| {
            let phase = match self.phase {
                PhaseIndex::HOME => scope.home(),
                phase => phase,
            };
            let by = scope
                .current()
                .map_or(TaskKey::NOBODY, |task| task.task_key());
            let now = OwnTime::at_begin(scope, phase);
            (phase, now, by, own::own_pauses_ns(scope, phase))
        });
        self.phase = phase;
        let has_moved = std::mem::replace(&mut self.by, by) != by;
        let paused_before_ns = std::mem::replace(&mut self.paused_ns, paused_ns);
        if let State::Due(due) = &mut self.state {
            if has_moved {
                // The time of the clock stays the same.
                *due = due.plus(paused_before_ns).minus(paused_ns);
            }
        }
        let Some(period_ns) = self.period_ns else {
            self.state = State::Due(now);
            return Poll::Pending;
        };
        loop {
            self.state = match &mut self.state {
                State::New => State::Due(now.plus(period_ns)),
                State::Due(due) => {
                    // The timer adds the remaining time to the same reading, which
                    // results in `due` again.
                    let left = Duration::from_nanos(due.since(now));
                    State::Waiting(*due, wait_seconds(left).in_phase(phase.phase()))
                }
                State::Waiting(due, wait) => {
                    let late_ns = if has_moved {
                        wait.timer.late_ns()
                    } else {
                        None
                    };
                    let is_pending = Pin::new(&mut *wait).poll(cx).is_pending();
                    let read = |scope: &Scope<'_>| OwnTime::now(scope, phase);
                    let now = polled("interval()", read);
                    if is_pending {
                        if has_moved {
                            // The wait has moved its deadline.
                            *due = now.plus(wait.timer.left_ns());
                        }
                        return Poll::Pending;
                    }
                    let due = if has_moved {
                        now.minus(late_ns.unwrap_or(0))
                    } else {
                        *due
                    };
                    let (next, tick) = self.after(due, now, period_ns);
                    self.state = next;
                    return Poll::Ready(Some(tick));
                }
            };
        }
    }
}

impl FusedStream for Interval {
    fn is_terminated(&self) -> bool {
        false
    }
}
