//! Waiting for the next frame.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::{Place, Registration};
use crate::phase::PhaseIndex;
use crate::{Phase, Time};

use super::{Stage, polled};

/// Waits for the next frame, like `yield return null`.
///
/// # Resumes
///
/// In the first run of [`Phase::Update`] in a later frame than the one in which
/// the wait was first polled, or of another phase with
/// [`in_phase`](NextFrame::in_phase). Coroutines that wait for the same phase
/// resume in the order in which they began to.
///
/// # Output
///
/// The clocks as they read in the new frame.
///
/// # Cancel safety
///
/// Dropping it forgets it; a new one waits for the next frame from then on.
///
/// # Panics
///
/// If polled outside of an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let frames = executor.run_until(
///     async {
///         let first = next_frame().await.frame;
///         let second = next_frame().await.frame;
///         (first, second)
///     },
///     0.1,
/// );
/// assert_eq!(frames, (1, 2));
/// ```
///
/// # Source
///
/// `yield return null`, Unity scripting reference.
#[doc(alias = "yield return null")]
#[inline]
pub fn next_frame() -> NextFrame {
    NextFrame {
        registration: Registration::new(),
        frame: 0,
        phase: PhaseIndex::UPDATE,
        stage: Stage::New,
    }
}

/// The future of [`next_frame`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextFrame {
    registration: Registration,
    /// The frame of the first poll.
    frame: u64,
    phase: PhaseIndex,
    stage: Stage,
}

impl NextFrame {
    /// Resumes in `phase` of the next frame.
    #[inline]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.phase = PhaseIndex::new(phase);
        self
    }
}

impl Future for NextFrame {
    type Output = Time;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Time> {
        let this = &mut *self;
        polled("next_frame()", this.stage, |level| {
            let core = level.core();
            if this.stage == Stage::New {
                this.stage = Stage::Waiting;
                this.frame = core.frame.get();
                this.registration
                    .wait_for_phase(level, cx, this.phase, true);
                return Poll::Pending;
            }
            if this.registration.is_foreign(core) {
                // Moved to another executor, whose frames are not the same.
                this.registration.cancel(Place::Queue(this.phase));
                this.frame = core.frame.get();
            } else if core.has_begun_since_frame(level, this.phase, this.frame) {
                this.stage = Stage::Done;
                this.registration.finish(level, Place::Queue(this.phase));
                return Poll::Ready(core.time());
            }
            this.registration
                .keep_waiting_for_phase(level, cx, this.phase, true);
            Poll::Pending
        })
    }
}

impl FusedFuture for NextFrame {
    fn is_terminated(&self) -> bool {
        self.stage == Stage::Done
    }
}

impl Drop for NextFrame {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(Place::Queue(self.phase));
    }
}
