//! The waits for a phase.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::registration::{Bound, Call};
use crate::time::{Phase, PhaseIndex};

use super::phase_wait::PhaseWait;

/// Waits for the next fixed step.
///
/// # Resumes
///
/// In the first run of [`Phase::FixedUpdate`] that begins after the first poll: in
/// the next step, of this frame or a later one. A loop around `fixed_update` runs
/// once in each fixed step.
///
/// Inside the step, [`time`](crate::time()) reads the time of the step, and
/// [`delta`](crate::Time::delta) is the length of the step.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one waits for the step after its own
/// first poll.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::builder().fixed_delta(0.25).build();
/// let patrol = executor.start(async {
///     for _ in 0..3 {
///         fixed_update().await;
///     }
///     time().fixed_elapsed.as_secs_f32()
/// });
/// executor.begin_frame(0.0);
/// assert_eq!(executor.run_until(patrol, 0.25).unwrap(), 0.75);
/// ```
///
/// # Source
///
/// `WaitForFixedUpdate`, Unity scripting reference.
#[inline]
pub fn fixed_update() -> InPhase {
    InPhase {
        wait: PhaseWait::next_run_by(PhaseIndex::FIXED_UPDATE, Call::FixedUpdate),
    }
}

/// Waits for the end of the frame.
///
/// # Resumes
///
/// In the first run of [`Phase::EndOfFrame`] that begins after the first poll: at
/// the end of this frame. If that phase has already started, at the end of the
/// next.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one waits for the run after its own
/// first poll.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let screenshot = executor.start(async {
///     next_frame().await;
///     end_of_frame().await;
///     time().frame
/// });
/// assert_eq!(executor.run_until(screenshot, 0.1).unwrap(), 1);
/// ```
///
/// # Source
///
/// `WaitForEndOfFrame`, Unity scripting reference.
#[inline]
pub fn end_of_frame() -> InPhase {
    InPhase {
        wait: PhaseWait::next_run_by(PhaseIndex::new(Phase::EndOfFrame), Call::EndOfFrame),
    }
}

/// Waits for a run of `phase`.
///
/// # Resumes
///
/// In the first run of `phase` that begins after the first poll, in this frame or a
/// later one. To wait for a phase of the *next* frame, use
/// [`next_frame().in_phase(phase)`](crate::wait::NextFrame::in_phase).
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one waits for the run after its own
/// first poll.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let phase = executor.run_until(
///     async {
///         in_phase(Phase::LateUpdate).await;
///         time().phase
///     },
///     0.1,
/// );
/// assert_eq!(phase, Some(Phase::LateUpdate));
/// ```
///
/// # Source
///
/// `UniTask.Yield(PlayerLoopTiming)`.
#[inline]
pub fn in_phase(phase: Phase) -> InPhase {
    InPhase {
        wait: PhaseWait::next_run(PhaseIndex::new(phase)),
    }
}

/// The future of [`in_phase`], [`fixed_update`] and [`end_of_frame`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct InPhase {
    wait: PhaseWait,
}

impl Future for InPhase {
    type Output = ();

    #[inline(always)]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.poll_bound(cx, "in_phase()", Bound::Run)
    }
}

impl FusedFuture for InPhase {
    fn is_terminated(&self) -> bool {
        self.wait.is_done()
    }
}
