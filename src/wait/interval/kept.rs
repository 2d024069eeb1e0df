//! Intervals in durable scripts: a recorder keeps the wait for a tick, and a state the schedule.

use std::mem;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::core::pause::own::OwnTime;
use crate::core::registration::Registration;
use crate::core::scope::recording::{self, Recorded};
use crate::core::scope::{Scope, named};
use crate::durable::{Damaged, DurableWait, Given, Gives, Ticked};
use crate::inspect::Line;
use crate::time::{AwaitedClock, Phase, PhaseIndex};
use crate::wait::length::Length;
use crate::wait::{polled, wait_seconds};

use super::{First, Interval, MissedTicks, Tick, wait_until};

/// The wait for a tick that a recorder has.
#[derive(Debug)]
pub(crate) struct KeptTick {
    due: Due,
    phase: PhaseIndex,
    /// The clock that a future had named when the interval began. Otherwise, it is that of the coroutine.
    clock: Option<AwaitedClock>,
    /// `None` until it has begun.
    timer: Option<DurableWait>,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    /// So long after the first poll.
    After(u64),
    At(OwnTime),
    Never,
}

impl KeptTick {
    /// One from an image, with what [`due_ns`](Self::due_ns) has returned.
    pub(crate) fn loaded(timer: DurableWait, due_ns: Option<i128>) -> Self {
        KeptTick {
            due: due_ns.map_or(Due::Never, |ns| Due::At(OwnTime::at(ns))),
            phase: PhaseIndex::new(timer.phase()),
            clock: None,
            timer: Some(timer),
        }
    }

    /// When it is due in the own time of the coroutine, once it has begun. `None` if it never comes.
    pub(crate) fn due_ns(&self) -> Option<i128> {
        match self.due {
            Due::At(due) => Some(due.ns()),
            Due::After(_) | Due::Never => None,
        }
    }

    /// Its timer, once it has begun.
    pub(crate) fn timer(&self) -> Option<&DurableWait> {
        self.timer.as_ref()
    }

    #[track_caller]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, name: &'static str) -> Poll<()> {
        if self.timer.is_none() {
            polled(name, |scope| self.begin(scope));
        }
        match &mut self.timer {
            Some(timer) => timer.poll(cx, name),
            None => Poll::Pending,
        }
    }

    fn begin(&mut self, scope: &Scope<'_>) {
        if self.phase == PhaseIndex::HOME {
            self.phase = scope.home();
        }
        let named = self.clock.as_ref().map(|clock| Rc::clone(clock.state()));
        let clock = named.or_else(|| scope.own_clock());
        let counts_on = super::counts_on(clock.as_ref());
        if let Due::After(length_ns) = self.due {
            let now = OwnTime::at_begin(scope, self.phase, counts_on);
            self.due = Due::At(now.plus(length_ns));
        }
        let timer = match self.due {
            Due::At(due) => wait_until(scope, self.phase, clock.as_ref(), due),
            Due::After(_) | Due::Never => None,
        };
        let timer =
            timer.unwrap_or_else(|| wait_seconds(f64::INFINITY).in_phase(self.phase.phase()));
        self.timer = Some(timer.timer.into());
    }

    /// The tick, in the poll in which its timer is over.
    #[track_caller]
    pub(crate) fn ticked(&self) -> Option<Ticked> {
        let now = self.timer.as_ref()?.own_time()?;
        Some(Ticked {
            due_ns: self.due_ns()?,
            now_ns: now.ns(),
        })
    }
}

impl Interval {
    /// Polls it in a durable script, which keeps the wait for the tick.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_recorded(
        &mut self,
        cx: &Context<'_>,
        line: Line,
        most: u64,
    ) -> Poll<Option<(Tick, u64)>> {
        self.place.get_or_insert(line);
        let polled =
            recording::poll_slowly(self, cx, "interval()", line, Gives::Tick, &mut |_| true);
        let Some(Poll::Ready(Given::Tick(ticked))) = polled else {
            return Poll::Pending;
        };
        self.wait = None;
        let [due, now] = [ticked.due_ns, ticked.now_ns].map(OwnTime::at);
        Poll::Ready(Some(self.take(due, now, most)))
    }

    /// When its next tick is due, if that is known.
    fn awaited(&self) -> Option<OwnTime> {
        let wait = self.wait.as_ref();
        let recorded = wait.and_then(|wait| recording::tick_due(wait.timer.registration()));
        let first = match self.first {
            Some(First::At(due)) => Some(due),
            _ => None,
        };
        recorded.map(OwnTime::at).or(self.due).or(first)
    }
}

impl Recorded for Interval {
    fn registration_mut(&mut self) -> &mut Registration {
        let shell = self.wait.get_or_insert_with(|| wait_seconds(f64::INFINITY));
        shell.timer.registration_mut()
    }

    fn take(&mut self) -> DurableWait {
        if !mem::replace(&mut self.has_begun, true) {
            self.clock = named::named_clock().as_ref().map(AwaitedClock::new);
        }
        let after = |length_ns: Option<u64>| length_ns.map_or(Due::Never, Due::After);
        let due = match (self.due, self.first) {
            (Some(due), _) | (None, Some(First::At(due))) => Due::At(due),
            (None, Some(First::After(first))) => after(first.nanos("first_after()")),
            (None, None) => after(self.period_ns),
        };
        let clock = self.clock.as_ref().map(AwaitedClock::state);
        let tick = KeptTick {
            due,
            phase: self.phase,
            clock: clock.map(AwaitedClock::new),
            timer: None,
        };
        tick.into()
    }
}

/// An interval in the state of a durable script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedInterval {
    /// `None` if it is infinite.
    pub period_ns: Option<u64>,
    /// The length before the first tick, unless it is a period: `None` in it if it is infinite.
    pub first_ns: Option<Option<u64>>,
    /// What happens to missed ticks.
    pub missed: MissedTicks,
    /// `None` for the home phase.
    pub phase: Option<Phase>,
    /// When the next tick is due in the own time of the coroutine, if the interval has begun and that is known.
    pub due_ns: Option<i128>,
    /// Whether it counts already.
    pub has_begun: bool,
    /// Where it was made, or, after a load, first awaited. `None` until then.
    pub place: Option<Line>,
}

impl SavedInterval {
    /// What a state needs of an interval.
    #[must_use]
    pub fn of(interval: &Interval) -> Self {
        SavedInterval {
            period_ns: interval.period_ns,
            first_ns: match interval.first {
                Some(First::After(first)) => Some(first.nanos("first_after()")),
                Some(First::At(_)) | None => None,
            },
            missed: interval.missed,
            phase: (interval.phase != PhaseIndex::HOME).then(|| interval.phase.phase()),
            due_ns: interval.awaited().map(OwnTime::ns),
            has_begun: interval.has_schedule(),
            place: interval.place,
        }
    }

    /// Makes the interval anew. It counts on the clock on which it is polled next.
    ///
    /// # Errors
    ///
    /// If its period or its next tick is none of an interval.
    pub fn load(self) -> Result<Interval, Damaged> {
        // A clock does not come so far.
        let most = 2 * u128::from(u64::MAX);
        let is_far = |due_ns: i128| due_ns.unsigned_abs() > most;
        if self.period_ns == Some(0) || self.due_ns.is_some_and(is_far) {
            return Err(Damaged);
        }
        let first = match (self.due_ns, self.first_ns) {
            (Some(due_ns), _) => Some(First::At(OwnTime::at(due_ns))),
            (None, Some(first)) => {
                Some(First::After(first.map_or(Length::Endless, Length::Finite)))
            }
            (None, None) => None,
        };
        Ok(Interval {
            period_ns: self.period_ns,
            first,
            phase: self.phase.map_or(PhaseIndex::HOME, PhaseIndex::new),
            missed: self.missed,
            place: None,
            ..super::interval(1)
        })
    }
}
