//! The wait for the next item of a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use futures::stream::{FusedStream, Stream};

use super::interval::MOST_TICKS;

/// The future of [`Subscription::next`](crate::sync::Subscription::next) and
/// [`Changes::next`](crate::sync::Changes::next), and of the method `next` of other streams.
///
/// It is dropped without harm: an item that it has not returned stays in the stream.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextItem<'a, S> {
    stream: &'a mut S,
}

impl<'a, S> NextItem<'a, S> {
    /// The next item of `stream`. Snapshots show the wait at the line of its `.await`; with
    /// `StreamExt::next` of `futures`, they show a line of that crate.
    pub fn new(stream: &'a mut S) -> Self {
        NextItem { stream }
    }
}

impl<S: Stream + Unpin> Future for NextItem<'_, S> {
    type Output = Option<S::Item>;

    // Unlike that of futures, it tells the stream the line of the `.await`.
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.stream).poll_next(cx)
    }
}

impl<S: FusedStream + Unpin> FusedFuture for NextItem<'_, S> {
    fn is_terminated(&self) -> bool {
        self.stream.is_terminated()
    }
}

/// The future of [`Interval::tick`](crate::wait::Interval::tick).
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextTick<'a> {
    interval: &'a mut super::Interval,
}

impl<'a> NextTick<'a> {
    pub(super) fn new(interval: &'a mut super::Interval) -> Self {
        NextTick { interval }
    }
}

impl Future for NextTick<'_> {
    type Output = super::Tick;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut *self.interval).poll_next(cx) {
            Poll::Ready(Some(tick)) => Poll::Ready(tick),
            // An interval does not end.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl FusedFuture for NextTick<'_> {
    fn is_terminated(&self) -> bool {
        false
    }
}

/// The future of [`Interval::ticks`](crate::wait::Interval::ticks).
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextTicks<'a> {
    interval: &'a mut super::Interval,
}

impl<'a> NextTicks<'a> {
    pub(super) fn new(interval: &'a mut super::Interval) -> Self {
        NextTicks { interval }
    }
}

impl Future for NextTicks<'_> {
    type Output = u64;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.interval.poll_ticks(cx, MOST_TICKS) {
            Poll::Ready(Some((_, count))) => Poll::Ready(count),
            // An interval does not end.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl FusedFuture for NextTicks<'_> {
    fn is_terminated(&self) -> bool {
        false
    }
}
