//! Guards that hold or scale a clock.

use std::any::Any;
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
    of: Of,
}

enum Of {
    Clock(Held),
    /// Taken by a durable script, whose recorder has the guard of the clock. It is told by the drop.
    Recorder {
        _kept: Box<dyn Any>,
    },
}

struct Held {
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
        let clock = clock.clone();
        let of = Of::Clock(Held { clock, asks });
        ClockGuard { of }
    }

    /// One that a recorder keeps.
    pub(crate) fn kept(kept: Box<dyn Any>) -> Self {
        let of = Of::Recorder { _kept: kept };
        ClockGuard { of }
    }

    /// What it asks of its clock. `None` if a recorder keeps it.
    pub(crate) fn asks(&self) -> Option<Asks> {
        match &self.of {
            Of::Clock(held) => Some(held.asks),
            Of::Recorder { .. } => None,
        }
    }

    /// For a guard that the clock's speed has noted.
    pub(super) fn hold(clock: &Clock) -> Self {
        ClockGuard::restored(clock, Asks::Hold)
    }

    /// For a factor that is at `index` in the clock's speed.
    pub(super) fn scaled(clock: &Clock, factor: f64, index: usize) -> Self {
        ClockGuard::restored(clock, Asks::Scale(factor, index))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let undo = |speed: &Speed| match self.asks {
            Asks::Hold => speed.release(),
            Asks::Scale(_, index) => speed.remove_factor(index),
        };
        self.clock.change(undo);
    }
}

impl fmt::Debug for ClockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.asks() {
            Some(Asks::Hold) => f.write_str("ClockGuard(held)"),
            Some(Asks::Scale(factor, _)) => write!(f, "ClockGuard(scaled by {factor})"),
            None => f.write_str("ClockGuard(of a durable script)"),
        }
    }
}
