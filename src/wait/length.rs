//! The length of a wait that is made of other waits.

use std::panic::Location;

use crate::time::Nanos;
use crate::time::Seconds;

/// What was given as a length, to be looked at in the awaiting coroutine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Finite(u64),
    /// Infinite, or longer than the clocks count.
    Endless,
    /// NaN, given at this place.
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

    /// `None`: it never ends.
    ///
    /// # Panics
    ///
    /// If it was NaN, naming the place where `wait` was made.
    pub(super) fn nanos(self, wait: &str) -> Option<u64> {
        match self {
            Length::Finite(ns) => Some(ns),
            Length::Endless => None,
            Length::Invalid(location) => panic!(
                "the `{wait}` made at {location} has a length of NaN: give it a number of \
                 seconds (0 lasts one frame, infinity for ever)"
            ),
        }
    }
}
