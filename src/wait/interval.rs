//! Intervals: regular ticks without drift.

mod kept;

use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{FusedStream, Stream};

use crate::core::base::key::TaskKey;
use crate::core::pause::own;
use crate::core::pause::own::OwnTime;
use crate::core::report;
use crate::core::scope::{self, Scope, recording};
use crate::time::{AwaitedClock, ClockRef, ClockState, Nanos, Phase, PhaseIndex, Seconds};

use super::length::Length;
use super::next_item::{NextTick, NextTicks};
use super::timer::Timer;
use super::{WaitSeconds, polled, wait_seconds};

pub(crate) use kept::KeptTick;
pub use kept::SavedInterval;

/// Ticks every `period` seconds of the coroutine's clock, without drift.
///
/// **The time runs from the first poll**, not from the call. Tick number k is due
/// at the clock's time at the first poll plus k periods, exact to the nanosecond. The
/// interval keeps the clock and the phase of the first poll. A tick may come late, because frames have a length, but that does not move the
/// later ticks. (A loop of [`wait_seconds`] drifts by the overshoot of each round.)
/// [`MissedTicks`] says what happens to ticks that are missed. With a period of
/// infinity, only the tick that [`first_after`](Interval::first_after) sets comes, and none
/// without it.
///
/// [`tick`](Interval::tick) waits for the next tick, and [`ticks`](Interval::ticks) for all that
/// are due: a period that may be shorter than a frame needs that. The interval is also a
/// [`Stream`] of single ticks that does not end.
///
/// # Resumes
///
/// Like [`wait_seconds`](super::wait_seconds()): in the home phase of the coroutine,
/// in the first frame after the await that is at or past the time of the tick. A tick
/// that is overdue when it is awaited comes in the next frame.
/// [`in_phase`](Interval::in_phase) selects another phase; in [`Phase::FixedUpdate`],
/// steps count instead of frames. So a frame (or step) has at most one
/// [`tick`](Interval::tick), however long it was. If more than 100 are due, that is reported
/// ([`Report::TicksOwed`](crate::inspect::Report::TicksOwed)).
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
#[track_caller]
pub fn interval(period: impl Seconds) -> Interval {
    let period_ns = match period.length_ns() {
        Nanos::Finite(ns) if ns > 0 => Some(ns),
        Nanos::Overflow | Nanos::Infinite => None,
        Nanos::NotANumber => panic!(
            "the period of the `interval` made at {} is NaN: give it a number of seconds above zero, or infinity",
            Location::caller()
        ),
        _ => panic!(
            "the period of the `interval` made at {} must be above zero, or infinity: for one turn in every frame, \
             await `next_frame()`, or use `every_frames(1)`",
            Location::caller()
        ),
    };
    Interval {
        period_ns,
        first: None,
        missed: MissedTicks::default(),
        phase: PhaseIndex::HOME,
        clock: None,
        has_begun: false,
        due: None,
        wait: None,
        by: TaskKey::NOBODY,
        paused_ns: 0,
        is_reported: false,
        place: Some(Location::caller()),
    }
}

/// How many ticks [`Interval::ticks`] returns at most.
pub(super) const MOST_TICKS: u64 = 1_000;

/// So many ticks may be due without a report.
const OWED_TICKS: u64 = 100;

/// What an [`interval`] does with missed ticks. It misses ticks if a frame is
/// longer than its period, or if its coroutine waits for something else.
///
/// The drawings show a period of one second, and a frame that lasts from 1.5 to 4.2
/// seconds. The other frames are short. `|` is a tick on time, `!` is a late tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTicks {
    /// All missed ticks come, one in each run, until the interval has caught up; with
    /// [`ticks`](Interval::ticks) they come at once.
    /// For an action that must happen a fixed number of times: a wave of twenty
    /// enemies. With a period below the length of a frame, an interval that awaits
    /// [`tick`](Interval::tick) never catches up.
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
    /// `None` if it is infinite.
    period_ns: Option<u64>,
    /// When the first tick is due, unless that is a period after the first poll.
    first: Option<First>,
    missed: MissedTicks,
    phase: PhaseIndex,
    /// The clock on which it began, unless that is the game clock.
    clock: Option<AwaitedClock>,
    /// Whether it has been polled: it keeps its clock and its phase from then on.
    has_begun: bool,
    /// When the next tick is due. `None` before the first poll and after a reset, and if no tick
    /// comes any more.
    due: Option<OwnTime>,
    /// The wait for the next tick, if it has begun.
    wait: Option<WaitSeconds>,
    /// The coroutine that polled it last. `due` is in that coroutine's time.
    by: TaskKey,
    /// How long that coroutine had been paused at that time.
    paused_ns: u64,
    /// Whether it has been reported that many ticks are due, since it has last caught up.
    is_reported: bool,
    /// Where it was made. Of one that a save has had: where its ticks were first awaited.
    place: Option<&'static Location<'static>>,
}

/// When the first tick of an interval is due.
#[derive(Clone, Copy, Debug)]
enum First {
    /// So long after the first poll.
    After(Length),
    /// At the time at which it was due before it was saved.
    At(OwnTime),
}

impl Interval {
    /// Ticks in the runs of `phase`. In [`Phase::FixedUpdate`], the interval counts
    /// in [the time of the steps](crate::time::Clock#in-fixed-steps), and may tick in
    /// several steps of a frame.
    ///
    /// # Panics
    ///
    /// If the interval has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            !self.has_schedule(),
            "`in_phase` was called on an interval that has begun: call it before the first tick \
             is awaited"
        );
        self.phase = PhaseIndex::new(phase);
        self
    }

    /// Sets when the first tick is due: `seconds` after the first poll, instead of a whole
    /// period. The later ticks follow it by whole periods.
    ///
    /// With zero or a negative length, the first tick comes in the next frame. With infinity,
    /// the interval never ticks. With an infinite period, this tick is the only one.
    ///
    /// # Panics
    ///
    /// If the interval has begun, or if `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let frames = executor.run_until(
    ///     async {
    ///         let mut spawns = interval(1).first_after(0.5);
    ///         let mut frames = Vec::new();
    ///         while frames.len() < 3 {
    ///             spawns.tick().await;
    ///             frames.push(time().frame);
    ///         }
    ///         frames
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(frames, [2, 6, 10]);
    /// ```
    ///
    /// # Source
    ///
    /// `InvokeRepeating(method, delay, rate)`, Unity scripting reference;
    /// `tokio::time::interval_at`.
    #[track_caller]
    pub fn first_after(mut self, seconds: impl Seconds) -> Self {
        assert!(
            !self.has_schedule(),
            "`first_after` was called on an interval that has begun: call it before the first \
             tick is awaited"
        );
        let first = Length::of(seconds);
        first.nanos("first_after()");
        self.first = Some(First::After(first));
        self
    }

    /// Whether it has begun, also before it was saved.
    fn has_schedule(&self) -> bool {
        self.has_begun || matches!(self.first, Some(First::At(_)))
    }

    /// Begins again: the next tick is due a whole period after the next poll. The ticks that
    /// are due by now, and a [`first_after`](Interval::first_after), do not come any more.
    /// It keeps its clock and its phase. A coroutine that awaits a tick goes on waiting.
    ///
    /// # Examples
    ///
    /// A shield that recharges while nothing hits it:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn shield(hits: Signal<()>) -> Vec<u64> {
    ///     let (mut hits, mut recharge) = (hits.subscribe(), interval(1));
    ///     let mut frames = Vec::new();
    ///     while frames.len() < 2 {
    ///         select! {
    ///             Some(()) = hits.next() => recharge.reset(),
    ///             _ = recharge.tick() => frames.push(time().frame),
    ///         }
    ///     }
    ///     frames
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let hits = Signal::new();
    /// let shield = executor.start(shield(hits.clone()));
    /// executor.run_frames(2, 0.25);
    /// hits.emit(()); // read in frame 3
    /// assert_eq!(executor.run_until(shield, 0.25).unwrap(), [7, 11]);
    /// ```
    ///
    /// # Source
    ///
    /// `tokio::time::Interval::reset`.
    #[track_caller]
    pub fn reset(&mut self) {
        self.due = None;
        self.first = None;
        if let Some(mut wait) = self.wait.take() {
            wait.timer.renew();
        }
    }

    /// Sets what happens to missed ticks. The default is [`MissedTicks::Burst`].
    pub fn missed_ticks(mut self, policy: MissedTicks) -> Self {
        self.missed = policy;
        self
    }

    /// Waits for the next tick.
    ///
    /// A run has one tick at most. If the period may be shorter than a frame, and each tick
    /// counts, await [`ticks`](Interval::ticks).
    pub fn tick(&mut self) -> NextTick<'_> {
        NextTick::new(self)
    }

    /// Waits for the next tick, and returns how many ticks are due by then: at least 1.
    ///
    /// At most 1,000 are returned at once. The rest follow in the next runs. With
    /// [`MissedTicks::Skip`] and [`MissedTicks::Delay`] it is always 1, because one late tick
    /// replaces all missed ticks.
    ///
    /// # Resumes
    ///
    /// Like [`tick`](Interval::tick).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// A gun that fires ten times a second at four frames a second:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let shots = executor.run_until(
    ///     async {
    ///         let mut gun = interval(0.1);
    ///         let mut shots = Vec::new();
    ///         while shots.len() < 4 {
    ///             shots.push(gun.ticks().await);
    ///         }
    ///         shots
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(shots, [2, 3, 2, 3]);
    /// assert_eq!(executor.time().frame, 4);
    /// ```
    pub fn ticks(&mut self) -> NextTicks<'_> {
        NextTicks::new(self)
    }

    /// Notes a poll by the coroutine of `scope`. Returns whether it comes from another
    /// coroutine than the poll before.
    fn note_poll(&mut self, scope: &Scope<'_>) -> bool {
        let due_before = self.due;
        if due_before.is_none() {
            self.begin(scope);
        }
        let by = scope.current();
        let by = by.map_or(TaskKey::NOBODY, |task| task.task_key());
        let has_moved = mem::replace(&mut self.by, by) != by;
        let paused_ns = own::paused_ns(scope, self.phase, clock_of(self.clock.as_ref()));
        let paused_before_ns = mem::replace(&mut self.paused_ns, paused_ns);
        if let Some(due) = due_before.filter(|_| has_moved && self.wait.is_none()) {
            // The time of the clock stays the same.
            self.due = Some(due.plus(paused_before_ns).minus(paused_ns));
        }
        has_moved
    }

    /// Begins, the first time on the clock of the code that polls it.
    fn begin(&mut self, scope: &Scope<'_>) {
        if !mem::replace(&mut self.has_begun, true) {
            if self.phase == PhaseIndex::HOME {
                self.phase = scope.home();
            }
            self.clock = scope.clock().as_ref().map(AwaitedClock::new);
        }
        let now = OwnTime::at_begin(scope, self.phase, clock_of(self.clock.as_ref()));
        let first_ns = match self.first {
            Some(First::After(first)) => first.nanos("first_after()"),
            Some(First::At(due)) => {
                self.due = Some(due);
                return;
            }
            None => self.period_ns,
        };
        // Without a first tick, there is no later one.
        self.due = first_ns.map(|first_ns| now.plus(first_ns));
    }

    /// Takes the tick that was due at `due`, and up to `most` in all with those that are missed.
    /// Returns it, and how many were taken. Calls user code: the hook for reports.
    #[track_caller]
    fn take(&mut self, due: OwnTime, now: OwnTime, most: u64) -> (Tick, u64) {
        self.first = None;
        let late_ns = now.since(due);
        let late = Duration::from_nanos(late_ns);
        let Some(period_ns) = self.period_ns else {
            self.due = None;
            return (Tick { late, skipped: 0 }, 1);
        };
        let missed = late_ns / period_ns;
        let (latest, skipped, further) = match self.missed {
            MissedTicks::Burst => {
                let further = missed.min(most - 1);
                (due.plus(further * period_ns), 0, further)
            }
            MissedTicks::Skip => (due.plus(missed * period_ns), missed, 0),
            MissedTicks::Delay => (due.max(now), missed, 0),
        };
        self.due = Some(latest.plus(period_ns));
        let owed = missed - further - skipped;
        let was_reported = self.is_reported;
        self.is_reported = owed > OWED_TICKS || owed > 0 && was_reported;
        // A replay has taken the tick before.
        if self.is_reported && !was_reported && scope::with(|scope| scope.is_some()) {
            report::ticks_owed(self.place.unwrap_or(Location::caller()), owed);
        }
        (Tick { late, skipped }, 1 + further)
    }

    /// Polls for the next tick, and up to `most` that are due. Returns `None` in the impossible
    /// case that a wait without an end is over.
    #[track_caller]
    pub(super) fn poll_ticks(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<(Tick, u64)>> {
        if recording::is_recording() {
            return self.poll_recorded(cx, Location::caller(), most);
        }
        let has_moved = polled("interval()", |scope| self.note_poll(scope));
        let next = self.due;
        let wait = self.wait.get_or_insert_with(|| {
            let clock = self.clock.as_ref().map(AwaitedClock::state);
            let until = |scope: &Scope<'_>| wait_until(scope, self.phase, clock, next?);
            // Without a next tick, it waits until it is reset.
            polled("interval()", until).unwrap_or_else(|| wait_seconds(f64::INFINITY))
        });
        let Some(due) = next else {
            return Pin::new(wait).poll(cx).map(|()| None);
        };
        let late_ns = if has_moved {
            wait.timer.late_ns()
        } else {
            None
        };
        let is_pending = Pin::new(&mut *wait).poll(cx).is_pending();
        let (phase, clock) = (self.phase, clock_of(self.clock.as_ref()));
        let now = polled("interval()", |scope| OwnTime::now(scope, phase, clock));
        if is_pending {
            if has_moved {
                // The wait has moved its deadline.
                self.due = Some(now.plus(wait.timer.left_ns()));
            }
            return Poll::Pending;
        }
        let due = if has_moved {
            now.minus(late_ns.unwrap_or(0))
        } else {
            due
        };
        self.wait = None;
        Poll::Ready(Some(self.take(due, now, most)))
    }
}

/// Makes a wait for a run of `phase` in which the coroutine of `scope` reads `due` on `clock`,
/// or a later time. If that is over, the wait is like one of length zero. Returns `None` if the
/// clock never reaches it. `None` is the game clock.
pub(crate) fn wait_until(
    scope: &Scope<'_>,
    phase: PhaseIndex,
    clock: Option<&Rc<ClockState>>,
    due: OwnTime,
) -> Option<WaitSeconds> {
    let counts_on = counts_on(clock);
    let core = scope.core();
    let reached_ns = core.phases.get(phase).reached_ns(&core.clock, counts_on);
    let due_ns = due.reading(scope, phase, counts_on)?;
    let point = Duration::from_nanos(due_ns.max(reached_ns));
    let timer = Timer::until(point, counts_on.index(), clock.map(AwaitedClock::new));
    Some(WaitSeconds { timer }.in_phase(phase.phase()))
}

/// `None` is the game clock.
fn counts_on(clock: Option<&Rc<ClockState>>) -> ClockRef<'_> {
    clock.map_or(ClockRef::Game, ClockState::as_ref)
}

/// The clock of an interval that has begun.
fn clock_of(clock: Option<&AwaitedClock>) -> ClockRef<'_> {
    clock.map_or(ClockRef::Game, |clock| clock.state().as_ref())
}

impl Stream for Interval {
    type Item = Tick;

    #[track_caller]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Tick>> {
        let polled = self.get_mut().poll_ticks(cx, 1);
        polled.map(|ticks| ticks.map(|(tick, _)| tick))
    }
}

impl FusedStream for Interval {
    fn is_terminated(&self) -> bool {
        false
    }
}
