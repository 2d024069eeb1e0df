//! What the wheel holds.

/// A timer: stored, or due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerEntry {
    /// The deadline, in nanoseconds of the timer's clock.
    pub(crate) deadline_ns: u64,
    /// The key that was inserted with the deadline.
    pub(crate) key: u64,
}

impl TimerEntry {
    /// Fills the places of a chunk that hold no timer.
    pub(super) const NEVER: TimerEntry = TimerEntry {
        deadline_ns: u64::MAX,
        key: 0,
    };
}
