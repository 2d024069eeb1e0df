//! Waiting for a number of frames.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::{Place, Registration};
use crate::phase::PhaseIndex;
use crate::{Phase, Time};

use super::{Stage, polled, polled_again};

/// Waits for `frames` frames; 0 counts as 1.
///
/// # Resumes
///
/// In the first run of [`Phase::Update`] at least `frames` frames after the one
/// of the first poll, or of another phase with
/// [`in_phase`](WaitFrames::in_phase).
///
/// # Output
///
/// The clocks as they read then.
///
/// # Cancel safety
///
/// Dropping it forgets it; a new one counts from then on.
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
/// let frame = executor.run_until(async { wait_frames(3).await.frame }, 0.1);
/// assert_eq!(frame, 3);
/// ```
///
/// # Source
///
/// `UniTask.DelayFrame`.
#[doc(alias = "DelayFrame")]
pub fn wait_frames(frames: u64) -> WaitFrames {
    WaitFrames {
        registration: Registration::new(),
        frames: frames.max(1),
        due_frame: 0,
        phase: PhaseIndex::UPDATE,
        stage: Stage::New,
    }
}

/// The future of [`wait_frames`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitFrames {
    registration: Registration,
    frames: u64,
    due_frame: u64,
    phase: PhaseIndex,
    stage: Stage,
}

impl WaitFrames {
    /// Resumes in `phase` of the frame.
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.phase = PhaseIndex::new(phase);
        self
    }

    fn place(&self) -> Place {
        if self.frames == 1 {
            Place::Queue(self.phase)
        } else {
            Place::Frames(self.phase)
        }
    }
}

impl Future for WaitFrames {
    type Output = Time;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Time> {
        let this = &mut *self;
        let level = &*polled("wait_frames()");
        if this.stage == Stage::Done {
            polled_again("wait_frames()");
        }
        let core = level.core();
        let place = this.place();
        if this.stage == Stage::Waiting && this.registration.is_foreign(core) {
            this.registration.cancel(place);
            this.stage = Stage::New;
        }
        if this.stage == Stage::New {
            this.stage = Stage::Waiting;
            this.due_frame = core.clock.frame().saturating_add(this.frames);
        } else if core.has_begun_since_frame(level, this.phase, this.due_frame - 1) {
            this.stage = Stage::Done;
            this.registration.finish(place);
            return Poll::Ready(core.time());
        } else if this.registration.renew(level, cx, place) {
            return Poll::Pending;
        }
        if this.frames == 1 {
            this.registration
                .wait_for_phase(level, cx, this.phase, true);
        } else {
            this.registration
                .wait_for_frame(level, cx, this.phase, this.due_frame);
        }
        Poll::Pending
    }
}

impl FusedFuture for WaitFrames {
    fn is_terminated(&self) -> bool {
        self.stage == Stage::Done
    }
}

impl Drop for WaitFrames {
    fn drop(&mut self) {
        self.registration.cancel(self.place());
    }
}
