//! The state of a task that is paused or has been paused.

use std::collections::BTreeMap;

use crate::core::registration::key::WaitKey;
use crate::time::{ClockIndex, PhaseIndex};

/// How long each clock has been running without the task, and the wake and the timers
/// that the task receives when it is resumed.
///
/// On each clock, a task counts in a time of its own: the reading of the clock, less
/// the total of the task's pauses. The deadlines of its waits are in that time. Wheels
/// do not know such times. When a wheel finds a timer due, the timer is inserted
/// again, later by the growth of the total since it was registered.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the task itself is paused, regardless of its owner.
    pub(crate) own: bool,
    /// The readings of the task's clocks at the beginning of the pause, by clock.
    /// Empty if no pause is under way; kept to reuse its memory.
    since: Vec<(ClockIndex, u64)>,
    /// How long each clock has been running without the task.
    totals: BTreeMap<ClockIndex, u64>,
    /// The total when the timer that is registered with the task itself was
    /// registered.
    pub(crate) base_ns: u64,
    /// The one wake that is remembered: the phase in which the task will be ready when
    /// the pause ends.
    pub(crate) wake: Option<PhaseIndex>,
    /// Whether that wake came from the waker of a timer that stands still. Any other
    /// wake replaces such a wake.
    pub(crate) is_wake_spare: bool,
    /// The timers that became due during the pause, in that order.
    pub(crate) suspended: Vec<SuspendedTimer>,
}

/// A timer of a paused task that its wheel found due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspendedTimer {
    /// The timer's position among all timers that were suspended.
    pub(crate) order: u64,
    pub(crate) phase: PhaseIndex,
    pub(crate) clock: ClockIndex,
    pub(crate) deadline_ns: u64,
    pub(crate) key: WaitKey,
}

impl Pause {
    /// Begins a pause: the task's time stands still from `readings` on, which are the
    /// readings of its clocks, sorted by clock.
    pub(crate) fn begin(&mut self, readings: &[(ClockIndex, u64)]) {
        self.since.clear();
        self.since.extend_from_slice(readings);
    }

    /// Adds a clock that had no waits when the pause began.
    pub(crate) fn add_clock(&mut self, clock: ClockIndex, now_ns: u64) {
        if self.since.is_empty() {
            return;
        }
        if let Err(index) = self.find(clock) {
            self.since.insert(index, (clock, now_ns));
        }
    }

    /// Ends the pause: the task's time continues from `readings` on.
    pub(crate) fn end(&mut self, readings: &[(ClockIndex, u64)]) {
        for &(clock, now_ns) in readings {
            let since_ns = self.stopped_at(clock).unwrap_or(now_ns);
            let paused_ns = now_ns.saturating_sub(since_ns);
            if paused_ns > 0 {
                let total_ns = self.totals.entry(clock).or_default();
                *total_ns = total_ns.saturating_add(paused_ns);
            }
        }
        self.since.clear();
        if self.totals.len() > readings.len() {
            // No timer of the task counts on the other clocks. So no timer depends on
            // their totals.
            let is_read = |clock| readings.binary_search_by_key(&clock, |&(of, _)| of).is_ok();
            self.totals.retain(|&clock, _| is_read(clock));
        }
    }

    /// The reading of a clock at the beginning of the present pause.
    pub(crate) fn stopped_at(&self, clock: ClockIndex) -> Option<u64> {
        let index = self.find(clock).ok()?;
        Some(self.since[index].1)
    }

    fn find(&self, clock: ClockIndex) -> Result<usize, usize> {
        self.since.binary_search_by_key(&clock, |&(of, _)| of)
    }

    /// Whether nothing has woken the paused task, except the wakers of its own timers,
    /// which stand still.
    pub(crate) fn has_spare_wake(&self) -> bool {
        self.wake.is_none() || self.is_wake_spare
    }

    /// Notes that the remembered wake, if there is one, came from such a waker. Any
    /// other wake replaces it.
    pub(crate) fn note_spare_wake(&mut self) {
        self.is_wake_spare = self.wake.is_some();
    }

    /// How long a clock has been running without the task, in pauses that have
    /// ended.
    pub(crate) fn total_ns(&self, clock: ClockIndex) -> u64 {
        self.totals.get(&clock).copied().unwrap_or(0)
    }
}
