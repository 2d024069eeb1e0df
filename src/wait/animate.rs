//! Animations: calls in every frame, for a length of time.

mod ease;
mod kept;
mod sequence;
mod tween;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::FusedFuture;

use crate::core::base::call;
use crate::core::registration::Registration;
use crate::core::scope::recording::{self, Recorded};
use crate::durable::{Asks, DurableWait, Gives};
use crate::inspect::Line;
use crate::time::{Phase, PhaseIndex, Seconds};

pub use ease::{Ease, Easing};
pub(crate) use kept::KeptAnimation;
pub use sequence::{Leg, Sequence};
pub use tween::Tween;

use super::length::Length;
use super::phase_wait::PhaseWait;
use super::{WaitSeconds, polled, polled_again, wait_seconds};

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
/// [`ease`](Animate::ease) sets a curve. [`repeat`](Animate::repeat) and [`yoyo`](Animate::yoyo)
/// make rounds: `animate(0.5, f).ease(Ease::OutCubic).repeat(4).yoyo()`. A loop around `animate`
/// drifts, because each round begins up to a frame late. Rounds do not, and neither does what follows with
/// [`then`](Animate::then): `animate(0.5, opens).then(animate(1, closes))`.
///
/// # Resumes
///
/// Once in the home phase of every frame, or in another phase with
/// [`in_phase`](Animate::in_phase). It is ready in the first later frame at or past
/// the deadline, like [`wait_seconds`].
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
#[track_caller]
pub fn animate<F: FnMut(f32)>(seconds: impl Seconds, apply: F) -> Animate<F> {
    Animate {
        apply,
        animation: Animation::new(Length::of(seconds)),
    }
}

/// The future of [`animate`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Animate<F> {
    apply: F,
    animation: Animation,
}

/// The part of an animation that is the same for all closures.
#[derive(Debug)]
pub struct Animation {
    length: Length,
    /// The wait for the next call.
    wait: PhaseWait,
    /// The timer of the last call, from the first poll on. It counts the time, even if
    /// the animation moves to another coroutine or is shared. `None` if it never ends.
    end: Option<WaitSeconds>,
    phase: PhaseIndex,
    progress: Progress,
}

#[derive(Clone, Copy, Debug)]
enum Progress {
    New,
    Running {
        /// Of the whole animation. Zero if it never ends.
        length_ns: u64,
        /// What has passed of it, as the latest call of `apply` has shown.
        elapsed_ns: u64,
    },
    /// In a durable script, which keeps the animation.
    Recorded,
    Done,
}

/// What has passed of an animation that is over.
const END: u64 = crate::durable::Progress::END;

/// The largest share before the end.
const ALMOST_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// The share of a length that has passed.
fn share(length: Length, elapsed_ns: u64) -> f32 {
    match (length, elapsed_ns) {
        (_, END) => 1.0,
        // So that an animation without a length begins at 0, too.
        (Length::Finite(length_ns), 1..) => share_of(elapsed_ns, length_ns),
        (Length::Finite(_) | Length::Endless | Length::Invalid(_), _) => 0.0,
    }
}

/// Calls `apply` with the share of a length that has passed.
fn play(apply: &mut impl FnMut(f32), length: Length, elapsed_ns: u64) {
    call::out(|| apply(share(length, elapsed_ns)));
}

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
    /// [the time of the steps](crate::time::Clock#in-fixed-steps).
    ///
    /// # Panics
    ///
    /// If the animation has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.animation.set_phase(phase);
        self
    }
}

impl Animation {
    fn new(length: Length) -> Self {
        Animation {
            length,
            wait: PhaseWait::later(PhaseIndex::HOME),
            end: None,
            phase: PhaseIndex::HOME,
            progress: Progress::New,
        }
    }

    #[track_caller]
    fn set_phase(&mut self, phase: Phase) {
        assert!(
            self.is_new(),
            "`in_phase` was called on an `animate()` that has begun: call it before it is awaited"
        );
        self.phase = PhaseIndex::new(phase);
        self.wait = PhaseWait::later(self.phase);
    }

    fn is_new(&self) -> bool {
        matches!(self.progress, Progress::New)
    }

    fn is_done(&self) -> bool {
        matches!(self.progress, Progress::Done)
    }

    /// Polls the animation. Calls `apply` with what had passed of it at the latest call, if there was one, and with what
    /// has passed now.
    #[track_caller]
    fn poll(&mut self, cx: &mut Context<'_>, apply: &mut dyn FnMut(Option<u64>, u64)) -> Poll<()> {
        if recording::is_recording() {
            return self.poll_recorded(cx, Location::caller(), apply);
        }
        let mut shown_ns = self.shown();
        while let Poll::Ready(elapsed_ns) = self.poll_next(cx) {
            apply(shown_ns, elapsed_ns);
            shown_ns = Some(elapsed_ns);
            if self.is_done() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// What the latest call has shown.
    fn shown(&self) -> Option<u64> {
        match self.progress {
            Progress::Running { elapsed_ns, .. } => Some(elapsed_ns),
            Progress::New | Progress::Recorded | Progress::Done => None,
        }
    }

    /// Polls it until the next call. Returns what has passed.
    #[track_caller]
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
        match self.progress {
            Progress::New => return Poll::Ready(self.begin()),
            // That of a recorder is refused by its wait.
            Progress::Running { .. } | Progress::Recorded => {}
            Progress::Done => polled_again("animate()"),
        }
        // Before the timer, since the wait that is polled first is the cheaper one.
        let is_next = self.wait.poll(cx, "animate()").is_ready();
        // Not in a closure, which would hide the line of the `.await` from the timer.
        if let Some(end) = &mut self.end {
            if Pin::new(end).poll(cx).is_ready() {
                return Poll::Ready(self.finish());
            }
        }
        if !is_next {
            return Poll::Pending;
        }
        self.wait = PhaseWait::later(self.phase);
        Poll::Ready(self.step())
    }

    #[track_caller]
    fn begin(&mut self) -> u64 {
        let length_ns = self.length.nanos("animate()");
        let phase = polled("animate()", |scope| match self.phase {
            PhaseIndex::HOME => scope.home(),
            phase => phase,
        });
        self.phase = phase;
        self.wait = PhaseWait::later(phase);
        let timer = |ns| wait_seconds(Duration::from_nanos(ns)).in_phase(phase.phase());
        self.end = length_ns.map(timer);
        self.progress = Progress::Running {
            length_ns: length_ns.unwrap_or(0),
            elapsed_ns: 0,
        };
        0
    }

    fn step(&mut self) -> u64 {
        let Progress::Running {
            length_ns,
            elapsed_ns,
        } = &mut self.progress
        else {
            return 0;
        };
        if let Some(end) = &self.end {
            let left_ns = end.timer.left_ns();
            *elapsed_ns = (*elapsed_ns).max(length_ns.saturating_sub(left_ns));
        }
        *elapsed_ns
    }

    fn finish(&mut self) -> u64 {
        self.progress = Progress::Done;
        self.end = None;
        self.wait = PhaseWait::later(self.phase);
        END
    }

    /// Polls it in a durable script, which keeps it.
    #[cold]
    #[inline(never)]
    fn poll_recorded(
        &mut self,
        cx: &Context<'_>,
        line: Line,
        apply: &mut dyn FnMut(Option<u64>, u64),
    ) -> Poll<()> {
        if self.is_done() {
            polled_again("animate()");
        }
        let length_ns = self.length.nanos("animate()").unwrap_or(0);
        let asks: Asks<'_> = &mut |progress| {
            // One that code began which has another length goes on with its own.
            let (shown_ns, elapsed_ns) = progress.of_length(length_ns);
            apply(shown_ns, elapsed_ns);
            true
        };
        match recording::poll_slowly(self, cx, "animate()", line, Gives::Nothing, asks) {
            Some(Poll::Ready(_)) => {
                self.progress = Progress::Done;
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

impl Recorded for Animation {
    fn registration_mut(&mut self) -> &mut Registration {
        self.wait.registration_mut()
    }

    fn take(&mut self) -> DurableWait {
        self.progress = Progress::Recorded;
        KeptAnimation::new(self.length.nanos("animate()"), self.phase).into()
    }
}

impl<F: FnMut(f32)> Future for Animate<F> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Animate { apply, animation } = &mut *self;
        let length = animation.length;
        animation.poll(cx, &mut |_, elapsed_ns| play(apply, length, elapsed_ns))
    }
}

// The closure is never pinned.
impl<F> Unpin for Animate<F> {}

impl<F: FnMut(f32)> FusedFuture for Animate<F> {
    fn is_terminated(&self) -> bool {
        self.animation.is_done()
    }
}

impl<F> fmt::Debug for Animate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Animate")
            .field("progress", &self.animation.progress)
            .finish_non_exhaustive()
    }
}
