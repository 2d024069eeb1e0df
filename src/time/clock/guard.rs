//! Guards that hold or scale a clock.

use std::fmt;

use super::Clock;
use super::speed::Speed;

/// The guard that [`Clock::pause_guard`] and [`Clock::scaled`] return. Dropping it undoes
/// its part, and nothing else.
///
/// Keep it in a local variable of a script, as in `let _slow = clock().scaled(0.5)`,
/// or in a field. `let _ = ..` drops it at once. It borrows nothing, and needs no
/// lent state when it is dropped. After the executor has been dropped, the guard has
/// no effect.
///
/// [`std::mem::forget`] on a guard leaves its part in effect as long as the clock
/// exists.
#[must_use = "dropping the guard ends its effect: bind it, as in `let _slow = clock().scaled(0.5)`"]
pub struct ClockGuard {
    clock: Clock,
    asks: Asks,
}

/// The effect of a guard on its clock.
#[derive(Clone, Copy)]
pub(crate) enum Asks {
    Hold,
    /// The factor, and its index in the clock's speed.
    Scale(f64, usize),
}

impl ClockGuard {
    /// For an effect that the clock's speed has noted.
    pub(crate) fn restored(clock: &Clock, asks: Asks) -> Self {
        ClockGuard {
            clock: clock.clone(),
            asks,
        }
    }

    pub(crate) fn asks(&self) -> Asks {
        self.asks
    }

    /// For a guard that the clock's speed has noted.
    pub(super) fn hold(clock: &Clock) -> Self {
        ClockGuard {
            clock: clock.clone(),
            asks: Asks::Hold,
        }
    }

    /// For a factor that is at `index` in the clock's speed.
    pub(super) fn scaled(clock: &Clock, factor: f64, index: usize) -> Self {
        ClockGuard {
            clock: clock.clone(),
            asks: Asks::Scale(factor, index),
        }
    }
}

impl Drop for ClockGuard {
    fn drop(&mut self) {
        let undo = |speed: &Speed| match self.asks {
            Asks::Hold => speed.release(),
            Asks::Scale(_, index) => speed.remove_factor(index),
        };
        self.clock.change("drop", undo);
    }
}

impl fmt::Debug for ClockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.asks {
            Asks::Hold => f.write_str("ClockGuard(held)"),
            Asks::Scale(factor, _) => write!(f, "ClockGuard(scaled by {factor})"),
        }
    }
}
