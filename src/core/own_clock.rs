//! The clock that the coroutine being polled counts on.
//!
//! For most that is the game clock, and nothing is done about it. While one of
//! an owner with another clock is polled, that one is shown: plain waits count
//! on it, and the time reads as it does.

#![forbid(unsafe_code)]

use std::mem::replace;
use std::rc::Rc;

use crate::clock::{ClockState, View};
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

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.core.clock.set_view(self.view);
        let clock = self.clock.take();
        let shown = replace(&mut *self.core.own_clock.borrow_mut(), clock);
        drop(shown);
    }
}
