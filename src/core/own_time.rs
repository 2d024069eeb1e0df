//! The clock on which the coroutine being polled counts.
//!
//! For most coroutines that is the game clock, and needs no work. While a
//! coroutine of an owner with another clock is polled, that clock is *shown*:
//! plain waits count on it, and the time is read from it.

#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::time::{ClockRef, ClockState, PhaseIndex, View};

use super::Core;
use super::scope::Scope;
use super::task::{Flags, Task};

/// The zero of a coroutine's own time. It is not 0, because fixed time may be
/// less than the length of the coroutine's pauses.
const ZERO: u64 = 1 << 62;

/// Shows the previous clock again when it is dropped.
pub(super) struct Shown<'a> {
    core: &'a Core,
    clock: Option<Rc<ClockState>>,
    view: Option<View>,
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

    #[cold]
    #[inline(never)]
    fn show(&self, task: Task<'_>) -> Shown<'_> {
        let owner = self.owner_of(task);
        let clock = {
            let owners = self.owners.borrow();
            owner.and_then(|owner| owners.clock(owner).cloned())
        };
        let view = clock.as_ref().map(ClockState::view);
        Shown {
            core: self,
            view: self.clock.set_view(view),
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
    /// now and continues in `phase`: the reading of its clock less its pauses. In a
    /// fixed step, the game clock reads the step's time.
    pub(crate) fn own_time_ns(&self, scope: &Scope<'_>, phase: PhaseIndex) -> u64 {
        self.own_time_of(scope, phase, |clock| self.now_ns(clock))
    }

    /// The same for something that has begun before. In the fixed phase it reads
    /// the time of the steps, even if it is polled in another phase.
    pub(crate) fn own_time_in(&self, scope: &Scope<'_>, phase: PhaseIndex) -> u64 {
        self.own_time_of(scope, phase, |clock| match clock {
            ClockRef::Game if phase == PhaseIndex::FIXED_UPDATE => self.clock.fixed_ns(),
            clock => self.now_ns(clock),
        })
    }

    fn own_time_of(
        &self,
        scope: &Scope<'_>,
        phase: PhaseIndex,
        read: impl FnOnce(ClockRef<'_>) -> u64,
    ) -> u64 {
        let clock = self.own_clock();
        let clock = clock.as_ref().map_or(ClockRef::Game, ClockState::as_ref);
        let paused_ns = self.paused_ns(scope, phase, clock.index());
        read(clock).saturating_add(ZERO).saturating_sub(paused_ns)
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.core.clock.set_view(self.view);
        // This is never the last reference to a clock whose drop user code could
        // observe.
        let shown = self.core.own_clock.replace(self.clock.take());
        drop(shown);
    }
}
