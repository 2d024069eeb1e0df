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
    propagate_panics: bool,
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
            propagate_panics: false,
            inspect: false,
            slow_poll: None,
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

    /// Lets panics that no join returns through to the host, instead of
    /// [reporting](crate::Report::CoroutinePanicked) them. Off by default.
    ///
    /// For tests and tools, in which a panic of a script is to end the program. The
    /// run in which it happens ends as always: the other coroutines are polled.
    /// Then the panic goes on out of [`run_phase`](Executor::run_phase), with the
    /// same payload. A panic outside of a run, or one whose handle is dropped
    /// between two runs, goes on out of the next run of any phase.
    ///
    /// A panic goes on after the phase in which it happens, so
    /// [`run_frame`](Executor::run_frame) leaves out the phases behind that. Their
    /// waits stay due. A host that catches the panic may run the next frame.
    ///
    /// If several coroutines panic before the run ends, the host gets the first
    /// panic, and the others are reported. So is one that is left when the executor
    /// is dropped. A panic that a join returns is an `Err` there, and nowhere else.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().propagate_panics(true).build();
    /// executor.spawn(async { panic!("no such door") });
    /// let caught = catch_unwind(AssertUnwindSafe(|| executor.run_frame(0.25)));
    /// assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "no such door");
    /// executor.run_frame(0.25);
    /// ```
    pub fn propagate_panics(mut self, propagate: bool) -> Self {
        self.propagate_panics = propagate;
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
        let core = Core::new(clock, self.max_polls_per_run, self.propagate_panics, watch);
        Executor::with_core(core)
    }
}
