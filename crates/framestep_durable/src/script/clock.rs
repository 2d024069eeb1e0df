//! What a script reads of a clock, and does to it.

use std::time::Duration;

use framestep::time::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::ids::ClockId;
use crate::journal::Call;
use crate::script::{ScriptCell, context, expect_read};

/// The game clock: [`ClockId::GAME`]. See [`framestep::time::clock`].
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// let _slow = clock().scaled(0.5);
/// wait_seconds(1).await;
/// # }
/// ```
pub const fn clock() -> ClockId {
    ClockId::GAME
}

/// Realtime: [`ClockId::REALTIME`]. See [`framestep::time::realtime`].
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// on_clock(realtime(), wait_seconds(1)).await; // even while the game is paused
/// # }
/// ```
pub const fn realtime() -> ClockId {
    ClockId::REALTIME
}

/// Calls `f` with a clock, and records the result. Outside of a durable script, calls it with the
/// executor's own clock.
#[track_caller]
fn with_clock<R: Serialize + DeserializeOwned + Default>(
    name: &'static str,
    id: ClockId,
    f: impl FnOnce(&Clock) -> R,
) -> R {
    let caller = Call::new(name, "").giving::<R>();
    let Some(script) = context::current() else {
        return f(&clock_of(None, id));
    };
    let done = script.effect(caller, || Bytes::of(&f(&script.shared().clocks.expect(id))));
    done.map_or_else(R::default, |done| expect_read(&done))
}

/// Reading a clock and changing it, from a script. What these return is recorded, and what they
/// change is not changed again when the script is restored. Outside of a durable script, they work
/// for [`GAME`](ClockId::GAME) and [`REALTIME`](ClockId::REALTIME).
///
/// Each panics if there is no such clock, or outside of an executor.
impl ClockId {
    /// The reading of the clock. See [`framestep::time::Clock::now`].
    #[track_caller]
    pub fn now(self) -> Duration {
        with_clock("now", self, Clock::now)
    }

    /// How far the clock advanced in this frame or step. See [`framestep::time::Clock::delta`].
    #[track_caller]
    pub fn delta(self) -> Duration {
        with_clock("delta", self, Clock::delta)
    }

    /// The scale that was set last, without guards. See [`framestep::time::Clock::scale`].
    #[track_caller]
    pub fn scale(self) -> f64 {
        with_clock("scale", self, Clock::scale)
    }

    /// How fast the clock runs in this frame or step. See [`framestep::time::Clock::effective_scale`].
    #[track_caller]
    pub fn effective_scale(self) -> f64 {
        with_clock("effective_scale", self, Clock::effective_scale)
    }

    /// Whether the clock itself is paused or held. See [`framestep::time::Clock::is_paused`].
    #[track_caller]
    pub fn is_paused(self) -> bool {
        with_clock("is_paused", self, Clock::is_paused)
    }

    /// Changes the scale of the clock. See [`framestep::time::Clock::set_scale`]. The last call wins:
    /// scripts beside each other use [`scaled`](ClockId::scaled).
    ///
    /// # Panics
    ///
    /// If the scale is negative or not finite; if there is no such clock, or it is realtime; or
    /// outside of an executor.
    #[track_caller]
    pub fn set_scale(self, scale: impl Into<f64>) {
        let scale = scale.into();
        check_factor(scale, "set_scale");
        check_not_realtime(self, "set_scale");
        with_clock("set_scale", self, |clock| clock.set_scale(scale));
    }

    /// Pauses the clock. Returns `false` if it was paused. Scripts beside each other use
    /// [`pause_guard`](ClockId::pause_guard).
    ///
    /// # Panics
    ///
    /// If there is no such clock, or it is realtime; or outside of an executor.
    #[track_caller]
    pub fn pause(self) -> bool {
        check_not_realtime(self, "pause");
        with_clock("pause", self, Clock::pause)
    }

    /// Resumes the clock. Returns `false` if it was not paused.
    ///
    /// # Panics
    ///
    /// If there is no such clock; or outside of an executor.
    #[track_caller]
    pub fn resume(self) -> bool {
        with_clock("resume", self, Clock::resume)
    }
}

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
