//! The number of a clock.

/// Which clock a timer counts on. In one run, timers resume in the order of
/// this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClockIndex(u32);

/// The bit of an index that stands for stepped time.
const STEPPED: u32 = 1 << 31;

impl ClockIndex {
    /// The number of a clock that was made by `child`, from 1.
    pub(crate) fn number(self) -> u32 {
        (self.0 & !STEPPED).saturating_sub(Self::REALTIME.0)
    }

    pub(crate) const GAME: ClockIndex = ClockIndex(0);
    pub(crate) const REALTIME: ClockIndex = ClockIndex(1);
    /// The first clock that is made by `child`.
    pub(crate) const FIRST_CHILD: ClockIndex = ClockIndex(2);
    /// Fixed time: the game clock in stepped time.
    pub(crate) const FIXED: ClockIndex = Self::GAME.stepped();
    /// No clock: a placeholder for the clock of the coroutine that will poll
    /// the wait.
    pub(crate) const OWN: ClockIndex = ClockIndex(u32::MAX);

    /// The same clock in stepped time, to measure pauses.
    pub(crate) const fn stepped(self) -> ClockIndex {
        ClockIndex(self.0 | STEPPED)
    }

    /// Whether this stands for a clock in stepped time.
    pub(crate) const fn is_stepped(self) -> bool {
        self.0 & STEPPED != 0
    }

    /// The index of the clock that is made next.
    pub(crate) fn next(self) -> ClockIndex {
        let next = ClockIndex(self.0 + 1);
        assert!(next.0 < STEPPED, "more than 2^31 clocks were made");
        next
    }
}
