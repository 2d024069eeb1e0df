//! What durable scripts do to clocks: guards.

use crate::image::Damaged;
use crate::time::{Asks, Clock, ClockGuard, ClockIndex};

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
            Some(Asks::Scale(factor, index)) => Some((factor, index as u64)),
            Some(Asks::Hold) | None => None,
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
