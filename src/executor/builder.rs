//! How an executor is set up.

use std::time::Duration;

use crate::core::Core;
use crate::executor::Executor;
use crate::inspect::{Stopwatch, Watch};
use crate::time::FrameClock;
use crate::time::Nanos;
use crate::time::Seconds;

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
    inspect: bool,
    slow_poll: Option<Duration>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            fixed_delta_ns: 20 * MILLISECOND_NS,
            // Unity's third of a second: 1.0 / 3.0 as an `f32` reads, so that a dt
            // of that is not cut.
            max_delta_ns: 333_333_340,
            max_polls_per_run: 1000,
            inspect: false,
            slow_poll: None,
        }
    }
}

impl Builder {
    /// The length of a fixed step; 0.02 s by default. Steps that the host begins with
    /// [`begin_fixed_step_of`](Executor::begin_fixed_step_of) have their own.
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
    /// Infinity lets the game clock follow, however long a frame was. Frames that begin
    /// with [`begin_frame_with`](Executor::begin_frame_with) are not cut either.
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

    /// Has the executor note of each coroutine what a
    /// [`Snapshot`](crate::Snapshot) can tell only then: where it was spawned, by
    /// which coroutine, and since when it waits. Off by default.
    ///
    /// It takes some 300 bytes more for each coroutine, and two notes for each
    /// resume. The order in which coroutines resume stays the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().inspect(true).build();
    /// let door = executor.start(wait_seconds(1));
    /// let snapshot = executor.snapshot();
    /// let door = snapshot.get(door.id()).unwrap();
    /// assert!(door.spawned_at().unwrap().file().ends_with(".rs"));
    /// assert_eq!(door.since().unwrap().frame, 0);
    /// ```
    pub fn inspect(mut self, inspect: bool) -> Self {
        self.inspect = inspect;
        self
    }

    /// Has every poll of a coroutine that takes `limit` or longer reported, with
    /// the coroutine's name, as [`Report::SlowPoll`](crate::Report::SlowPoll). Off
    /// by default; infinity switches it off again.
    ///
    /// A script that computes, loads or locks for so long holds up the frame: cut
    /// it into steps with a [`Budget`](crate::Budget), or send the work to another
    /// thread. What coroutines take that are started in the middle of the poll
    /// counts for them alone.
    ///
    /// This reads the computer's clock before and after each poll. What coroutines
    /// do, and in which order, does not depend on it.
    ///
    /// # Panics
    ///
    /// If the limit is NaN or negative.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep::Report;
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().slow_poll(0.008).build();
    /// executor.on_report(|report| {
    ///     if let Report::SlowPoll { name, took, .. } = report {
    ///         println!("{name} held the frame up for {took:?}");
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn slow_poll(mut self, limit: impl Seconds) -> Self {
        self.slow_poll = match limit.length_ns() {
            Nanos::Finite(ns) => Some(Duration::from_nanos(ns)),
            Nanos::Infinite | Nanos::Overflow => None,
            _ => panic!("`slow_poll` must be a length of time, zero or more"),
        };
        self
    }

    /// Makes the executor.
    pub fn build(self) -> Executor {
        let clock = FrameClock::new(self.fixed_delta_ns, self.max_delta_ns);
        let watch = Watch::new(self.inspect, self.slow_poll.map(Stopwatch::new));
        Executor::with_core(Core::new(clock, self.max_polls_per_run, watch))
    }
}
