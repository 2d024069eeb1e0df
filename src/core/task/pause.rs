//! The state of a task that is paused or has been paused.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::key::WaitKey;
use crate::time::{ClockIndex, PhaseIndex};

/// The readings of clocks at one moment, each clock once, sorted by clock.
pub(crate) type Readings = Rc<[(ClockIndex, u64)]>;

/// How long each clock has been running without the task, and what the task is
/// owed when it is resumed.
///
/// A task counts on its own time of each clock: the reading of the clock less
/// the total of the task's pauses. The deadlines of its waits are in that time.
/// Wheels do not know own times. When a wheel finds a timer due, the timer is
/// inserted again, later by the growth of the total since it was registered.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the task itself is paused, regardless of its owner.
    pub(crate) own: bool,
    /// The readings of the clocks at the beginning of the pause.
    since: Option<Readings>,
    totals: BTreeMap<ClockIndex, u64>,
    /// The total when the timer that is registered with the task itself was
    /// registered.
    pub(crate) base_ns: u64,
    /// The one wake that is remembered: the phase in which the task is ready when
    /// it is resumed.
    pub(crate) wake: Option<PhaseIndex>,
    /// The timers that became due in the pause, in that order.
    pub(crate) parked: Vec<ParkedTimer>,
}

/// A timer of a paused task that its wheel found due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParkedTimer {
    /// Its position in the order of all timers that were parked.
    pub(crate) order: u64,
    pub(crate) phase: PhaseIndex,
    pub(crate) clock: ClockIndex,
    pub(crate) deadline_ns: u64,
    pub(crate) key: WaitKey,
}

impl Pause {
    /// Begins a pause: the task's time stands still from `readings` on.
    pub(crate) fn begin(&mut self, readings: &Readings) {
        self.since = Some(readings.clone());
    }

    /// Adds a clock that had no waits when the pause began.
    pub(crate) fn add_clock(&mut self, clock: ClockIndex, now_ns: u64) {
        if let Some(since) = &self.since {
            if reading(since, clock).is_none() {
                let mut more: Vec<_> = since.to_vec();
                more.push((clock, now_ns));
                more.sort_unstable();
                self.since = Some(Rc::from(more));
            }
        }
    }

    /// Ends the pause: the task's time continues from `readings` on.
    pub(crate) fn end(&mut self, readings: &Readings) {
        let Some(since) = self.since.take() else {
            return;
        };
        for &(clock, since_ns) in since.iter() {
            // A clock that is not read any more has no timers.
            let now_ns = reading(readings, clock).unwrap_or(since_ns);
            let paused_ns = now_ns.saturating_sub(since_ns);
            if paused_ns > 0 {
                *self.totals.entry(clock).or_default() += paused_ns;
            }
        }
    }

    /// The reading of a clock at the beginning of the present pause.
    pub(crate) fn stopped_at(&self, clock: ClockIndex) -> Option<u64> {
        reading(self.since.as_ref()?, clock)
    }

    /// How long a clock has been running without the task, in pauses that have
    /// ended.
    pub(crate) fn total_ns(&self, clock: ClockIndex) -> u64 {
        self.totals.get(&clock).copied().unwrap_or(0)
    }
}

fn reading(readings: &Readings, clock: ClockIndex) -> Option<u64> {
    let found = readings.binary_search_by_key(&clock, |&(of, _)| of).ok()?;
    Some(readings[found].1)
}
