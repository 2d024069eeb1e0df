//! Owners and clocks by number, so that files can name them.

use framestep::time::Clock;
use serde::{Deserialize, Serialize};

use crate::cell::ScriptCell;

/// An owner of scripts, made with [`Runtime::owner`](crate::Host::owner). A plain value: it
/// can be part of the state of a script, or of the game's own save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OwnerId(pub(crate) u64);

/// A clock, made with [`Runtime::child_clock`](crate::Host::child_clock). A plain value,
/// like [`OwnerId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClockId(pub(crate) u32);

impl ClockId {
    /// The game clock.
    pub const GAME: ClockId = ClockId(0);
    /// Realtime.
    pub const REALTIME: ClockId = ClockId(1);
    /// The first clock of a runtime's own.
    pub(crate) const FIRST: u32 = 2;
}

/// The clock of this number, for a script. Outside of a durable one, a clock of the executor.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub(crate) fn clock_of(script: Option<&ScriptCell>, id: ClockId) -> Clock {
    match (script, id) {
        (Some(script), _) => script.shared().expect_clock(id),
        (None, ClockId::GAME) => framestep::time::clock(),
        (None, ClockId::REALTIME) => framestep::time::realtime(),
        (None, _) => panic!(
            "outside of a durable script there is no clock {id:?}: the clocks of a runtime belong \
             to its scripts"
        ),
    }
}

/// Panics at the caller's line if a clock cannot have this scale.
#[track_caller]
pub(crate) fn check_factor(factor: f64, call: &str) {
    assert!(
        factor.is_finite() && factor >= 0.0,
        "`{call}` got {factor}: the scale of a clock is a finite number from 0 on (0 stops the clock)"
    );
}

/// Panics at the caller's line if a clock never changes its speed.
#[track_caller]
pub(crate) fn check_not_realtime(id: ClockId, call: &str) {
    assert!(
        id != ClockId::REALTIME,
        "`{call}` was called on realtime, which nothing slows down: let the host make a clock with \
         `child_clock(ClockId::REALTIME)`"
    );
}
