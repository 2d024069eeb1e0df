//! Streams with fewer items: `debounce`, `throttle`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{FusedStream, Stream};
use pin_project::pin_project;

use crate::core::scope::named;
use crate::time::Seconds;

use super::length::Length;
use super::next_item::NextItem;
use super::{WaitSeconds, expect_polled, polled_outside, wait_seconds};

/// Returns a stream of the items of `stream` after which no other item has come for
/// `seconds`: the last of each burst.
///
/// It counts on the clock of the coroutine, and takes any [`Stream`]: a
/// [`Subscription`](crate::sync::Subscription), the [`Changes`](crate::sync::Changes) of a watch, a
/// channel. An item is replaced by the next one, so the items in between are dropped; also by one
/// that comes in the poll in which it is due. When
/// `stream` ends, the item that waits comes at once. For each key by itself, use
/// [`debounce_by_key`](super::debounce_by_key()).
///
/// # Resumes
///
/// Like [`wait_seconds`](crate::wait_seconds()): in the home phase of the first later frame
/// in which `seconds` have passed since the poll that has received the item.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing: the item and its time stay in the
/// stream.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside an
/// [`Executor`](crate::Executor).
///
/// # Examples
///
/// The settings are saved once the player has stopped to change them:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn saves(volume: Changes<u32>) -> Vec<(u64, u32)> {
///     let mut settled = debounce(1, volume);
///     let mut saves = Vec::new();
///     while let Some(volume) = settled.next().await {
///         saves.push((time().frame, volume));
///     }
///     saves
/// }
///
/// let mut executor = Executor::new();
/// let volume = Watch::new(10);
/// let saves = executor.start(saves(volume.subscribe()));
/// for change in [9, 8, 7] {
///     volume.set(change);
///     executor.run_frames(2, 0.25);
/// }
/// executor.run_frames(4, 0.25);
/// volume.set(1);
/// drop(volume);
/// assert_eq!(executor.run_until(saves, 0.25).unwrap(), [(9, 7), (11, 1)]);
/// ```
///
/// # Source
///
/// `Debounce` of R3 and Reactive Extensions.
#[track_caller]
pub fn debounce<S: Stream>(seconds: impl Seconds, stream: S) -> Debounce<S> {
    Debounce {
        stream,
        length: Length::of(seconds),
        waiting: None,
        has_ended: false,
    }
}

/// The stream of [`debounce`].
#[pin_project]
#[must_use = "streams do nothing unless they are polled"]
pub struct Debounce<S: Stream> {
    #[pin]
    stream: S,
    length: Length,
    /// The item that waits, and how long.
    waiting: Option<(S::Item, WaitSeconds)>,
    has_ended: bool,
}

impl<S: Stream + Unpin> Debounce<S> {
    /// Waits for the next item.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<S: Stream> Stream for Debounce<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        let length = quiet_time(this.length.nanos("debounce()"));
        expect_polled("debounce()");
        while !*this.has_ended {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => *this.waiting = Some((item, quiet(length))),
                Poll::Ready(None) => *this.has_ended = true,
                Poll::Pending => break,
            }
        }
        let is_quiet = match this.waiting {
            Some(_) if *this.has_ended => true,
            Some((_, wait)) => Pin::new(wait).poll(cx).is_ready(),
            None if *this.has_ended => return Poll::Ready(None),
            None => false,
        };
        if !is_quiet {
            return Poll::Pending;
        }
        Poll::Ready(this.waiting.take().map(|(item, _)| item))
    }
}

fn quiet_time(length_ns: Option<u64>) -> Option<Duration> {
    length_ns.map(Duration::from_nanos)
}

/// The wait for a quiet time.
pub(super) fn quiet(length: Option<Duration>) -> WaitSeconds {
    match length {
        Some(length) => wait_seconds(length),
        None => wait_seconds(f64::INFINITY),
    }
}

impl<S: Stream> FusedStream for Debounce<S> {
    fn is_terminated(&self) -> bool {
        self.has_ended && self.waiting.is_none()
    }
}

impl<S: Stream> fmt::Debug for Debounce<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debounce")
            .field("waiting", &self.waiting.is_some())
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

/// Returns a stream with at most one item of `stream` in each `seconds`: an item passes if
/// the last one that has passed is `seconds` ago. The others are dropped.
///
/// It counts on the clock that [`time()`](crate::time()) reads in the coroutine, and takes any
/// [`Stream`]. For the last item of a burst instead of the first, use [`debounce`]; for the latest item in
/// each `seconds`, [`sample`](super::sample()).
///
/// # Resumes
///
/// Like `stream`. An item that does not pass does not end the wait, but it polls the
/// coroutine, as any item of `stream` does.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside an
/// [`Executor`](crate::Executor).
///
/// # Examples
///
/// A sound that many hits do not play too often:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn sound(hits: Subscription<u32>) -> Vec<u32> {
///     let mut heard = Vec::new();
///     let mut hits = throttle(0.5, hits);
///     while let Some(hit) = hits.next().await {
///         heard.push(hit);
///     }
///     heard
/// }
///
/// let mut executor = Executor::new();
/// let hits = Signal::new();
/// let sound = executor.start(sound(hits.subscribe()));
/// for hit in 1..=7 {
///     hits.emit(hit);
///     executor.run_frame(0.25);
/// }
/// drop(hits);
/// assert_eq!(executor.run_until(sound, 0.25).unwrap(), [1, 3, 5, 7]);
/// ```
///
/// # Source
///
/// `ThrottleFirst` of R3; `throttle` of lodash.
#[track_caller]
pub fn throttle<S: Stream>(seconds: impl Seconds, stream: S) -> Throttle<S> {
    Throttle {
        stream,
        length: Length::of(seconds),
        passed: None,
        has_ended: false,
    }
}

/// The stream of [`throttle`].
#[pin_project]
#[must_use = "streams do nothing unless they are polled"]
pub struct Throttle<S> {
    #[pin]
    stream: S,
    length: Length,
    /// What the clock read when the last item passed.
    passed: Option<Duration>,
    has_ended: bool,
}

impl<S: Stream + Unpin> Throttle<S> {
    /// Waits for the next item.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<S: Stream> Stream for Throttle<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        let length = quiet_time(this.length.nanos("throttle()"));
        expect_polled("throttle()");
        while !*this.has_ended {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => {
                    let Some(now) = named::read_time("time()", Location::caller()) else {
                        polled_outside("throttle()")
                    };
                    let now = now.elapsed;
                    let passes = match (*this.passed, length) {
                        (Some(passed), Some(length)) => now.saturating_sub(passed) >= length,
                        (Some(_), None) => false,
                        (None, _) => true,
                    };
                    if passes {
                        *this.passed = Some(now);
                        return Poll::Ready(Some(item));
                    }
                }
                Poll::Ready(None) => *this.has_ended = true,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(None)
    }
}

impl<S: Stream> FusedStream for Throttle<S> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

impl<S> fmt::Debug for Throttle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle")
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
