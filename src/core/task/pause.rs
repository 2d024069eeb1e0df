//! What is known of a task that is paused, or has been.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::key::WaitKey;
use crate::time::{ClockIndex, PhaseIndex};

/// What clocks read at one moment, each once, sorted by clock.
pub(crate) type Readings = Rc<[(ClockIndex, u64)]>;

/// How long each clock went on without the task, and what it owes when it is
/// resumed.
///
/// A task counts on its own time of each clock: what the clock reads, less the
/// total that the task has been paused for. The deadlines of its waits are in
/// that time. Wheels know nothing of it: a timer that they find due is put in
/// again for as long as the total has grown since it was registered.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Paused itself, whatever its owner is.
    pub(crate) own: bool,
    /// What the clocks read when it was paused.
    since: Option<Readings>,
    totals: BTreeMap<ClockIndex, u64>,
    /// The total at which the timer was registered that stands with the task
    /// itself.
    pub(crate) base_ns: u64,
    /// It would have been polled: the one wake that is remembered, and in which
    /// phase the task is ready when it is resumed.
    pub(crate) wake: Option<PhaseIndex>,
    /// Timers that came up meanwhile, in that order.
    pub(crate) parked: Vec<ParkedTimer>,
}

/// A timer of a paused task that its wheel found due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParkedTimer {
    /// Its place among all timers that came up for paused tasks.
    pub(crate) order: u64,
    pub(crate) phase: PhaseIndex,
    pub(crate) clock: ClockIndex,
    pub(crate) deadline_ns: u64,
    pub(crate) key: WaitKey,
}

impl Pause {
    /// Its time stands still from `readings` on.
    pub(crate) fn begin(&mut self, readings: &Readings) {
        self.since = Some(readings.clone());
    }

    /// A clock that nobody waited on when the pause began.
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

    /// Its time goes on from `readings` on.
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

    /// What a clock read when the pause began that lasts.
    pub(crate) fn stopped_at(&self, clock: ClockIndex) -> Option<u64> {
        reading(self.since.as_ref()?, clock)
    }

    /// How far a clock has gone on without the task, pauses that last apart.
    pub(crate) fn total_ns(&self, clock: ClockIndex) -> u64 {
        self.totals.get(&clock).copied().unwrap_or(0)
    }
}

fn reading(readings: &Readings, clock: ClockIndex) -> Option<u64> {
    let found = readings.binary_search_by_key(&clock, |&(of, _)| of).ok()?;
    Some(readings[found].1)
}
