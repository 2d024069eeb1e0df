//! The stream of frames.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::{FusedStream, Stream};

use crate::core::scope::named;
use crate::time::{Phase, Time};

use super::next_item::NextItem;
use super::{NextFrame, next_frame, polled_outside};

/// Returns a [`Stream`] with an item in every frame: for the combinators of
/// streams, or for a loop around `select!`.
///
/// Each item is a [`next_frame`](next_frame()). If a script does not poll the
/// stream for some frames, the next item is the next frame, not one of those that
/// have passed. The stream does not end.
///
/// # Resumes
///
/// In the home phase of the next frame, or in another phase with
/// [`in_phase`](Frames::in_phase). There is one item in a frame, even in
/// [`Phase::FixedUpdate`].
///
/// # Output
///
/// The clocks as they read in each frame.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// use futures::StreamExt;
///
/// let mut executor = Executor::new();
/// let seen = executor.run_until(
///     frames().map(|time| time.frame).filter(|n| std::future::ready(n % 2 == 0)).take(3).collect(),
///     0.1,
/// );
/// let seen: Vec<u64> = seen;
/// assert_eq!(seen, [2, 4, 6]);
/// ```
///
/// # Source
///
/// `UniTaskAsyncEnumerable.EveryUpdate`.
pub fn frames() -> Frames {
    Frames {
        wait: next_frame(),
        phase: None,
    }
}

/// The stream of [`frames`].
#[derive(Debug)]
#[must_use = "streams do nothing unless they are polled"]
pub struct Frames {
    wait: NextFrame,
    /// The phase, unless it is the home of the coroutine that polls.
    phase: Option<Phase>,
}

impl Frames {
    /// Yields an item in `phase` of each frame.
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.phase = Some(phase);
        self.wait = next_frame().in_phase(phase);
        self
    }

    /// Waits for the next frame.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl Stream for Frames {
    type Item = Time;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Time>> {
        ready!(Pin::new(&mut self.wait).poll(cx));
        self.wait = match self.phase {
            Some(phase) => next_frame().in_phase(phase),
            None => next_frame(),
        };
        match named::read_time("time()", Location::caller()) {
            Some(time) => Poll::Ready(Some(time)),
            None => polled_outside("frames()"),
        }
    }
}

impl FusedStream for Frames {
    fn is_terminated(&self) -> bool {
        false
    }
}
