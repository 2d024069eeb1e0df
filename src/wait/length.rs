//! The length of a wait that is built on other waits.

use std::panic::Location;

use crate::time::Nanos;
use crate::time::Seconds;

/// A length that the awaiting coroutine checks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Finite(u64),
    /// Infinite, or longer than the clocks can count.
    Endless,
    /// NaN, passed at this location.
    Invalid(&'static Location<'static>),
}

impl Length {
    #[track_caller]
    pub(super) fn of(seconds: impl Seconds) -> Self {
        match seconds.length_ns() {
            Nanos::Finite(ns) => Length::Finite(ns),
            Nanos::Negative => Length::Finite(0),
            Nanos::Overflow | Nanos::Infinite => Length::Endless,
            Nanos::NotANumber => Length::Invalid(Location::caller()),
        }
    }

    /// Returns the length in nanoseconds, or `None` if it is endless.
    ///
    /// # Panics
    ///
    /// If the length is NaN, naming the location where `wait` was made.
    #[track_caller]
    pub(super) fn nanos(self, wait: &str) -> Option<u64> {
        match self {
            Length::Finite(ns) => Some(ns),
            Length::Endless => None,
            Length::Invalid(location) => panic!(
                "the `{wait}` made at {location} has a length of NaN: give it a number of \
                 seconds (0 lasts one frame, infinity never ends)"
            ),
        }
    }
}
