//! The stream of a watch's changes.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{FusedStream, Stream};

use crate::wait::NextItem;

use super::wait::{Waits, poll_in_runtime};
use super::waiter::Waiter;
use crate::durable::RuntimeChanges;
use crate::sync::closed::{OfSource, Removals};

/// A [`Stream`] of the values of a [`Watch`](super::Watch) that are set after the
/// call of [`subscribe`](super::Watch::subscribe).
///
/// It remembers the version of the value that it has seen. So **no change is lost
/// between two items**: if the value has changed since, the next item is ready at
/// once. **Values in between are skipped**: several changes between two items are one
/// item, the latest value. If every value counts, use a [`Signal`](crate::sync::Signal). The
/// stream ends when the last `Watch` has been dropped and the stream has returned
/// its last value.
///
/// # Resumes
///
/// See [`Watch`](super::Watch).
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing. Dropping the stream loses a
/// change that it has not returned.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let score = Watch::new(0);
/// let mut scores = score.subscribe();
/// let shown = executor.start(async move {
///     let mut shown = Vec::new();
///     while let Some(score) = scores.next().await {
///         shown.push(score);
///         wait_seconds(1).await; // during this, the score may change
///     }
///     shown
/// });
/// score.set(10);
/// executor.run_frame(0.25);
/// score.set(20);
/// score.set(30);
/// drop(score);
/// assert_eq!(executor.run_until(shown, 0.25).unwrap(), [10, 30]);
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct Changes<T> {
    inner: Waits<T>,
    ended: bool,
}

impl<T> Changes<T> {
    pub(super) fn new(waiter: Waiter<T>) -> Self {
        Changes {
            inner: Waits::Executor(waiter),
            ended: false,
        }
    }

    pub(super) fn of_runtime(changes: Box<dyn RuntimeChanges<T>>) -> Self {
        Changes {
            inner: Waits::Runtime(changes),
            ended: false,
        }
    }
}

impl<T> Changes<T> {
    /// Makes the present value the first item. It is ready at once.
    ///
    /// # Examples
    ///
    /// A display that shows the value as soon as it exists:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let health = Watch::new(10);
    /// let mut changes = health.subscribe().with_present();
    /// let shown = executor.start(async move { [changes.next().await, changes.next().await] });
    /// health.set(9);
    /// assert_eq!(executor.run_until(shown, 0.25).unwrap(), [Some(10), Some(9)]);
    /// ```
    pub fn with_present(mut self) -> Self {
        match &mut self.inner {
            Waits::Executor(waiter) => waiter.unsee(),
            Waits::Runtime(changes) => changes.unsee(),
        }
        self
    }
}

impl<T: Clone> Changes<T> {
    /// Waits for the next change, and returns the latest value. Returns `None` if
    /// the last `Watch` has been dropped and its last value has been returned.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<T: Clone> Stream for Changes<T> {
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        let waiter = match &mut this.inner {
            Waits::Executor(waiter) => waiter,
            Waits::Runtime(changes) => {
                return poll_in_runtime(&mut **changes, cx, &mut |_| true).map(Some);
            }
        };
        if !waiter.has_news() && !waiter.is_abandoned() {
            waiter.wait(cx);
        }
        // `wait` clones the waker, which is user code: it may have set the value,
        // or dropped the last watch.
        if waiter.has_news() && waiter.defers(cx) {
            return Poll::Pending;
        }
        if waiter.has_news() {
            waiter.stop();
            waiter.see();
            return Poll::Ready(Some(waiter.shared.with(T::clone)));
        }
        if waiter.is_abandoned() {
            waiter.stop();
            this.ended = true;
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

impl<T> OfSource for Changes<T> {
    const REMOVAL_FIRST: bool = Waits::<T>::REMOVAL_FIRST;

    /// It ends by itself.
    fn is_closed(&self) -> bool {
        false
    }

    fn removals(&self) -> Option<Removals> {
        self.inner.removals()
    }
}

// The values are not stored in the stream.
impl<T> Unpin for Changes<T> {}

impl<T: Clone> FusedStream for Changes<T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<T> fmt::Debug for Changes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Changes");
        if let Waits::Executor(waiter) = &self.inner {
            shown.field("unseen", &waiter.has_news());
            shown.field("ended", &self.ended);
        }
        shown.finish_non_exhaustive()
    }
}
