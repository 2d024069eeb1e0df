//! Intervals: regular ticks without drift.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::Phase;
use framestep::durable::{DurableWait, Stream, length_ns, own_time, phase_number, phase_of};
use framestep::time::Seconds;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;
use crate::script::{Numbered, ScriptCell, Slot, hand_over, home_of, slot};
use crate::wait::length::Ns;

pub use framestep::wait::MissedTicks;

/// Ticks every `seconds` of the script's clock, the first time one period after the first
/// tick is awaited. See [`framestep::interval`].
///
/// # Panics
///
/// If the period is not above zero.
#[track_caller]
pub fn interval(period: impl Seconds) -> Interval {
    let period_ns = length_ns(period);
    assert!(
        period_ns != Some(0),
        "the period of an interval must be above zero, or infinity: for something in every frame, \
         await `next_frame()`"
    );
    Interval {
        period_ns,
        first: None,
        missed: MissedTicks::default(),
        phase: None,
        due_ns: None,
        numbered: Numbered::giving(),
    }
}

/// Ticks at regular intervals. Made by [`interval`].
///
/// # Chapters
///
/// An interval can be a parameter of a script: [`Chapter::Next`](crate::Chapter::Next) hands it to the
/// next chapter, where it keeps its schedule. So a chapter for each tick has the beat of a loop. Another
/// script can be given one that has not begun; its schedule is on the clock of its script.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn drum(mut beat: Interval, beats: u32) -> Chapter<u64> {
///     beat.tick().await;
///     match beats {
///         1 => Chapter::Done(time().frame),
///         _ => Chapter::Next(drum(beat, beats - 1)),
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Drum>());
/// let drum = runtime.start(drum(interval(1), 4));
/// for _ in 0..14 {
///     runtime.run_frame(0.3); // a tick may be late: the later ones are not
/// }
/// assert_eq!(runtime.take(drum), Some(Ok(14))); // at 4.2 s
/// ```
#[derive(Debug)]
pub struct Interval {
    period_ns: Option<u64>,
    /// The length before the first tick, unless it is a period.
    first: Option<Ns>,
    missed: MissedTicks,
    phase: Option<Phase>,
    /// When the next tick is due, once there has been one.
    due_ns: Option<i128>,
    /// The wait for the next tick. It stays if a [`NextTick`] is dropped.
    numbered: Numbered,
}

/// One tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tick {
    /// How late the tick is.
    pub late: Duration,
    /// How many ticks were skipped.
    pub skipped: u64,
}

impl Interval {
    /// Ticks in `phase`.
    ///
    /// # Panics
    ///
    /// If the interval has begun.
    #[track_caller]
    #[must_use]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            !self.has_begun(),
            "`in_phase` was called on an interval that has begun"
        );
        self.phase = Some(phase);
        self
    }

    /// Makes the first tick due `seconds` after the first poll, instead of a whole period. The later
    /// ticks are a period apart, from that one. With infinity, it never ticks.
    ///
    /// # Panics
    ///
    /// If the interval has begun, or if `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn shots() -> Vec<u64> {
    ///     let (mut shots, mut frames) = (interval(1).first_after(0.25), Vec::new());
    ///     while frames.len() < 3 {
    ///         shots.tick().await;
    ///         frames.push(time().frame);
    ///     }
    ///     frames
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Shots>());
    /// let shots = runtime.start(shots());
    /// for _ in 0..9 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(shots), Some(Ok(vec![1, 5, 9])));
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::wait::Interval::first_after`].
    #[track_caller]
    #[must_use]
    pub fn first_after(mut self, seconds: impl Seconds) -> Self {
        assert!(
            !self.has_begun(),
            "`first_after` was called on an interval that has begun: call it before the first \
             tick is awaited"
        );
        self.first = Some(Ns::of(seconds));
        self
    }

    /// Begins the interval anew: the next tick is due a whole period after it is awaited next, even
    /// if [`first_after`](Self::first_after) has set another first one. See
    /// [`framestep::wait::Interval::reset`].
    ///
    /// # Examples
    ///
    /// A shield that recovers, unless it was hit meanwhile:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const HIT: Signal<()> = signal("hit");
    ///
    /// #[durable]
    /// async fn shield() -> u64 {
    ///     let mut recovers = interval(1);
    ///     loop {
    ///         select! {
    ///             _ = recovers.tick() => return time().frame,
    ///             () = HIT.wait() => recovers.reset(),
    ///         }
    ///     }
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Shield>());
    /// let shield = runtime.start(shield());
    /// for frame in 1..=7 {
    ///     if frame == 3 {
    ///         runtime.named(&HIT).emit(());
    ///     }
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(shield), Some(Ok(7)));
    /// ```
    pub fn reset(&mut self) {
        self.due_ns = None;
        self.first = None;
        self.numbered = Numbered::giving();
    }

    fn has_begun(&self) -> bool {
        self.due_ns.is_some() || self.numbered.has_begun()
    }

    /// Sets what happens to missed ticks.
    #[must_use]
    pub fn missed_ticks(mut self, missed: MissedTicks) -> Self {
        self.missed = missed;
        self
    }

    /// The next tick. The interval is also a [`Stream`] that does not end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the interval keeps its schedule.
    pub fn tick(&mut self) -> NextTick<'_> {
        NextTick { interval: self }
    }

    /// Waits for the next tick, and returns how many ticks are due by then: at least 1, and at most
    /// 1,000. The rest follow in the next runs. With [`MissedTicks::Skip`] and [`MissedTicks::Delay`]
    /// it is always 1. See [`framestep::wait::Interval::ticks`].
    ///
    /// # Resumes
    ///
    /// Like [`tick`](Self::tick).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the interval keeps its schedule.
    ///
    /// # Examples
    ///
    /// A gun that fires ten times a second at four frames a second:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn gun() -> Vec<u64> {
    ///     let (mut gun, mut shots) = (interval(0.1), Vec::new());
    ///     while shots.len() < 4 {
    ///         shots.push(gun.ticks().await);
    ///     }
    ///     shots
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Gun>());
    /// let gun = runtime.start(gun());
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(gun), Some(Ok(vec![2, 3, 2, 3])));
    /// ```
    pub fn ticks(&mut self) -> NextTicks<'_> {
        NextTicks { interval: self }
    }

    /// The tick that is due at `due_ns`, at `now_ns`, with up to `most` in all of those that are missed,
    /// and when the next one is due.
    fn after(&self, due_ns: i128, now_ns: i128, period_ns: u64, most: u64) -> (Tick, i128) {
        let late_ns = u64::try_from((now_ns - due_ns).max(0)).unwrap_or(u64::MAX);
        let missed = late_ns / period_ns;
        let (latest_ns, skipped) = match self.missed {
            MissedTicks::Burst => {
                let more = missed.min(most - 1);
                (due_ns + i128::from(more * period_ns), more)
            }
            MissedTicks::Skip => (due_ns + i128::from(missed * period_ns), missed),
            MissedTicks::Delay => (due_ns.max(now_ns), missed),
        };
        let late = Duration::from_nanos(late_ns);
        (Tick { late, skipped }, latest_ns + i128::from(period_ns))
    }
}

/// An interval in the state of a chapter.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Interval")]
struct State {
    /// `None`: it never ticks.
    period_ns: Option<u64>,
    first: Option<Ns>,
    /// The number of a [`MissedTicks`].
    missed: u8,
    /// The number of a phase.
    phase: Option<u64>,
    /// When the next tick is due, on the clock of the script.
    due_ns: Option<i128>,
}

/// How many ticks [`Interval::ticks`] returns at most.
const MOST_TICKS: u64 = 1_000;

/// In the order of their numbers in states.
const MISSED: [MissedTicks; 3] = [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay];

/// In the state of a chapter, where it keeps its schedule: see [Chapters](Interval#chapters).
///
/// # Panics
///
/// In the state of another script, if the interval has begun.
impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(
            hand_over::note_schedule(self.has_begun()),
            "an interval that has begun is in the state of another script, but counts on the clock of \
             its own: give another script a new one"
        );
        let missed = MISSED.iter().position(|it| *it == self.missed);
        let state = State {
            period_ns: self.period_ns,
            first: self.first,
            missed: missed.map_or(0, |at| u8::try_from(at).unwrap_or(0)),
            phase: self.phase.map(phase_number),
            due_ns: self.awaited_ns().or(self.due_ns),
        };
        state.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let damaged = |what| D::Error::custom(format_args!("an interval has no such {what}"));
        let state = State::deserialize(deserializer)?;
        let phase = state.phase.map(phase_of).transpose();
        if state.period_ns == Some(0) {
            return Err(damaged("period"));
        }
        // A clock does not come so far.
        let most = 2 * u128::from(u64::MAX);
        if state
            .due_ns
            .is_some_and(|due_ns| due_ns.unsigned_abs() > most)
        {
            return Err(damaged("deadline"));
        }
        Ok(Interval {
            period_ns: state.period_ns,
            first: state.first,
            missed: *MISSED
                .get(usize::from(state.missed))
                .ok_or_else(|| damaged("policy"))?,
            phase: phase.map_err(|_| damaged("phase"))?,
            due_ns: state.due_ns,
            numbered: Numbered::giving(),
        })
    }
}

impl Interval {
    /// When the tick that it awaits is due, if that is known: in a durable script that is not replayed.
    fn awaited_ns(&self) -> Option<i128> {
        let (cell, number) = self.numbered.begun()?;
        let due_ns = cell.with_slot(number, |slot| match slot {
            Slot::Tick(tick) => Some(tick.due_ns),
            _ => None,
        });
        due_ns.flatten().filter(|due_ns| *due_ns != i128::MAX)
    }
}

impl Stream for Interval {
    type Item = Tick;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Tick>> {
        self.poll_ticks(1, cx).map(Some)
    }
}

impl Interval {
    /// The next tick, with up to `most` in all of those that are due by then: a [`Tick`] whose `skipped`
    /// counts them.
    #[track_caller]
    fn poll_ticks(&mut self, most: u64, cx: &mut Context<'_>) -> Poll<Tick> {
        let mut numbered = mem::take(&mut self.numbered);
        let polled = self.poll_recorded(most, &mut numbered, cx);
        self.numbered = numbered;
        let Poll::Ready(ticked) = polled else {
            return Poll::Pending;
        };
        self.numbered = Numbered::giving();
        let (tick, next_ns): (Tick, i128) = ticked.read().expect("a tick as it was recorded");
        self.due_ns = Some(next_ns);
        Poll::Ready(tick)
    }

    #[track_caller]
    fn poll_recorded(
        &self,
        most: u64,
        numbered: &mut Numbered,
        cx: &mut Context<'_>,
    ) -> Poll<Bytes> {
        let begin = |cell: Option<&ScriptCell>| {
            let phase = self.phase.unwrap_or_else(|| home_of(cell));
            let now_ns = own_time(Some(phase), true);
            let first_ns = self.first.map_or(self.period_ns, Ns::finite);
            let due_ns = match (self.due_ns, first_ns) {
                (Some(due_ns), _) => Some(due_ns),
                (None, Some(first_ns)) => Some(now_ns + i128::from(first_ns)),
                (None, None) => None,
            };
            Slot::Tick(Box::new(slot::Tick {
                timer: DurableWait::own_time(due_ns, phase),
                due_ns: due_ns.unwrap_or(i128::MAX),
            }))
        };
        numbered.poll_anywhere("interval()", begin, |_, slot| {
            let Slot::Tick(tick) = slot else {
                return Poll::Pending;
            };
            if tick.timer.poll(cx, "interval()").is_pending() {
                return Poll::Pending;
            }
            let now_ns = own_time(Some(tick.timer.phase()), false);
            let period_ns = self.period_ns.unwrap_or(u64::MAX);
            Poll::Ready(Bytes::of(&self.after(tick.due_ns, now_ns, period_ns, most)))
        })
    }
}

/// The future of [`Interval::tick`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextTick<'a> {
    interval: &'a mut Interval,
}

impl Future for NextTick<'_> {
    type Output = Tick;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Tick> {
        self.interval.poll_ticks(1, cx)
    }
}

/// The future of [`Interval::ticks`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextTicks<'a> {
    interval: &'a mut Interval,
}

impl Future for NextTicks<'_> {
    type Output = u64;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        let ticked = self.interval.poll_ticks(MOST_TICKS, cx);
        ticked.map(|tick| match self.interval.missed {
            MissedTicks::Burst => tick.skipped + 1,
            MissedTicks::Skip | MissedTicks::Delay => 1,
        })
    }
}
