//! The clock that the coroutine being polled counts on.
//!
//! For most that is the game clock, and nothing is done about it. While one of
//! an owner with another clock is polled, that one is shown: plain waits count
//! on it, and the time reads as it does.

#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::time::{ClockRef, ClockState, PhaseIndex, View};

use super::Core;
use super::scope::Scope;
use super::task::{Flags, Task};

/// From where a coroutine counts its own time, so that there is something below:
/// fixed time may stand behind what the coroutine has been paused for.
const ZERO: u64 = 1 << 62;

/// Shows the clock that was shown before, when it is dropped.
pub(super) struct Shown<'a> {
    core: &'a Core,
    clock: Option<Rc<ClockState>>,
    view: Option<View>,
}

impl Core {
    /// Shows the clock of a task for as long as the result is kept.
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

    /// The time that the coroutine polled by `scope` counts on, for what begins
    /// now and goes on in `phase`: what its clock reads, less what it has been
    /// paused for. In a fixed step, the game clock reads the step's time.
    pub(crate) fn own_time_ns(&self, scope: &Scope<'_>, phase: PhaseIndex) -> u64 {
        self.own_time_of(scope, phase, |clock| self.now_ns(clock))
    }

    /// The same for what has begun: in the fixed phase it goes by the time of the
    /// steps, wherever it is looked at.
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
        // It is never the last to hold a clock that user code could see dropped.
        let shown = self.core.own_clock.replace(self.clock.take());
        drop(shown);
    }
}
