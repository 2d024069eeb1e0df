//! What durable scripts do to clocks: futures on another clock than that of their coroutine, and
//! guards.

use std::fmt;

use crate::core::scope;
use crate::core::scope::named::Named;
use crate::image::Damaged;
use crate::time::{Asks, AwaitedClock, Clock, ClockGuard, ClockIndex};
use crate::wait::polled_outside;

/// The clock of a future, as for [`on_clock`](crate::wait::on_clock). It is named at each poll, because a restore
/// may make clocks anew.
#[derive(Default)]
pub struct FutureClock {
    /// The clock of the last poll.
    clock: Option<AwaitedClock>,
}

/// Shows the clock of a future until it is dropped.
#[must_use = "the clock is shown until this is dropped"]
pub struct ShowsClock {
    _shows: Named,
}

impl FutureClock {
    /// Shows `clock` while the current coroutine polls the future. It must be a clock of the
    /// executor of that coroutine.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn show(&mut self, clock: &Clock) -> ShowsClock {
        let state = clock.state();
        let Some(named) = Named::here(state) else {
            polled_outside("on_clock()")
        };
        let is_known = |known: &AwaitedClock| known.state().index() == state.index();
        if !self.clock.as_ref().is_some_and(is_known) {
            self.clock = Some(clock.awaited());
        }
        ShowsClock { _shows: named }
    }

    /// Shows the clock of the last poll, if there was one, while the future is dropped.
    pub fn show_in_drop(&self) -> Option<ShowsClock> {
        let state = self.clock.as_ref()?.state();
        let named = scope::with(|scope| {
            let scope = scope.filter(|scope| state.is_of(&scope.core().clock))?;
            Some(Named::new(scope, state))
        })?;
        Some(ShowsClock { _shows: named })
    }
}

/// A guard of a clock, in an image.
#[derive(Clone, Debug)]
pub struct SavedGuard {
    /// Its clock.
    pub clock: Clock,
    /// What it multiplies the speed by, and the number that its clock knows this factor by.
    /// `None` if it holds the clock.
    pub factor: Option<(f64, u64)>,
}

impl SavedGuard {
    /// What an image needs of a guard of `clock`.
    #[must_use]
    pub fn of(guard: &ClockGuard, clock: Clock) -> Self {
        let factor = match guard.asks() {
            Asks::Hold => None,
            Asks::Scale(factor, index) => Some((factor, index as u64)),
        };
        SavedGuard { clock, factor }
    }

    pub(super) fn asks(&self) -> Result<(ClockIndex, Asks), Damaged> {
        let index = self.clock.state().index();
        if index == ClockIndex::REALTIME {
            return Err(Damaged);
        }
        let asks = match self.factor {
            None => Asks::Hold,
            Some((factor, index)) => {
                Asks::Scale(factor, usize::try_from(index).map_err(|_| Damaged)?)
            }
        };
        Ok((index, asks))
    }
}

impl fmt::Debug for FutureClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FutureClock").finish_non_exhaustive()
    }
}

impl fmt::Debug for ShowsClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShowsClock").finish_non_exhaustive()
    }
}
