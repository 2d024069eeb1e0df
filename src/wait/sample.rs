//! A stream with fewer items, each the latest: `sample`.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{FusedStream, Stream};
use pin_project::pin_project;

use crate::time::{Nanos, Seconds};

use super::interval::{Interval, MissedTicks, interval};
use super::next_item::NextItem;

/// Returns a stream with at most one item of `stream` in each `seconds`: the latest one. The others are
/// dropped.
///
/// The time is divided into slots of `seconds`, which count from the poll that receives the first
/// item, without drift, on the clock of the coroutine. If items come in a slot, the last of them is
/// returned as the slot ends. An item that comes after a slot without any does not wait for that: it
/// is returned in the next frame, as that of the slot. When `stream` ends, the item that waits comes
/// at once.
///
/// So unlike with [`throttle`](super::throttle()), the last item of a burst always comes, and unlike with
/// [`debounce`](super::debounce()), a stream without pauses has items, too. It takes any [`Stream`].
///
/// # Resumes
///
/// Like the [`tick`](Interval::tick) of an interval: in the home phase of the first later frame in which
/// the slot has ended.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing: the item and the slots stay in the stream.
///
/// # Panics
///
/// - When called: if `seconds` is zero, negative or NaN. With infinity, only the last item comes,
///   when `stream` ends.
/// - When polled: outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// The position of a hero that moves in each frame, twice a second:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn send(positions: Changes<u32>) -> Vec<(u64, u32)> {
///     let mut sent = Vec::new();
///     let mut positions = sample(0.5, positions);
///     while let Some(position) = positions.next().await {
///         sent.push((time().frame, position));
///     }
///     sent
/// }
///
/// let mut executor = Executor::new();
/// let position = Watch::new(0);
/// let sent = executor.start(send(position.subscribe()));
/// for step in 1..=9 {
///     position.set(step);
///     executor.run_frame(0.2);
/// }
/// drop(position);
/// let sent = executor.run_until(sent, 0.2).unwrap();
/// assert_eq!(sent, [(4, 4), (6, 6), (9, 9)]); // at 0.8, 1.2 and 1.8 s: slots from 0.2 s on
/// ```
///
/// # Source
///
/// `sample` and `throttleLatest` of Reactive Extensions; `ThrottleLast` of R3.
#[track_caller]
pub fn sample<S: Stream>(seconds: impl Seconds, stream: S) -> Sample<S> {
    assert!(
        !matches!(
            seconds.length_ns(),
            Nanos::Finite(0) | Nanos::Negative | Nanos::NotANumber
        ),
        "the length of the slots of the `sample` made at {} must be a number of seconds above zero, or infinity",
        Location::caller()
    );
    Sample {
        stream,
        slots: interval(seconds).missed_ticks(MissedTicks::Skip),
        latest: None,
        has_ended: false,
    }
}

/// The stream of [`sample`].
#[pin_project]
#[must_use = "streams do nothing unless they are polled"]
pub struct Sample<S: Stream> {
    #[pin]
    stream: S,
    /// Its tick is awaited only while there is an item.
    slots: Interval,
    latest: Option<S::Item>,
    has_ended: bool,
}

impl<S: Stream + Unpin> Sample<S> {
    /// Waits for the next item.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<S: Stream> Stream for Sample<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        while !*this.has_ended {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => *this.latest = Some(item),
                Poll::Ready(None) => *this.has_ended = true,
                Poll::Pending => break,
            }
        }
        if *this.has_ended {
            return Poll::Ready(this.latest.take());
        }
        if this.latest.is_none() || Pin::new(this.slots).poll_next(cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(this.latest.take())
    }
}

impl<S: Stream> FusedStream for Sample<S> {
    fn is_terminated(&self) -> bool {
        self.has_ended && self.latest.is_none()
    }
}

impl<S: Stream> fmt::Debug for Sample<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample")
            .field("waiting", &self.latest.is_some())
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
