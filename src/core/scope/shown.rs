//! The clock on which the coroutine being polled counts.
//!
//! Most coroutines count on the game clock, which needs no work. While a coroutine of an
//! owner with another clock is polled, that clock is *shown*: plain waits count on it, and
//! the time is read from it.

use std::cell::Cell;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::cell::Guarded;
use crate::core::owners::Owners;
use crate::core::task::{Flags, Task};
use crate::time::{ClockIndex, ClockState, FrameClock};

/// The clock that is shown, beside the executor's own clocks.
pub(crate) struct ShownClock {
    frames: Rc<FrameClock>,
    /// `None`: the game clock.
    clock: Guarded<Option<Rc<ClockState>>>,
    /// Whether a plain wait may begin on the game clock with no further look: no other
    /// clock is shown, and the coroutine being polled is not observed.
    pub(crate) is_plain: Cell<bool>,
}

/// Shows the previous clock again when it is dropped, as it reads then.
pub(crate) struct Shows<'a> {
    shown: &'a ShownClock,
    previous: Option<Rc<ClockState>>,
    was_plain: bool,
}

/// The same for a caller that cannot borrow the executor.
pub(crate) struct ShowsIn {
    core: Rc<Core>,
    previous: Option<Rc<ClockState>>,
    was_plain: bool,
}

impl ShownClock {
    pub(crate) fn new(frames: Rc<FrameClock>) -> Self {
        ShownClock {
            frames,
            clock: Guarded::default(),
            is_plain: Cell::new(true),
        }
    }

    /// The clock that plain waits count on now, unless it is the game clock.
    #[inline]
    pub(crate) fn clock(&self) -> Option<Rc<ClockState>> {
        if self.frames.has_view() {
            self.clock.borrow().clone()
        } else {
            None
        }
    }

    /// Shows the clock of a task until the result is dropped.
    #[inline]
    pub(crate) fn show_of(&self, owners: &Guarded<Owners>, task: Task<'_>) -> Option<Shows<'_>> {
        if task.has(Flags::CLOCK) || self.frames.has_view() {
            Some(self.show_of_owner(owners, task))
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn show_of_owner(&self, owners: &Guarded<Owners>, task: Task<'_>) -> Shows<'_> {
        let owner = owners.of(task);
        let clock = {
            let owners = owners.borrow();
            owner.and_then(|owner| owners.clock(owner).cloned())
        };
        self.show(clock)
    }

    /// Notes that time has moved. The host may move it in a destructor, while the clock of
    /// the coroutine is shown.
    #[inline(always)]
    pub(crate) fn note_moved(&self, frames: &FrameClock) {
        if frames.has_view() {
            self.read_again();
        }
    }

    #[cold]
    #[inline(never)]
    fn read_again(&self) {
        let clock = self.clock.borrow();
        self.frames.set_view(clock.as_ref().map(ClockState::view));
    }

    /// Shows the game clock until the result is dropped, for calls by the host. Such a call
    /// may come from a destructor while the clock of its coroutine is shown.
    #[inline]
    pub(crate) fn show_game(&self) -> Option<Shows<'_>> {
        self.frames.has_view().then(|| self.show(None))
    }

    /// Shows a clock until the result is dropped, while a future is polled or dropped on
    /// it.
    pub(crate) fn show_clock(&self, clock: &Rc<ClockState>) -> Shows<'_> {
        self.show(unless_game(clock))
    }

    fn show(&self, clock: Option<Rc<ClockState>>) -> Shows<'_> {
        let (previous, was_plain) = self.replace(clock);
        Shows {
            shown: self,
            previous,
            was_plain,
        }
    }

    /// Shows a clock. Returns what [`put_back`](Self::put_back) needs.
    fn replace(&self, clock: Option<Rc<ClockState>>) -> (Option<Rc<ClockState>>, bool) {
        self.frames.set_view(clock.as_ref().map(ClockState::view));
        let was_plain = self.is_plain.get();
        self.is_plain.set(was_plain && clock.is_none());
        (self.clock.replace(clock), was_plain)
    }

    fn put_back(&self, previous: Option<Rc<ClockState>>, was_plain: bool) {
        let view = previous.as_ref().map(ClockState::view);
        self.frames.set_view(view);
        self.is_plain.set(was_plain);
        // If this is the last reference to the clock, no user code can observe the drop.
        let shown = self.clock.replace(previous);
        drop(shown);
    }
}

fn unless_game(clock: &Rc<ClockState>) -> Option<Rc<ClockState>> {
    (clock.index() != ClockIndex::GAME).then(|| clock.clone())
}

impl Drop for Shows<'_> {
    fn drop(&mut self) {
        self.shown.put_back(self.previous.take(), self.was_plain);
    }
}

impl ShowsIn {
    /// Shows a clock of an executor until the result is dropped.
    pub(crate) fn show(core: Rc<Core>, clock: &Rc<ClockState>) -> Self {
        let (previous, was_plain) = core.shown.replace(unless_game(clock));
        ShowsIn {
            core,
            previous,
            was_plain,
        }
    }
}

impl Drop for ShowsIn {
    fn drop(&mut self) {
        let previous = self.previous.take();
        self.core.shown.put_back(previous, self.was_plain);
    }
}
