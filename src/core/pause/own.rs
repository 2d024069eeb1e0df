//! The own time of a coroutine: the reading of its clock less its pauses.

use crate::core::scope::Scope;
use crate::time::{ClockIndex, ClockRef, PhaseIndex};

/// A point in the own time of a coroutine. It may be less than zero, because a clock
/// may read less in a step than a pause was long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnTime(i128);

impl OwnTime {
    /// The point that is so many nanoseconds after zero.
    pub(crate) fn at(ns: i128) -> Self {
        OwnTime(ns)
    }

    pub(crate) fn plus(self, length_ns: u64) -> Self {
        OwnTime(self.0 + i128::from(length_ns))
    }

    pub(crate) fn minus(self, length_ns: u64) -> Self {
        OwnTime(self.0 - i128::from(length_ns))
    }

    /// What `clock` reads at this point, if the coroutine that `scope` polls is not paused
    /// any more. `None` if the point is beyond the range of clocks. If only the pauses have
    /// moved it beyond, it is the end.
    pub(crate) fn reading(
        self,
        scope: &Scope<'_>,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
    ) -> Option<u64> {
        let paused_ns = paused_ns(scope, phase, clock.index());
        let point_ns = (self.0 + i128::from(paused_ns)).max(0);
        let is_in_range = self.0 <= i128::from(u64::MAX);
        is_in_range.then(|| u64::try_from(point_ns).unwrap_or(u64::MAX))
    }

    /// How far this point is past `earlier`, in nanoseconds. Zero if it is not past it.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        let passed_ns = (self.0 - earlier.0).max(0);
        u64::try_from(passed_ns).unwrap_or(u64::MAX)
    }

    /// The own time on `clock` of the coroutine that `scope` polls, for something that
    /// begins now and continues in `phase`.
    pub(crate) fn at_begin(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
        let core = scope.core();
        let length_ns = 1; // any but zero
        let begin_ns = core
            .phases
            .get(phase)
            .begin_ns(&core.clock, clock, length_ns);
        Self::of(begin_ns, scope, phase, clock)
    }

    /// The same for something that has begun before. It counts in the time of `phase`, even
    /// when it is polled in another phase.
    pub(crate) fn now(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
        let core = scope.core();
        let now_ns = core.phases.get(phase).reached_ns(&core.clock, clock);
        Self::of(now_ns, scope, phase, clock)
    }

    fn of(now_ns: u64, scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
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
