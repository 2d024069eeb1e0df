//! Intervals in the states of scripts.

use std::ops::{Deref, DerefMut};

use framestep::durable::{SavedInterval, phase_number, phase_of};
use framestep::wait::{Interval, MissedTicks};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::script::hand_over;

/// An [`Interval`] in the state of a script, which keeps its schedule: it derefs to the interval.
///
/// [`Chapter::Next`](crate::Chapter::Next) hands it to the next chapter. So a chapter for each tick has
/// the beat of a loop. Another script can be given one that has not begun; its schedule is on the clock of its
/// script.
///
/// # Panics
///
/// When the state of another script is made, if the interval has begun.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn drum(mut beat: Schedule, beats: u32) -> Chapter<u64> {
///     beat.tick().await;
///     match beats {
///         1 => Chapter::Done(time().frame),
///         _ => Chapter::Next(drum(beat, beats - 1)),
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(drum));
/// let drum = runtime.start(drum(interval(1).into(), 4));
/// for _ in 0..14 {
///     runtime.run_frame(0.3); // a tick may be late: the later ones are not
/// }
/// assert_eq!(runtime.take(drum), Some(Ok(14))); // at 4.2 s
/// ```
#[derive(Debug)]
pub struct Schedule {
    interval: Interval,
}

impl From<Interval> for Schedule {
    fn from(interval: Interval) -> Self {
        Schedule { interval }
    }
}

impl From<Schedule> for Interval {
    fn from(schedule: Schedule) -> Self {
        schedule.interval
    }
}

impl Deref for Schedule {
    type Target = Interval;

    fn deref(&self) -> &Interval {
        &self.interval
    }
}

impl DerefMut for Schedule {
    fn deref_mut(&mut self) -> &mut Interval {
        &mut self.interval
    }
}

/// An interval in the state of a chapter.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Interval")]
struct State {
    /// `None`: it is infinite.
    period_ns: Option<u64>,
    /// [`ENDLESS`] if it is infinite.
    first: Option<u64>,
    /// The number of a [`MissedTicks`].
    missed: u8,
    /// The number of a phase.
    phase: Option<u64>,
    /// When the next tick is due, on the clock of the script.
    due_ns: Option<i128>,
}

const ENDLESS: u64 = u64::MAX;

/// In the order of their numbers in states.
const MISSED: [MissedTicks; 3] = [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay];

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = SavedInterval::of(&self.interval);
        if !hand_over::note_schedule(saved.has_begun) {
            let from = saved.place.map(|place| format!(" at {place}"));
            panic!(
                "the `interval`{} has begun, and is in the state of another script, but counts on the clock of its own: \
                 give another script a new one",
                from.unwrap_or_default()
            );
        }
        let missed = MISSED.iter().position(|it| *it == saved.missed);
        let state = State {
            period_ns: saved.period_ns,
            first: saved.first_ns.map(|first_ns| first_ns.unwrap_or(ENDLESS)),
            missed: missed.map_or(0, |at| u8::try_from(at).unwrap_or(0)),
            phase: saved.phase.map(phase_number),
            due_ns: saved.due_ns,
        };
        state.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let damaged = |what| D::Error::custom(format_args!("an interval has no such {what}"));
        let state = State::deserialize(deserializer)?;
        let missed = MISSED.get(usize::from(state.missed));
        let phase = state.phase.map(phase_of).transpose();
        let saved = SavedInterval {
            period_ns: state.period_ns,
            first_ns: state
                .first
                .map(|first_ns| (first_ns != ENDLESS).then_some(first_ns)),
            missed: *missed.ok_or_else(|| damaged("policy"))?,
            phase: phase.map_err(|_| damaged("phase"))?,
            due_ns: state.due_ns,
            has_begun: state.due_ns.is_some(),
            place: None,
        };
        let interval = saved.load().map_err(|_| damaged("schedule"))?;
        Ok(Schedule { interval })
    }
}
