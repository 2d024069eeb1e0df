//! The own time of a coroutine: the reading of its clock less its pauses.

use crate::core::phase::state::PhaseState;
use crate::core::scope::Scope;
use crate::time::{ClockIndex, ClockRef, ClockState, PhaseIndex};

/// A point in the own time of a coroutine. It may be less than zero, because a clock
/// may read less in a step than a pause was long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnTime(i128);

impl OwnTime {
    pub(crate) fn plus(self, length_ns: u64) -> Self {
        OwnTime(self.0 + i128::from(length_ns))
    }

    pub(crate) fn minus(self, length_ns: u64) -> Self {
        OwnTime(self.0 - i128::from(length_ns))
    }

    /// How far this point is past `earlier`, in nanoseconds. Zero if it is not past it.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        let passed_ns = (self.0 - earlier.0).max(0);
        u64::try_from(passed_ns).unwrap_or(u64::MAX)
    }

    /// The own time of the coroutine that `scope` polls, for something that begins
    /// now and continues in `phase`.
    pub(crate) fn at_begin(scope: &Scope<'_>, phase: PhaseIndex) -> Self {
        let clock = &scope.core().clock;
        Self::read(scope, phase, |state, of| state.begin_ns(clock, of))
    }

    /// The same for something that has begun before. It counts in the time of `phase`, even
    /// when it is polled in another phase.
    pub(crate) fn now(scope: &Scope<'_>, phase: PhaseIndex) -> Self {
        let clock = &scope.core().clock;
        Self::read(scope, phase, |state, of| state.reached_ns(clock, of))
    }

    fn read(
        scope: &Scope<'_>,
        phase: PhaseIndex,
        read: impl FnOnce(&PhaseState, ClockRef<'_>) -> u64,
    ) -> Self {
        let core = scope.core();
        let clock = core.shown.clock();
        let clock = clock.as_ref().map_or(ClockRef::Game, ClockState::as_ref);
        let now_ns = read(core.phases.get(phase), clock);
        // A clock at its end has no time left to make up for a pause.
        let paused_ns = if now_ns == u64::MAX {
            0
        } else {
            paused_ns(scope, phase, clock.index())
        };
        OwnTime(i128::from(now_ns) - i128::from(paused_ns))
    }

    /// The nanoseconds since the coroutine's clock read zero, less its pauses.
    pub(crate) fn ns(self) -> i128 {
        self.0
    }
}

/// How long the coroutine that `scope` polls has been paused, as its clock counts
/// for something that continues in `phase`.
pub(crate) fn own_pauses_ns(scope: &Scope<'_>, phase: PhaseIndex) -> u64 {
    let core = scope.core();
    let clock = core.shown.clock();
    let clock = clock.as_ref().map_or(ClockRef::Game, ClockState::as_ref);
    paused_ns(scope, phase, clock.index())
}

/// How long the coroutine that `scope` polls has been paused, as `clock` counts in
/// runs of `phase`, without the present pause.
#[inline(always)]
pub(crate) fn paused_ns(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockIndex) -> u64 {
    let core = scope.core();
    if !core.pauses.any() {
        return 0;
    }
    let timers = core.paused_timers();
    let paused_ns = |task| timers.paused_before_ns(task, phase, clock);
    scope.current().map_or(0, paused_ns)
}
