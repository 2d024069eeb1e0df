//! The clock on which the code in a scope counts: one that a future has named, or else that of the
//! owner of the coroutine.

use std::cell::Cell;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::cell::Guarded;
use crate::core::scope::Scope;
use crate::core::task::Flags;
use crate::time::{ClockIndex, ClockState, Time};

/// The clock that a future has named which is being polled or dropped.
#[derive(Default)]
pub(crate) struct NamedClock {
    clock: Guarded<Option<Rc<ClockState>>>,
    /// The depth of the scope in which it counts. 0 without a clock.
    depth: Cell<u32>,
}

/// Ends the naming of a clock when it is dropped.
pub(crate) struct Named {
    core: Rc<Core>,
    previous: (Option<Rc<ClockState>>, u32),
}

impl Named {
    /// Names a clock in a scope until the result is dropped.
    pub(crate) fn new(scope: &Scope<'_>, clock: &Rc<ClockState>) -> Self {
        let core = scope.core().rc();
        let previous = core.named.replace((Some(clock.clone()), scope.depth));
        Named { core, previous }
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // If this is the last reference to the clock, no user code can observe the drop.
        drop(self.core.named.replace(std::mem::take(&mut self.previous)));
    }
}

impl NamedClock {
    fn replace(
        &self,
        (clock, depth): (Option<Rc<ClockState>>, u32),
    ) -> (Option<Rc<ClockState>>, u32) {
        (self.clock.replace(clock), self.depth.replace(depth))
    }
}

impl Scope<'_> {
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
        let core = self.core();
        if self.names_clock() {
            let named = core.named.clock.borrow();
            let is_other = |clock: &&Rc<ClockState>| clock.index() != ClockIndex::GAME;
            return named.as_ref().filter(is_other).cloned();
        }
        let owner = core.owners.of(self.current()?)?;
        core.owners.borrow().clock(owner).cloned()
    }
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
