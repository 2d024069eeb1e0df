//! Waiting for a number of frames.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::Phase;
use crate::core::{Place, Registration};
use crate::phase::PhaseIndex;

use super::{polled, polled_again};

/// Waits for `frames` frames; 0 counts as 1.
///
/// # Resumes
///
/// In the first run of [`Phase::Update`] at least `frames` frames after the one
/// of the first poll, or of another phase with
/// [`in_phase`](WaitFrames::in_phase).
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
/// executor.run_until(wait_frames(3), 0.1);
/// assert_eq!(executor.time().frame, 3);
/// ```
///
/// # Source
///
/// `UniTask.DelayFrame`.
#[doc(alias = "DelayFrame")]
pub fn wait_frames(frames: u64) -> WaitFrames {
    WaitFrames {
        registration: Registration::new(PhaseIndex::UPDATE, true),
        frames: frames.max(1),
    }
}

/// The future of [`wait_frames`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitFrames {
    registration: Registration,
    /// How many to wait for; once it has begun, the first frame in which it is
    /// due.
    frames: u64,
}

impl WaitFrames {
    /// Resumes in `phase` of the frame.
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.registration.set_phase(PhaseIndex::new(phase));
        self
    }
}

impl Future for WaitFrames {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let level = polled("wait_frames()");
        let core = level.core();
        if self.registration.is_done() {
            polled_again("wait_frames()");
        }
        if self.registration.is_new() {
            self.registration.begin(&level);
            self.frames = core.clock.frame().saturating_add(self.frames);
        } else if core.frame_of_run(self.registration.phase()) >= self.frames {
            self.registration.finish(Place::Frames);
            return Poll::Ready(());
        }
        let due_frame = self.frames;
        self.registration.wait_for_frame(&level, cx, due_frame);
        Poll::Pending
    }
}

impl FusedFuture for WaitFrames {
    fn is_terminated(&self) -> bool {
        self.registration.is_done()
    }
}

impl Drop for WaitFrames {
    fn drop(&mut self) {
        self.registration.cancel(Place::Frames);
    }
}
