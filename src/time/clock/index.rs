//! The number of a clock.

#![forbid(unsafe_code)]

/// Which clock a timer counts on. The order is that in which the timers of one
/// run resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClockIndex(u32);

impl ClockIndex {
    /// The number of a clock that was made by `child`, from 1.
    pub(crate) fn number(self) -> u32 {
        self.0.saturating_sub(Self::REALTIME.0)
    }

    pub(crate) const GAME: ClockIndex = ClockIndex(0);
    pub(crate) const REALTIME: ClockIndex = ClockIndex(1);
    /// The first clock that is made by `child`.
    pub(crate) const FIRST_CHILD: ClockIndex = ClockIndex(2);
    /// The game clock as fixed steps read it, for the measure of pauses.
    pub(crate) const FIXED: ClockIndex = ClockIndex(u32::MAX - 1);
    /// No clock: stands for the clock of the coroutine that will poll the wait.
    pub(crate) const OWN: ClockIndex = ClockIndex(u32::MAX);

    /// The index of the clock that is made next.
    pub(crate) fn next(self) -> ClockIndex {
        let next = ClockIndex(self.0 + 1);
        assert!(next != Self::FIXED, "more than 2^32 clocks were made");
        next
    }
}
