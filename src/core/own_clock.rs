//! The clock that the coroutine being polled counts on.
//!
//! For most that is the game clock, and nothing is done about it. While one of
//! an owner with another clock is polled, that one is shown: plain waits count
//! on it, and the time reads as it does.

#![forbid(unsafe_code)]

use std::mem::replace;
use std::rc::Rc;

use crate::clock::{ClockRef, ClockState, View};
use crate::context::Level;
use crate::phase::PhaseIndex;
use crate::task::{Flags, TaskRef};

use super::Core;

/// Shows the clock that was shown before, when it is dropped.
pub(super) struct Shown<'a> {
    core: &'a Core,
    clock: Option<Rc<ClockState>>,
    view: Option<View>,
}

impl Core {
    /// Shows the clock of a task for as long as the result is kept.
    #[inline]
    pub(super) fn show_clock_of(&self, task: TaskRef) -> Option<Shown<'_>> {
        if task.has(Flags::CLOCK) || self.clock.has_view() {
            Some(self.show(task))
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn show(&self, task: TaskRef) -> Shown<'_> {
        let owner = self.owner_of(task);
        let clock = {
            let owners = self.owners.borrow();
            owner.and_then(|owner| owners.clock(owner).cloned())
        };
        let view = clock.as_ref().map(ClockState::view);
        let view = self.clock.set_view(view);
        let clock = replace(&mut *self.own_clock.borrow_mut(), clock);
        Shown {
            core: self,
            clock,
            view,
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
}

/// The time that the coroutine being polled counts on: what its clock reads,
/// less what it has been paused for.
#[derive(Clone, Copy)]
pub(crate) struct OwnTime {
    /// As the clock reads: in a fixed step, the game clock reads the step's time.
    pub(crate) now_ns: u64,
    /// How far the clock gets in this frame.
    pub(crate) reached_ns: u64,
}

impl Core {
    /// For a wait that resumes in `phase`.
    pub(crate) fn own_time(&self, level: &Level, phase: PhaseIndex) -> OwnTime {
        let clock = self.own_clock();
        let clock = clock.as_ref().map_or(ClockRef::Game, ClockRef::Child);
        let paused_ns = self.paused_ns(level, phase, clock.index());
        OwnTime {
            now_ns: self.now_ns(clock).saturating_sub(paused_ns),
            reached_ns: self.reached_ns(clock).saturating_sub(paused_ns),
        }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.core.clock.set_view(self.view);
        let clock = self.clock.take();
        let shown = replace(&mut *self.core.own_clock.borrow_mut(), clock);
        drop(shown);
    }
}
