//! How an executor is set up.

use crate::clock::FrameClock;
use crate::core::Core;
use crate::seconds::Nanos;
use crate::{Executor, Seconds};

const MILLISECOND_NS: u64 = 1_000_000;

/// Sets up an [`Executor`]; made by [`Executor::builder`].
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let executor = Executor::builder()
///     .fixed_delta(1.0 / 30.0) // 30 steps a second
///     .max_delta(f32::INFINITY) // however long a frame takes
///     .build();
/// assert_eq!(executor.time().fixed_delta.as_millis(), 33);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder {
    fixed_delta_ns: u64,
    max_delta_ns: u64,
    max_polls_per_run: u32,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            fixed_delta_ns: 20 * MILLISECOND_NS,
            // Unity's third of a second: 1.0 / 3.0 as an `f32` reads, so that a dt
            // of that is not cut.
            max_delta_ns: 333_333_340,
            max_polls_per_run: 1000,
        }
    }
}

impl Builder {
    /// The length of a fixed step; 0.02 s by default.
    ///
    /// # Panics
    ///
    /// If it is not a finite length above zero.
    #[track_caller]
    pub fn fixed_delta(mut self, seconds: impl Seconds) -> Self {
        match seconds.length_ns() {
            Nanos::Finite(ns) if ns > 0 => self.fixed_delta_ns = ns,
            _ => panic!("`fixed_delta` must be a finite length of time above zero"),
        }
        self
    }

    /// How far the game clock goes in one frame at the most, before its scale is
    /// applied; a third of a second by default. What a frame takes beyond that is
    /// dropped from the game's time, and reported.
    ///
    /// This also bounds the fixed steps of a frame, to `max_delta / fixed_delta`
    /// rounded up, however fast the game clock goes: 17 by default, which a scale
    /// of 20 needs at 60 frames a second. Fixed time goes past further ones
    /// without running them, and that is reported too.
    ///
    /// Infinity lets the game clock follow, however long a frame was.
    ///
    /// # Panics
    ///
    /// If it is NaN, negative or zero.
    #[track_caller]
    pub fn max_delta(mut self, seconds: impl Seconds) -> Self {
        match seconds.length_ns() {
            Nanos::Finite(ns) if ns > 0 => self.max_delta_ns = ns,
            Nanos::Infinite | Nanos::Overflow => self.max_delta_ns = u64::MAX,
            _ => panic!("`max_delta` must be a length of time above zero, or infinity"),
        }
        self
    }

    /// How often one coroutine is polled in one run because others wake it;
    /// 1000 by default. Beyond that it goes on in the next run, and is
    /// reported: two coroutines that keep waking each other cannot hold a
    /// frame.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_polls_per_run(mut self, polls: u32) -> Self {
        assert!(polls > 0, "`max_polls_per_run` must be at least 1");
        self.max_polls_per_run = polls;
        self
    }

    /// Makes the executor.
    pub fn build(self) -> Executor {
        let clock = FrameClock::new(self.fixed_delta_ns, self.max_delta_ns);
        Executor::with_core(Core::new(clock, self.max_polls_per_run))
    }
}
