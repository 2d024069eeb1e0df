//! The stream of every n-th frame.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::{FusedStream, Stream};

use crate::core::scope::{named, recording};
use crate::time::{Phase, Time};

use super::next_item::NextItem;
use super::{WaitFrames, polled, polled_outside, wait_frames};

/// Returns a [`Stream`] with an item in every `count`-th frame, counted from the frame of
/// the first poll: for work that need not be done in each frame. 0 counts as 1.
///
/// The frames are multiples, so the items do not drift: if a script awaits the stream too
/// late, the frames in between have no item, and the next item comes in the next multiple.
/// The stream does not end.
///
/// # Resumes
///
/// Like [`wait_frames`](crate::wait_frames()): in the home phase of the frame, or in another
/// phase with [`in_phase`](EveryFrames::in_phase).
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
/// let mut executor = Executor::new();
/// let looked = executor.run_until(
///     async {
///         let (mut looks, mut looked) = (every_frames(3), Vec::new());
///         while looked.len() < 3 {
///             looked.extend(looks.next().await.map(|time| time.frame));
///             wait_frames(looked.len() as u64).await;
///         }
///         looked
///     },
///     0.1,
/// );
/// assert_eq!(looked, [3, 6, 9]);
/// ```
///
/// # Source
///
/// `UniTaskAsyncEnumerable.IntervalFrame`; `Observable.IntervalFrame` of R3.
pub fn every_frames(count: u64) -> EveryFrames {
    EveryFrames {
        count: count.max(1),
        phase: None,
        due: None,
        wait: None,
    }
}

/// The stream of [`every_frames`].
#[derive(Debug)]
#[must_use = "streams do nothing unless they are polled"]
pub struct EveryFrames {
    count: u64,
    /// The phase, unless it is the home of the coroutine that polls.
    phase: Option<Phase>,
    /// The frame of the next item. `None` before the first poll.
    due: Option<u64>,
    wait: Option<WaitFrames>,
}

impl EveryFrames {
    /// Yields the items in `phase`.
    ///
    /// # Panics
    ///
    /// If the stream has been polled.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.due.is_none(),
            "`in_phase` was called on an `every_frames()` that has begun: call it before the \
             first item is awaited"
        );
        self.phase = Some(phase);
        self
    }

    /// Waits for the next item.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }

    /// Makes the wait for the next multiple after `frame`.
    fn begin(&mut self, frame: u64) -> WaitFrames {
        let due = self.due.unwrap_or(frame);
        // Overdue items are skipped.
        let passed = frame.saturating_sub(due) / self.count;
        let next = due.saturating_add(passed.saturating_mul(self.count));
        let next = if next > frame {
            next
        } else {
            next.saturating_add(self.count)
        };
        self.due = Some(next);
        let wait = wait_frames(next - frame);
        match self.phase {
            Some(phase) => wait.in_phase(phase),
            None => wait,
        }
    }
}

impl Stream for EveryFrames {
    type Item = Time;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Time>> {
        let (this, line) = (&mut *self, Location::caller());
        let is_recorded = recording::is_recording();
        if this.wait.is_none() {
            // Only the first frame is recorded: a wait knows by itself when it is due.
            let frame = match this.due {
                None => named::read_frame("every_frames()", line),
                Some(due) => Some(named::frame_here().unwrap_or(due)),
            };
            let Some(frame) = frame else {
                polled_outside("every_frames()")
            };
            this.wait = Some(this.begin(frame));
        }
        let Some(wait) = &mut this.wait else {
            return Poll::Pending;
        };
        if is_recorded {
            let time = ready!(wait.poll_recorded(cx, "every_frames()", line));
            this.wait = None;
            return Poll::Ready(Some(time));
        }
        ready!(Pin::new(wait).poll(cx));
        this.wait = None;
        Poll::Ready(Some(polled("every_frames()", named::time)))
    }
}

impl FusedStream for EveryFrames {
    fn is_terminated(&self) -> bool {
        false
    }
}
