//! Owners and clocks by number, so that files can name them.

use framestep::time::Clock;

use crate::cell::ScriptCell;
use crate::ids::ClockId;

/// The clock of this number, for a script. Outside of a durable one, a clock of the executor.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub(crate) fn clock_of(script: Option<&ScriptCell>, id: ClockId) -> Clock {
    match (script, id) {
        (Some(script), _) => script.shared().clocks.expect(id),
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
