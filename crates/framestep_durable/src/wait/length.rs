//! The waits on the clocks of a runtime.

use framestep::time::{Clock, Seconds};
use framestep::wait::WaitSeconds;

use crate::ids::ClockId;
use crate::script::{clock_of, context};

impl ClockId {
    /// Waits until `seconds` of this clock have passed since the first poll. See
    /// [`framestep::time::Clock::wait_seconds`].
    ///
    /// # Panics
    ///
    /// If there is no such clock; or when polled, if `seconds` is NaN.
    #[track_caller]
    pub fn wait_seconds(self, seconds: impl Seconds) -> WaitSeconds {
        self.here().wait_seconds(seconds)
    }

    /// Waits until this clock reads `point`. See [`framestep::time::Clock::wait_until`].
    ///
    /// # Panics
    ///
    /// If there is no such clock; or when polled, if `point` is NaN.
    #[track_caller]
    pub fn wait_until(self, point: impl Seconds) -> WaitSeconds {
        self.here().wait_until(point)
    }

    /// The clock of the runtime whose script is polled or replayed.
    #[track_caller]
    fn here(self) -> Clock {
        clock_of(context::current().as_deref(), self)
    }
}
