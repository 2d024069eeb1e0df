//! Animations: calls in every frame, for a length of time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::{OwnTime, call};
use crate::time::{Phase, PhaseIndex, Seconds};

use super::length::Length;
use super::phase_wait::PhaseWait;
use super::{polled, polled_again};

/// Calls `apply` in every frame with the fraction of `seconds` that has passed,
/// until it is 1.
///
/// **The time runs from the first poll.** The first poll calls `apply` with 0.
/// Every later frame calls it once:
///
/// - The value never decreases. Only the last call has the value 1.
/// - While the coroutine's clock stands still, so does the value.
/// - With a zero or negative length, the values are 0 now and 1 in the next frame.
///   With infinity, the value stays at 0.
///
/// # Resumes
///
/// Once in the home phase of every frame, or in another phase with
/// [`in_phase`](Animate::in_phase). It is ready in the first later frame at or past
/// the deadline, like [`wait_seconds`](crate::wait_seconds).
///
/// # Cancel safety
///
/// Dropping the future ends the calls: the animated value stays as it is.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside
/// an [`Executor`](crate::Executor). A panic of `apply` is a panic of the
/// coroutine.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let angles = executor.run_until(
///     async {
///         let mut angles = Vec::new();
///         animate(1, |t| angles.push(90.0 * t)).await;
///         angles
///     },
///     0.25,
/// );
/// assert_eq!(angles, [0.0, 22.5, 45.0, 67.5, 90.0]);
/// ```
///
/// # Source
///
/// The loop around `yield return null` and `Mathf.Lerp` in the Unity manual; the
/// tweens of engines.
#[doc(alias = "Lerp")]
#[doc(alias = "tween")]
#[track_caller]
pub fn animate<F: FnMut(f32)>(seconds: impl Seconds, apply: F) -> Animate<F> {
    Animate {
        apply,
        length: Length::of(seconds),
        wait: PhaseWait::later(PhaseIndex::HOME),
        phase: PhaseIndex::HOME,
        progress: Progress::New,
    }
}

/// The future of [`animate`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Animate<F> {
    apply: F,
    length: Length,
    wait: PhaseWait,
    phase: PhaseIndex,
    progress: Progress,
}

#[derive(Clone, Copy, Debug)]
enum Progress {
    New,
    Running {
        began: OwnTime,
        /// `None` if it never ends.
        length_ns: Option<u64>,
        /// The argument of the latest call of `apply`.
        share: f32,
    },
    Done,
}

/// The largest share before the end.
const ALMOST_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// `elapsed_ns` as a share of `length_ns`, which is longer.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a share is as precise as an `f32`"
)]
fn share_of(elapsed_ns: u64, length_ns: u64) -> f32 {
    let share = (elapsed_ns as f64 / length_ns as f64) as f32;
    share.min(ALMOST_ONE)
}

impl<F> Animate<F> {
    /// Calls `apply` in `phase`, once in every frame. In [`Phase::FixedUpdate`], it
    /// calls `apply` once in every step, and counts in
    /// [the time of the steps](crate::Clock#in-fixed-steps).
    ///
    /// # Panics
    ///
    /// If the animation has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.phase = PhaseIndex::new(phase);
        self.wait.set_phase(self.phase);
        self.wait = PhaseWait::later(self.phase);
        self
    }
}

impl<F: FnMut(f32)> Animate<F> {
    #[track_caller]
    fn begin(&mut self) {
        let length_ns = self.length.nanos("animate()");
        let (phase, began) = polled("animate()", |scope| {
            let phase = match self.phase {
                PhaseIndex::HOME => scope.home(),
                phase => phase,
            };
            (phase, scope.core().own_time(scope, phase))
        });
        self.phase = phase;
        self.wait = PhaseWait::later(phase);
        self.progress = Progress::Running {
            began,
            length_ns,
            share: 0.0,
        };
        call::out(|| (self.apply)(0.0));
    }

    /// Makes the call of one frame. Returns whether it was the last call.
    fn step(&mut self) -> bool {
        let Progress::Running {
            began,
            length_ns,
            share,
        } = &mut self.progress
        else {
            return false;
        };
        let elapsed_ns = latest(self.phase).since(*began);
        if length_ns.is_some_and(|length_ns| elapsed_ns >= length_ns) {
            self.progress = Progress::Done;
            call::out(|| (self.apply)(1.0));
            return true;
        }
        if let Some(length_ns) = *length_ns {
            *share = share.max(share_of(elapsed_ns, length_ns));
        }
        let share = *share;
        call::out(|| (self.apply)(share));
        false
    }
}

fn latest(phase: PhaseIndex) -> OwnTime {
    polled("animate()", |scope| scope.core().own_time_in(scope, phase))
}

impl<F: FnMut(f32)> Future for Animate<F> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.progress {
            Progress::New => self.begin(),
            Progress::Running { .. } => {}
            Progress::Done => polled_again("animate()"),
        }
        while self.wait.poll(cx, "animate()").is_ready() {
            if self.step() {
                return Poll::Ready(());
            }
            self.wait = PhaseWait::later(self.phase);
        }
        Poll::Pending
    }
}

// The closure is never pinned.
impl<F> Unpin for Animate<F> {}

impl<F: FnMut(f32)> FusedFuture for Animate<F> {
    fn is_terminated(&self) -> bool {
        matches!(self.progress, Progress::Done)
    }
}

impl<F> fmt::Debug for Animate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Animate")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
