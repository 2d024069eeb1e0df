//! The wait for the next frame.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::registration::Bound;
use crate::time::{Phase, PhaseIndex};

use super::phase_wait::PhaseWait;

/// Waits for the next frame, like `yield return null`.
///
/// # Resumes
///
/// In the first run of the coroutine's home phase in a frame after that of the
/// first poll, or in another phase with [`in_phase`](NextFrame::in_phase).
/// Coroutines that wait for the same phase resume in the order they began to wait.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one waits for the frame after its
/// own first poll.
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
/// let frames = executor.run_until(
///     async {
///         next_frame().await;
///         let first = time().frame;
///         next_frame().await;
///         (first, time().frame)
///     },
///     0.1,
/// );
/// assert_eq!(frames, (1, 2));
/// ```
///
/// # Source
///
/// `yield return null`, Unity scripting reference.
#[inline]
pub fn next_frame() -> NextFrame {
    NextFrame {
        wait: PhaseWait::later_frame(PhaseIndex::HOME),
    }
}

/// The future of [`next_frame`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextFrame {
    wait: PhaseWait,
}

impl NextFrame {
    /// Resumes in `phase` of the next frame.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[inline]
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.wait.set_phase(PhaseIndex::new(phase));
        self
    }
}

impl Future for NextFrame {
    type Output = ();

    // In debug builds, each script would have a copy of all of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.poll_bound(cx, "next_frame()", Bound::Frame)
    }
}

impl FusedFuture for NextFrame {
    fn is_terminated(&self) -> bool {
        self.wait.is_done()
    }
}
