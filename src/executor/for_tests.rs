//! For tests of scripts: skipping the waiting, and checking what is left.

use std::time::Duration;

use crate::core::run;

#[cfg(doc)]
use super::Builder;
use super::Executor;

impl Executor {
    /// Runs frames until the earliest timer is due: for tests, which need not know how
    /// long a script waits. Returns how much time the frames took together.
    ///
    /// Usually it is one frame, as long as [`next_deadline`](Self::next_deadline) says. No
    /// frame is longer than [`max_delta`](Builder::max_delta): if the timer is further
    /// away, there are several. If there is no timer, but a coroutine is ready or waits for
    /// a frame, there is one frame of zero length.
    ///
    /// Returns `None`, and runs no frame, if nothing is due before an event from outside.
    ///
    /// The time is exact to the nanosecond in which the clock of the timer reaches the deadline,
    /// at any scale.
    ///
    /// # Panics
    ///
    /// If that would take more than [`max_frames`](Builder::max_frames).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let night = executor.start(async {
    ///     wait_seconds(600).await; // sleeps
    ///     wait_seconds(5).await; // gets up
    /// });
    /// assert_eq!(executor.run_to_next_deadline(), Some(Duration::from_secs(600)));
    /// assert_eq!(executor.run_to_next_deadline(), Some(Duration::from_secs(5)));
    /// assert!(night.is_finished());
    /// assert_eq!(executor.run_to_next_deadline(), None);
    /// ```
    #[track_caller]
    pub fn run_to_next_deadline(&mut self) -> Option<Duration> {
        run::assert_idle(&self.core, "run_to_next_deadline");
        let total = match self.next_deadline() {
            Some(deadline) => deadline,
            None if self.has_ready() => Duration::ZERO,
            None => return None,
        };
        let longest = self.core.clock.max_delta().max(Duration::from_nanos(1));
        let frames = total.as_nanos().div_ceil(longest.as_nanos());
        assert!(
            frames <= u128::from(self.core.max_frames),
            "the next deadline is in {total:?}, after {frames} frames of at most {longest:?} \
             (`Builder::max_delta`), which are more than `Builder::max_frames` allows: make the \
             executor with a `max_delta` of infinity, to get there in one frame"
        );
        let mut left = total;
        loop {
            let dt = left.min(longest);
            self.run_frame(dt);
            left -= dt;
            if left.is_zero() {
                return Some(total);
            }
        }
    }

    /// Panics if a coroutine is left. The message has the [snapshot](Self::snapshot): which
    /// ones, and what they wait for. For the end of a test.
    ///
    /// # Panics
    ///
    /// If the executor is not [empty](Self::is_empty), at the caller's line.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// executor.run_until(async { wait_seconds(1).await }, 0.25);
    /// executor.assert_empty();
    /// ```
    #[track_caller]
    pub fn assert_empty(&self) {
        assert!(
            self.is_empty(),
            "not all coroutines have ended\n{}",
            self.snapshot()
        );
    }

    /// Panics if something is due by itself: if a coroutine is ready or waits for a frame,
    /// a condition or a time. Coroutines that wait for an event or for nothing may be
    /// left. The message has the [snapshot](Self::snapshot).
    ///
    /// # Panics
    ///
    /// If [`idle_until`](Self::idle_until) is not `None`, at the caller's line.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let bell = Signal::<()>::new();
    /// let mut executor = Executor::new();
    /// let ring = bell.wait();
    /// executor.start(async move {
    ///     wait_seconds(1).await;
    ///     ring.await;
    /// });
    /// executor.run_frames(4, 0.25);
    /// executor.assert_idle(); // it waits for the bell
    /// ```
    #[track_caller]
    pub fn assert_idle(&self) {
        if let Some(until) = self.idle_until() {
            let when = match until {
                Duration::ZERO => "in the next frame".to_owned(),
                until => format!("in {until:?}"),
            };
            panic!("something is due {when}\n{}", self.snapshot());
        }
    }
}
