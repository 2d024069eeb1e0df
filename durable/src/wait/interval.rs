//! Intervals: regular ticks without drift.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::durable::{DurableWait, length_ns, own_time};
use framestep::{Phase, Seconds};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, home_of};
use crate::slot::{self, Slot};

use super::Numbered;

pub use framestep::MissedTicks;

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
        missed: MissedTicks::default(),
        phase: None,
        due_ns: None,
    }
}

/// Ticks at regular intervals. Made by [`interval`].
#[derive(Debug)]
pub struct Interval {
    period_ns: Option<u64>,
    missed: MissedTicks,
    phase: Option<Phase>,
    /// When the next tick is due, once the first has been awaited.
    due_ns: Option<i128>,
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
            self.due_ns.is_none(),
            "`in_phase` was called on an interval that has begun"
        );
        self.phase = Some(phase);
        self
    }

    /// Sets what happens to missed ticks.
    #[must_use]
    pub fn missed_ticks(mut self, missed: MissedTicks) -> Self {
        self.missed = missed;
        self
    }

    /// The next tick.
    pub fn tick(&mut self) -> NextTick<'_> {
        NextTick {
            numbered: Numbered::default(),
            interval: self,
        }
    }

    /// The tick that is due at `due_ns`, at `now_ns`, and when the next one is due.
    fn after(&self, due_ns: i128, now_ns: i128, period_ns: u64) -> (Tick, i128) {
        let late_ns = u64::try_from((now_ns - due_ns).max(0)).unwrap_or(u64::MAX);
        let missed = late_ns / period_ns;
        let (latest_ns, skipped) = match self.missed {
            MissedTicks::Burst => (due_ns, 0),
            MissedTicks::Skip => (due_ns + i128::from(missed * period_ns), missed),
            MissedTicks::Delay => (due_ns.max(now_ns), missed),
        };
        let late = Duration::from_nanos(late_ns);
        (Tick { late, skipped }, latest_ns + i128::from(period_ns))
    }
}

/// The future of [`Interval::tick`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextTick<'a> {
    numbered: Numbered,
    interval: &'a mut Interval,
}

impl Future for NextTick<'_> {
    type Output = Tick;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Tick> {
        let this = &mut *self;
        let interval = &*this.interval;
        let phase = interval.phase;
        let begin = |cell: Option<&ScriptCell>| {
            let phase = phase.unwrap_or_else(|| home_of(cell));
            let now_ns = own_time(Some(phase), true);
            let due_ns = match (interval.due_ns, interval.period_ns) {
                (Some(due_ns), _) => Some(due_ns),
                (None, Some(period_ns)) => Some(now_ns + i128::from(period_ns)),
                (None, None) => None,
            };
            Slot::Tick(Box::new(slot::Tick {
                timer: DurableWait::own_time(due_ns, phase),
                due_ns: due_ns.unwrap_or(i128::MAX),
            }))
        };
        let polled = this.numbered.poll_anywhere("interval()", begin, |_, slot| {
            let Slot::Tick(tick) = slot else {
                return Poll::Pending;
            };
            if tick.timer.poll(cx, "interval()").is_pending() {
                return Poll::Pending;
            }
            let now_ns = own_time(Some(tick.timer.phase()), false);
            let period_ns = interval.period_ns.unwrap_or(u64::MAX);
            Poll::Ready(Bytes::of(&interval.after(tick.due_ns, now_ns, period_ns)))
        });
        let Poll::Ready(ticked) = polled else {
            return Poll::Pending;
        };
        let (tick, next_ns): (Tick, i128) = ticked.read().expect("a tick as it was recorded");
        this.interval.due_ns = Some(next_ns);
        Poll::Ready(tick)
    }
}
