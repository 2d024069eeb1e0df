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

/// How long what has no end lasts in rounds, or in a sequence: 292 years.
const ENDLESS_NS: u64 = u64::MAX / 2;

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

    /// The length of so many rounds. `None` is without end.
    pub(super) fn in_rounds(self, rounds: Option<u32>) -> Self {
        match (self, rounds) {
            (Length::Finite(ns), Some(rounds)) => {
                Length::Finite(ns.saturating_mul(rounds.into()).min(ENDLESS_NS))
            }
            (Length::Finite(_), None) => Length::Finite(ENDLESS_NS),
            (length, _) => length,
        }
    }

    /// The length of this and then `next`.
    pub(super) fn then(self, next: Self) -> Self {
        match (self, next) {
            (invalid @ Length::Invalid(_), _) | (_, invalid @ Length::Invalid(_)) => invalid,
            _ => Length::Finite(
                self.finite_ns()
                    .saturating_add(next.finite_ns())
                    .min(ENDLESS_NS),
            ),
        }
    }

    /// The length in nanoseconds. One without end is longer than any sum of others.
    pub(super) fn finite_ns(self) -> u64 {
        match self {
            Length::Finite(ns) => ns,
            Length::Endless | Length::Invalid(_) => ENDLESS_NS,
        }
    }
}
