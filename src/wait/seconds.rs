//! The waits for time to pass.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::registration::Call;
use crate::time::{Clock, ClockIndex, Phase, PhaseIndex, Seconds};

use super::timer::Timer;

/// Waits until `seconds` of the coroutine's clock have passed: the game clock, or the
/// clock that its owner is [bound](crate::Executor::owner_on) to.
///
/// **The time runs from the first poll**, not from the call. The deadline is the
/// clock's time at the first poll plus `seconds`, exact to the nanosecond. A wait on
/// fixed steps counts in the [time of the steps](Clock#in-fixed-steps). A zero or
/// negative length waits one frame. An infinite length never ends, and can be
/// stopped.
///
/// So a wait that is made now and awaited later waits its full length from the await.
/// To count from now, start the wait as a coroutine and join it later, or store the
/// clock's time and await [`Clock::wait_until`].
///
/// The clock may be past the deadline when the wait resumes. A loop of waits drifts
/// by that overshoot. An [`interval`](crate::interval()) does not drift.
///
/// # Resumes
///
/// In the home phase, in the first later frame at or past the deadline, or in another
/// phase with [`in_phase`](WaitSeconds::in_phase). Coroutines that are due in one run
/// resume by deadline, then in the order they began to wait.
///
/// # Cancel safety
///
/// Dropping the future removes its timer; a new call waits the full time.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside
/// an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let door = executor.start(async { wait_seconds(0.5).await });
/// executor.run_frame(0.25);
/// assert!(!door.is_finished());
/// executor.run_frame(0.25);
/// assert!(door.is_finished());
/// ```
///
/// # Source
///
/// `WaitForSeconds`, Unity scripting reference; `CallDelayed`, Unity 4.3.
#[track_caller]
#[inline]
pub fn wait_seconds(seconds: impl Seconds) -> WaitSeconds {
    WaitSeconds {
        timer: Timer::new(seconds, ClockIndex::OWN, None),
    }
}

impl Clock {
    /// Waits until `seconds` of this clock have passed.
    ///
    /// **The time runs from the first poll**, not from the call: the deadline is the
    /// clock's time at the first poll plus `seconds`. A change of scale or a pause of
    /// the clock changes when the deadline is reached. Otherwise it is like
    /// [`wait_seconds`], which counts on the coroutine's clock.
    ///
    /// # Resumes
    ///
    /// In the home phase, in the first later frame at or past the deadline, or in
    /// another phase with [`in_phase`](WaitSeconds::in_phase). Coroutines that are
    /// due in one run resume clock by clock: the game clock, realtime, then the
    /// others in the order the clocks were made.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future removes its timer; a new call waits the full time.
    ///
    /// # Panics
    ///
    /// When polled: if `seconds` is NaN, naming the location of this call; or
    /// outside the clock's [`Executor`](crate::Executor).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let enemies = executor.clock().child();
    /// enemies.set_scale(0.5);
    /// let bite = executor.start(enemies.wait_seconds(1));
    /// executor.run_until(bite, 0.25);
    /// assert_eq!(executor.time().frame, 8);
    /// ```
    #[track_caller]
    pub fn wait_seconds(&self, seconds: impl Seconds) -> WaitSeconds {
        let clock = self.awaited();
        let index = clock.state().index();
        WaitSeconds {
            timer: Timer::new(seconds, index, Some(clock)),
        }
    }

    /// Waits until this clock reads `point`: [`now`](Clock::now) plus a `Duration`,
    /// for example, or a number of seconds since the clock's zero.
    ///
    /// It does not matter when the wait is made or first polled. If the clock has
    /// already reached `point` at the first poll, the wait takes one frame. An
    /// infinite `point` is never reached. A change of scale or a pause of the clock
    /// changes when the point is reached, but not the point.
    ///
    /// If **the coroutine** is paused while it waits, the point moves, like every
    /// deadline, by the time that passes on the clock during the pause. If a script
    /// must keep to a beat, pause the clock instead.
    ///
    /// # Resumes
    ///
    /// In the home phase, in the first later frame with the clock at or past the
    /// point, or in another phase with [`in_phase`](WaitSeconds::in_phase). The order
    /// in a run is that of [`wait_seconds`](Clock::wait_seconds).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future removes its timer; a new one waits for the same point.
    ///
    /// # Panics
    ///
    /// When polled: if `point` is NaN, naming the location of this call; or outside
    /// the clock's [`Executor`](crate::Executor).
    ///
    /// # Examples
    ///
    /// A beat that does not drift, however long each bar lasts:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn beat(music: Clock) -> Vec<u64> {
    ///     let mut frames = Vec::new();
    ///     for bar in 1..=3 {
    ///         music.wait_until(bar).await;
    ///         frames.push(time().frame);
    ///         music.wait_seconds(0.75).await;
    ///     }
    ///     frames
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let beat = executor.start(beat(executor.clock().child()));
    /// assert_eq!(executor.run_until(beat, 0.25).unwrap(), [4, 8, 12]);
    /// ```
    #[track_caller]
    pub fn wait_until(&self, point: impl Seconds) -> WaitSeconds {
        let clock = self.awaited();
        let index = clock.state().index();
        WaitSeconds {
            timer: Timer::until(point, index, Some(clock)).made_by(Call::Until),
        }
    }
}

/// Waits until `seconds` of realtime have passed.
///
/// Realtime is the sum of the dt that the host passes in, neither scaled nor limited
/// by [`max_delta`](crate::Builder::max_delta). It is not the wall clock. **The
/// time runs from the first poll**, not from the call. Otherwise it is like
/// [`wait_seconds`].
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::builder().max_delta(0.25).build();
/// let game = executor.start(async { wait_seconds(1).await });
/// let real = executor.start(async { wait_seconds_realtime(1).await });
/// executor.run_frame(1);
/// assert!(real.is_finished());
/// assert!(!game.is_finished());
/// ```
///
/// # Source
///
/// `WaitForSecondsRealtime`, Unity scripting reference.
#[track_caller]
#[inline]
pub fn wait_seconds_realtime(seconds: impl Seconds) -> WaitSecondsRealtime {
    WaitSecondsRealtime {
        timer: Timer::new(seconds, ClockIndex::REALTIME, None).made_by(Call::Realtime),
    }
}

/// The future of [`wait_seconds`], [`Clock::wait_seconds`] and [`Clock::wait_until`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSeconds {
    pub(crate) timer: Timer,
}

/// The future of [`wait_seconds_realtime`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSecondsRealtime {
    timer: Timer,
}

macro_rules! timer_future {
    ($name:ident, $call:literal) => {
        impl $name {
            /// Resumes in `phase`. In [`Phase::FixedUpdate`], a step takes the place
            /// of a frame: the wait resumes in the first step that begins after the
            /// first poll and is at or past the deadline, even if that step is in the
            /// same frame. The wait then counts in [the time of the
            /// steps](Clock#in-fixed-steps). If it begins between two steps, it
            /// counts from the latest step plus the rest of the frame.
            ///
            /// # Panics
            ///
            /// If the wait has begun.
            #[inline]
            #[track_caller]
            pub fn in_phase(mut self, phase: Phase) -> Self {
                self.timer.set_phase(PhaseIndex::new(phase));
                self
            }
        }

        impl $name {
            /// Moves the deadline: the wait is as new, with a length of `seconds`.
            ///
            /// **The time runs from the next poll**, as that of a new wait from the first
            /// one. The wait keeps its clock and its phase. It may be called by any code that
            /// has the wait. A coroutine that waits for it is woken, polls it, and goes on waiting:
            /// if it is the caller itself, in the next run, in which it is polled once more.
            ///
            /// A zero or negative length ends in the next frame. A negative one is
            /// [reported](crate::inspect::Report::SuspiciousCall).
            ///
            /// # Panics
            ///
            /// If the wait is over, or if `seconds` is NaN.
            ///
            /// # Examples
            ///
            /// A combo: each hit prolongs it.
            ///
            /// ```
            /// # use framestep::prelude::*;
            /// async fn combo(hits: Signal<()>) -> u32 {
            ///     let mut hits = hits.subscribe();
            ///     let mut window = wait_seconds(1);
            ///     let mut count = 0;
            ///     loop {
            ///         select! {
            ///             Some(()) = hits.next() => {
            ///                 count += 1;
            ///                 window.reset(1);
            ///             }
            ///             () = &mut window => return count,
            ///         }
            ///     }
            /// }
            ///
            /// let mut executor = Executor::new();
            /// let hits = Signal::new();
            /// let combo = executor.start(combo(hits.clone()));
            /// for _ in 0..3 {
            ///     hits.emit(());
            ///     executor.run_frames(3, 0.25);
            /// }
            /// assert_eq!(executor.run_until(combo, 0.25).unwrap(), 3);
            /// assert_eq!(executor.time().frame, 11); // the last hit is read in frame 7
            /// ```
            ///
            /// # Source
            ///
            /// `Sleep::reset` of tokio; `Timer.start` of Godot.
            #[doc(alias = "restart")]
            #[track_caller]
            pub fn reset(&mut self, seconds: impl Seconds) {
                self.timer.reset(seconds, $call);
            }
        }

        impl Future for $name {
            type Output = ();

            #[inline(always)]
            #[track_caller]
            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                self.timer.poll(cx)
            }
        }

        impl FusedFuture for $name {
            fn is_terminated(&self) -> bool {
                self.timer.registration().is_done()
            }
        }
    };
}

timer_future!(WaitSeconds, "wait_seconds()");
timer_future!(WaitSecondsRealtime, "wait_seconds_realtime()");
