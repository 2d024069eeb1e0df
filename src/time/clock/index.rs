//! The number of a clock.

#![forbid(unsafe_code)]

/// Which clock a timer counts on, in the order in which timers due in one run
/// resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClockIndex(u32);

impl ClockIndex {
    /// Which of the clocks it is that follow the game clock, from 1.
    pub(crate) fn number(self) -> u32 {
        self.0.saturating_sub(Self::REALTIME.0)
    }

    pub(crate) const GAME: ClockIndex = ClockIndex(0);
    pub(crate) const REALTIME: ClockIndex = ClockIndex(1);
    /// Of the first clock that follows the game clock.
    pub(crate) const FIRST_CHILD: ClockIndex = ClockIndex(2);
    /// The game clock as fixed steps read it, where pauses are measured.
    pub(crate) const FIXED: ClockIndex = ClockIndex(u32::MAX - 1);
    /// No clock: that of the coroutine that will poll the wait.
    pub(crate) const OWN: ClockIndex = ClockIndex(u32::MAX);

    /// The index of the clock that is made next.
    pub(crate) fn next(self) -> ClockIndex {
        let next = ClockIndex(self.0 + 1);
        assert!(next != Self::FIXED, "more than 2^32 clocks were made");
        next
    }
}
