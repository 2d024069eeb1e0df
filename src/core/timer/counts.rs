//! Waits for two or more frames, or for two or more runs of a phase.

use crate::core::base::key::WaitKey;

use super::wheel::{Standing, TICK_BITS, TimerEntry, Wheel};

/// The waits, by the number of the frame or the run from which on they are due.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    frames: Wheel,
    runs: Wheel,
    due: Vec<TimerEntry>,
}

/// What a wait counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Frames,
    Runs,
}

/// A count as a deadline of the wheel. The wheel sorts by ticks: one count in each tick.
/// `None` if no executor reaches the count.
fn deadline(count: u64) -> Option<u64> {
    count.checked_mul(1 << TICK_BITS)
}

impl Counts {
    fn wheel(&mut self, unit: Unit) -> &mut Wheel {
        match unit {
            Unit::Frames => &mut self.frames,
            Unit::Runs => &mut self.runs,
        }
    }

    /// Whether nothing is stored, not even a stale key.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.runs.is_empty()
    }

    /// Whether an executor may reach the frame or run of number `due`.
    pub(crate) fn may_reach(due: u64) -> bool {
        deadline(due).is_some()
    }

    /// Adds a wait that is due in the frame or run of number `due`, or a later one.
    pub(crate) fn insert(&mut self, unit: Unit, due: u64, key: WaitKey) {
        if let Some(deadline) = deadline(due) {
            self.wheel(unit).insert(deadline, key.bits());
        }
    }

    /// Moves the waits that are due to `due`. Waits that count frames come first, then
    /// waits that count runs. Both are in order by number, then by registration.
    pub(crate) fn expire(&mut self, frame: u64, run: u64, due: &mut Vec<WaitKey>) {
        for (wheel, now) in [(&mut self.frames, frame), (&mut self.runs, run)] {
            if let Some(now) = deadline(now).filter(|_| !wheel.is_empty()) {
                wheel.expire(now, &mut self.due);
            }
        }
        due.extend(self.due.drain(..).map(|due| WaitKey::from_bits(due.key)));
    }

    /// Notes that a wait was dropped.
    pub(crate) fn note_stale(&mut self, unit: Unit, is_live: impl Fn(WaitKey) -> bool) {
        self.wheel(unit)
            .note_dead(|entry| is_live(WaitKey::from_bits(entry.key)));
    }

    /// Whether a wait is stored that is neither dead nor held. Between calls with the same
    /// `moment`, no wait may cease to be held.
    pub(crate) fn is_waiting(
        &mut self,
        moment: u64,
        standing: impl Fn(TimerEntry) -> Standing,
    ) -> bool {
        self.frames.earliest(moment, &standing).is_some()
            || self.runs.earliest(moment, &standing).is_some()
    }

    /// Calls `f` with each wait: its unit, the number from which on it is due, and its
    /// key. The key may be stale. Of waits with the same number, the first comes first.
    pub(crate) fn each(&self, mut f: impl FnMut(Unit, u64, WaitKey)) {
        for (unit, wheel) in [(Unit::Frames, &self.frames), (Unit::Runs, &self.runs)] {
            wheel.for_each(|entry| {
                let key = WaitKey::from_bits(entry.key);
                f(unit, entry.deadline_ns >> TICK_BITS, key);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Standing, TimerEntry, Unit};
    use crate::core::base::key::WaitKey;

    #[test]
    fn counts_come_up_by_number_then_by_registration_frames_first() {
        let mut counts = Counts::default();
        let adds = [
            (Unit::Runs, 4, 0),
            (Unit::Frames, 5, 1),
            (Unit::Frames, 4, 2),
            (Unit::Frames, 5, 3),
        ];
        for (unit, due, index) in adds {
            counts.insert(unit, due, WaitKey::of_task(index, 0));
        }
        let mut due = Vec::new();
        let is_waiting = |counts: &mut Counts| counts.is_waiting(0, waiting);
        counts.expire(3, 3, &mut due);
        assert!(due.is_empty() && is_waiting(&mut counts));
        counts.expire(5, 4, &mut due);
        let due: Vec<u32> = due.iter().map(|key| key.index()).collect();
        assert_eq!(due, [2, 1, 3, 0]);
        assert!(!is_waiting(&mut counts));
    }

    #[test]
    fn a_count_that_no_executor_reaches_is_not_waited_for() {
        let mut counts = Counts::default();
        counts.insert(Unit::Frames, u64::MAX, WaitKey::of_task(0, 0));
        assert!(!counts.is_waiting(0, waiting));
    }

    fn waiting(_: TimerEntry) -> Standing {
        Standing::Waiting
    }
}
