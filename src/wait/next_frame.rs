//! Waiting for the next frame.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::context;
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
        registration: Registration::new(PhaseIndex::UPDATE, true),
    }
}

/// The future of [`next_frame`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextFrame {
    registration: Registration,
}

impl NextFrame {
    /// Resumes in `phase` of the next frame.
    #[inline]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.registration.set_phase(PhaseIndex::new(phase));
        self
    }

    /// Begins where the wait cannot register with its coroutine itself.
    #[cold]
    #[inline(never)]
    fn wait_otherwise(&mut self, cx: &Context<'_>) {
        let level = polled("next_frame()");
        self.registration.wait_for_phase(&level, cx);
    }

    /// Polled for another reason than that its own ticket came up. `true`: it
    /// is ready.
    #[cold]
    #[inline(never)]
    fn poll_again(&mut self, cx: &Context<'_>) -> bool {
        let level = polled("next_frame()");
        if self.registration.is_done() {
            polled_again("next_frame()");
        }
        let ready = level.core().has_run_since(self.registration.since());
        if ready {
            self.registration.finish(Place::Queue);
        } else {
            self.registration.wait_for_phase(&level, cx);
        }
        ready
    }
}

impl Future for NextFrame {
    type Output = Time;

    // Always, so that a script that has no use for the time does not compute it.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Time> {
        let level = context::innermost();
        if self.registration.is_new() {
            self.registration.begin(&level);
            if !self.registration.wait_with_task(&level, cx) {
                self.wait_otherwise(cx);
            }
            return Poll::Pending;
        }
        if self.registration.take_resumed(&level) || self.poll_again(cx) {
            Poll::Ready(level.core().time())
        } else {
            Poll::Pending
        }
    }
}

impl FusedFuture for NextFrame {
    fn is_terminated(&self) -> bool {
        self.registration.is_done()
    }
}

impl Drop for NextFrame {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(Place::Queue);
    }
}
