//! The clock on which the code in a scope counts: one that a future has named, or else that of the
//! owner of the coroutine.

use std::cell::Cell;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::cell::Guarded;
use crate::core::scope::{self, Scope, recording};
use crate::core::task::{Flags, Task};
use crate::inspect::Line;
use crate::time::{ClockIndex, ClockState, Time};

/// The clock that a future has named which is being polled or dropped.
#[derive(Default)]
pub(crate) struct NamedClock {
    clock: Guarded<Option<Rc<ClockState>>>,
    /// The depth of the scope in which it counts, or which [records](super::recording). 0 without one.
    pub(super) depth: Cell<u32>,
}

/// Ends the naming of a clock when it is dropped.
pub(crate) struct Named {
    /// `None` in a replay.
    core: Option<Rc<Core>>,
    previous: (Option<Rc<ClockState>>, u32),
}

impl Named {
    /// Names a clock in a scope until the result is dropped.
    pub(crate) fn new(scope: &Scope<'_>, clock: &Rc<ClockState>) -> Self {
        let core = scope.core().rc();
        let previous = core.named.replace((Some(clock.clone()), scope.depth));
        let core = Some(core);
        Named { core, previous }
    }

    /// The same in the innermost scope, or the replay that is under way. `None` if there is neither.
    pub(crate) fn here(clock: &Rc<ClockState>) -> Option<Self> {
        scope::with(|scope| match scope {
            Some(scope) => Some(Named::new(scope, clock)),
            None => Named::in_replay(clock),
        })
    }

    fn in_replay(clock: &Rc<ClockState>) -> Option<Self> {
        recording::with_replay(|replay| {
            let before = replay?.named.replace(Some(clock.clone()));
            let previous = (before, 0);
            Some(Named {
                core: None,
                previous,
            })
        })
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let previous = std::mem::take(&mut self.previous);
        // If this is the last reference to the clock, no user code can observe the drop.
        drop(match &self.core {
            Some(core) => core.named.replace(previous).0,
            None => recording::with_replay(|replay| replay?.named.replace(previous.0)),
        });
    }
}

/// The clock that a scope further out has named.
pub(super) struct Hidden<'a>(&'a NamedClock, Option<Rc<ClockState>>);

impl Drop for Hidden<'_> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // As in the destructor of `Named`.
        drop(self.0.clock.replace(self.1.take()));
    }
}

impl NamedClock {
    /// Whether a scope further out has named a clock.
    #[inline(always)]
    pub(super) fn is_of_another(&self, scope: &Scope<'_>) -> bool {
        let depth = self.depth.get();
        depth != 0 && depth != scope.depth
    }

    /// No clock is named until the result is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn hide(&self) -> Hidden<'_> {
        Hidden(self, self.clock.replace(None))
    }

    fn replace(
        &self,
        (clock, depth): (Option<Rc<ClockState>>, u32),
    ) -> (Option<Rc<ClockState>>, u32) {
        (self.clock.replace(clock), self.depth.replace(depth))
    }
}

impl Scope<'_> {
    /// Whether a wait for seconds that a recorder will have counts on the game clock, and is not noted.
    pub(crate) fn is_plain_but_recorded(&self) -> bool {
        let counts_on_game = |task: Task<'_>| !task.has(Flags::CLOCK_OR_OBSERVED);
        self.core().named.clock.borrow().is_none() && self.current().is_some_and(counts_on_game)
    }

    /// Whether a wait for seconds that begins here counts on the game clock, and is not noted.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        !self.names_clock()
            && self
                .current()
                .is_none_or(|task| !task.has(Flags::CLOCK_OR_OBSERVED))
    }

    #[inline(always)]
    fn names_clock(&self) -> bool {
        self.core().named.depth.get() == self.depth
    }

    /// The clock on which the code here counts, unless that is the game clock.
    #[inline]
    pub(crate) fn clock(&self) -> Option<Rc<ClockState>> {
        let task = self.current();
        if self.names_clock() || task.is_some_and(|task| task.has(Flags::CLOCK)) {
            self.find_clock()
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn find_clock(&self) -> Option<Rc<ClockState>> {
        match self.named_clock() {
            Some(named) => (named.index() != ClockIndex::GAME).then_some(named),
            None => self.own_clock(),
        }
    }

    /// The clock that a future has named here.
    fn named_clock(&self) -> Option<Rc<ClockState>> {
        let is_here = self.names_clock();
        self.core().named.clock.borrow().clone().filter(|_| is_here)
    }

    /// The clock of the coroutine itself, unless that is the game clock.
    pub(crate) fn own_clock(&self) -> Option<Rc<ClockState>> {
        let core = self.core();
        let owner = core.owners.of(self.current()?)?;
        core.owners.borrow().clock(owner).cloned()
    }
}

/// The clock that a future has named which is polled here.
pub(crate) fn named_clock() -> Option<Rc<ClockState>> {
    scope::with(|scope| match scope {
        Some(scope) => scope.named_clock(),
        None => recording::with_replay(|replay| replay?.named.borrow().clone()),
    })
}

/// The time as the code of a script reads it, which is recorded if the script is. `None` outside of an executor and of
/// replays.
#[inline]
pub(crate) fn read_time(call: &'static str, line: Line) -> Option<Time> {
    scope::with(|scope| match scope {
        Some(scope) if !scope.names_clock() => Some(time(scope)),
        _ => read_time_slowly(call, line),
    })
}

#[cold]
#[inline(never)]
fn read_time_slowly(call: &'static str, line: Line) -> Option<Time> {
    let mut now = || scope::with(|scope| scope.map(time));
    recording::time(call, line, &mut now)
}

/// The same of the length of the frame or the step.
#[inline]
pub(crate) fn read_delta_seconds(line: Line) -> Option<f32> {
    scope::with(|scope| match scope {
        Some(scope) if !scope.names_clock() => Some(time(scope).delta.as_secs_f32()),
        _ => read_delta_slowly(line),
    })
}

#[cold]
#[inline(never)]
fn read_delta_slowly(line: Line) -> Option<f32> {
    let mut now = || scope::with(|scope| Some(time(scope?).delta.as_secs_f32()));
    recording::delta_seconds(line, &mut now)
}

/// The same of the number of the frame.
pub(crate) fn read_frame(call: &'static str, line: Line) -> Option<u64> {
    recording::frame(call, line, &mut frame_here)
}

/// The number of the frame, which is not recorded. `None` outside of an executor.
pub(crate) fn frame_here() -> Option<u64> {
    scope::with(|scope| scope.map(|scope| scope.core().clock.frame()))
}

/// The time as the code in a scope reads it.
#[inline]
pub(crate) fn time(scope: &Scope<'_>) -> Time {
    let core = scope.core();
    match scope.clock() {
        None => core.clock.time(core.running_phase()),
        Some(clock) => clock.time(core.running_phase()),
    }
}
