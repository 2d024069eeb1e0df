//! Waiting for the next frame.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::context::Level;
use crate::core::{Place, Registration};
use crate::phase::PhaseIndex;
use crate::{Phase, Time};

use super::{polled, polled_again};

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
        frame: NEW,
        phase: PhaseIndex::UPDATE,
    }
}

/// The future of [`next_frame`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextFrame {
    registration: Registration,
    /// The frame of the first poll, or [`NEW`], or [`DONE`].
    frame: u64,
    phase: PhaseIndex,
}

/// Not polled yet.
const NEW: u64 = u64::MAX;
/// Has been ready.
const DONE: u64 = u64::MAX - 1;

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

    // Always, so that a script that has no use for the time does not compute it.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Time> {
        let level = polled("next_frame()");
        if self.registration.take_resumed(&level) {
            self.frame = DONE;
            return Poll::Ready(level.core().time());
        }
        if self.frame == NEW {
            self.frame = level.core().clock.frame();
            let phase = self.phase;
            self.registration.wait_for_phase(&level, cx, phase, true);
            return Poll::Pending;
        }
        self.poll_again(&level, cx)
    }
}

impl NextFrame {
    /// Polled for another reason than that its own ticket came up.
    #[cold]
    #[inline(never)]
    fn poll_again(&mut self, level: &Level, cx: &Context<'_>) -> Poll<Time> {
        let core = level.core();
        if self.frame == DONE {
            polled_again("next_frame()");
        }
        if self.registration.is_foreign(core) {
            // Moved to another executor, whose frames are not the same.
            self.registration.cancel(Place::Queue(self.phase));
            self.frame = core.clock.frame();
        } else if core.has_begun_since_frame(level, self.phase, self.frame) {
            self.frame = DONE;
            self.registration.cancel(Place::Queue(self.phase));
            return Poll::Ready(core.time());
        }
        self.registration
            .keep_waiting_for_phase(level, cx, self.phase, true);
        Poll::Pending
    }
}

impl FusedFuture for NextFrame {
    fn is_terminated(&self) -> bool {
        self.frame == DONE
    }
}

impl Drop for NextFrame {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(Place::Queue(self.phase));
    }
}
