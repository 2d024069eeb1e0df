//! The clock on which the coroutine being polled counts.
//!
//! For most coroutines that is the game clock, and needs no work. While a
//! coroutine of an owner with another clock is polled, that clock is *shown*:
//! plain waits count on it, and the time is read from it.

#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef, ClockState, PhaseIndex};

use super::Core;
use super::call;
use super::scope::Scope;
use super::task::{Flags, Task};

/// A point in the own time of a coroutine: the reading of a clock less the
/// coroutine's pauses. It may be less than zero, because a clock may read less in a
/// step than a pause was long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnTime(i128);

impl OwnTime {
    pub(crate) fn plus(self, length_ns: u64) -> Self {
        OwnTime(self.0 + i128::from(length_ns))
    }

    pub(crate) fn minus(self, length_ns: u64) -> Self {
        OwnTime(self.0 - i128::from(length_ns))
    }

    /// How far it is past `earlier`; zero if it is not.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        let passed_ns = (self.0 - earlier.0).max(0);
        u64::try_from(passed_ns).unwrap_or(u64::MAX)
    }
}

/// Shows the previous clock again when it is dropped, as it reads then.
pub(super) struct Shown<'a> {
    core: &'a Core,
    clock: Option<Rc<ClockState>>,
}

impl Core {
    /// Shows the clock of a task until the result is dropped.
    #[inline]
    pub(super) fn show_clock_of(&self, task: Task<'_>) -> Option<Shown<'_>> {
        if task.has(Flags::CLOCK) || self.clock.has_view() {
            Some(self.show(task))
        } else {
            None
        }
    }

    /// Shows the game clock until the result is dropped, for what the host does: a
    /// destructor may do it, while the clock of its coroutine is shown.
    #[inline]
    pub(super) fn show_game_clock(&self) -> Option<Shown<'_>> {
        self.clock.has_view().then(|| self.show_clock(None))
    }

    #[cold]
    #[inline(never)]
    fn show(&self, task: Task<'_>) -> Shown<'_> {
        let owner = self.owner_of(task);
        let clock = {
            let owners = self.owners.borrow();
            owner.and_then(|owner| owners.clock(owner).cloned())
        };
        self.show_clock(clock)
    }

    /// Calls `f`, a poll or a drop, while `clock` is shown.
    pub(crate) fn on_clock<R>(&self, clock: &Rc<ClockState>, f: impl FnOnce() -> R) -> R {
        let is_game = clock.index() == ClockIndex::GAME;
        let _shown = self.show_clock((!is_game).then(|| clock.clone()));
        call::out(f)
    }

    /// Has the pauses of a task measure `clock` too, on which a future of it counts.
    pub(crate) fn measure_clock(&self, task: Task<'_>, clock: &Rc<ClockState>) {
        if !matches!(clock.as_ref(), ClockRef::Child(_)) {
            return; // It is always measured.
        }
        let is_new = self.tasks.cold_or_new(task, |cold| {
            let clocks = &mut cold.future_clocks;
            // The future of another one has ended, and with it the last use.
            clocks.retain(|clock| Rc::strong_count(clock) > 1);
            let is_new = !clocks.iter().any(|known| Rc::ptr_eq(known, clock));
            if is_new {
                clocks.push(clock.clone());
            }
            is_new
        });
        if is_new {
            self.measure_in_pause(task, clock);
        }
    }

    fn show_clock(&self, clock: Option<Rc<ClockState>>) -> Shown<'_> {
        self.clock.set_view(clock.as_ref().map(ClockState::view));
        Shown {
            core: self,
            clock: self.own_clock.replace(clock),
        }
    }

    /// The clock that plain waits count on now, unless it is the game clock.
    #[inline]
    pub(crate) fn own_clock(&self) -> Option<Rc<ClockState>> {
        if self.clock.has_view() {
            self.own_clock.borrow().clone()
        } else {
            None
        }
    }

    /// The own time of the coroutine that `scope` polls, for something that begins
    /// now and continues in `phase`.
    pub(crate) fn own_time(&self, scope: &Scope<'_>, phase: PhaseIndex) -> OwnTime {
        let state = self.phases.get(phase);
        self.own_time_of(scope, phase, |clock| self.begin_ns(state, clock))
    }

    /// The same for something that has begun before. It reads the time of `phase`,
    /// even if it is polled in another phase.
    pub(crate) fn own_time_in(&self, scope: &Scope<'_>, phase: PhaseIndex) -> OwnTime {
        self.own_time_of(scope, phase, |clock| self.now_ns(phase, clock))
    }

    /// What `clock` reads now for a wait of `phase` that has begun.
    pub(crate) fn now_ns(&self, phase: PhaseIndex, clock: ClockRef<'_>) -> u64 {
        let state = self.phases.get(phase);
        self.reached_ns(state, clock)
    }

    /// How long the coroutine that `scope` polls has been paused, as its clock counts
    /// for something that continues in `phase`.
    pub(crate) fn own_pauses_ns(&self, scope: &Scope<'_>, phase: PhaseIndex) -> u64 {
        let clock = self.own_clock();
        let clock = clock.as_ref().map_or(ClockRef::Game, ClockState::as_ref);
        self.paused_ns(scope, phase, clock.index())
    }

    fn own_time_of(
        &self,
        scope: &Scope<'_>,
        phase: PhaseIndex,
        read: impl FnOnce(ClockRef<'_>) -> u64,
    ) -> OwnTime {
        let clock = self.own_clock();
        let clock = clock.as_ref().map_or(ClockRef::Game, ClockState::as_ref);
        let now_ns = read(clock);
        // A clock at its end has no time left to make up for a pause.
        let paused_ns = if now_ns == u64::MAX {
            0
        } else {
            self.paused_ns(scope, phase, clock.index())
        };
        OwnTime(i128::from(now_ns) - i128::from(paused_ns))
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let view = self.clock.as_ref().map(ClockState::view);
        self.core.clock.set_view(view);
        // This is never the last reference to a clock whose drop user code could
        // observe.
        let shown = self.core.own_clock.replace(self.clock.take());
        drop(shown);
    }
}
