//! Streams with fewer items: `debounce`, `throttle`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::durable::{Stream, next_item};
use framestep::time::Seconds;
use framestep::wait::NextItem;

use crate::script::effect::time;
use crate::wait::timed::Ns;
use crate::wait::{WaitSeconds, wait_seconds};

/// Returns a stream of the items of `stream` after which no other item has come for `seconds`: the
/// last of each burst. See [`framestep::wait::debounce`].
///
/// It counts on the clock of the script, and takes any stream whose items are a function of what is
/// recorded: a [`Subscription`](crate::Subscription), [`changes_of`](crate::changes_of) of a value, an
/// [`interval`](crate::interval), and what `StreamExt` makes of them. An item is replaced by the next
/// one. When `stream` ends, the item that waits comes at once.
///
/// # Resumes
///
/// Like [`wait_seconds`](crate::wait_seconds): in the home phase of the first later frame in which
/// `seconds` have passed since the poll that has received the item.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing: the item and its time stay in the stream.
///
/// # Panics
///
/// When called, if `seconds` is NaN. When polled: outside of an executor, or inside of a
/// [`with`](crate::with()).
///
/// # Examples
///
/// The settings are saved once the player has stopped to change them:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const VOLUME: Signal<u32> = signal("volume");
///
/// #[durable]
/// async fn saves() -> Vec<(u64, u32)> {
///     let (mut settled, mut saves) = (debounce(1, VOLUME.subscribe()), Vec::new());
///     while saves.len() < 2 {
///         let volume = settled.next().await.unwrap_or_default();
///         saves.push((time().frame, volume));
///     }
///     saves
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Saves>());
/// let saves = runtime.start(saves());
/// for (frame, volume) in (1..=15).zip([9, 8, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]) {
///     if volume > 0 {
///         runtime.emit(&VOLUME, volume);
///     }
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(saves), Some(Ok(vec![(7, 7), (13, 1)])));
/// ```
///
/// # Source
///
/// [`framestep::wait::debounce`].
#[doc(alias = "Debounce")]
#[track_caller]
pub fn debounce<S: Stream>(seconds: impl Seconds, stream: S) -> Debounce<S> {
    Debounce {
        stream: Box::pin(stream),
        length: Ns::of(seconds),
        waiting: None,
        has_ended: false,
    }
}

fn quiet(length: Ns) -> WaitSeconds {
    match length.finite() {
        Some(ns) => wait_seconds(Duration::from_nanos(ns)),
        None => wait_seconds(f64::INFINITY),
    }
}

/// The stream of [`debounce`].
#[must_use = "streams do nothing unless they are polled"]
pub struct Debounce<S: Stream> {
    stream: Pin<Box<S>>,
    length: Ns,
    /// The item that waits, and how long.
    waiting: Option<(S::Item, WaitSeconds)>,
    has_ended: bool,
}

impl<S: Stream> Debounce<S> {
    /// Waits for the next item. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }
}

impl<S: Stream> Stream for Debounce<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        while !this.has_ended {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => this.waiting = Some((item, quiet(this.length))),
                Poll::Ready(None) => this.has_ended = true,
                Poll::Pending => break,
            }
        }
        let is_quiet = match &mut this.waiting {
            Some(_) if this.has_ended => true,
            Some((_, wait)) => Pin::new(wait).poll(cx).is_ready(),
            None if this.has_ended => return Poll::Ready(None),
            None => false,
        };
        if !is_quiet {
            return Poll::Pending;
        }
        Poll::Ready(this.waiting.take().map(|(item, _)| item))
    }
}

impl<S: Stream> Unpin for Debounce<S> {}

impl<S: Stream> fmt::Debug for Debounce<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debounce")
            .field("waiting", &self.waiting.is_some())
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

/// Returns a stream with at most one item of `stream` in each `seconds`: an item passes if the last
/// one that has passed is `seconds` ago. The others are dropped. See [`framestep::wait::throttle`].
///
/// It counts on the clock that [`time`](crate::time) reads in the script, which it records for each
/// item of `stream`. For the streams that it takes, and for the last item of a burst instead of the
/// first, see [`debounce`].
///
/// # Resumes
///
/// Like `stream`. An item that does not pass does not end the wait.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// When called, if `seconds` is NaN. When polled: outside of an executor, or inside of a
/// [`with`](crate::with()).
///
/// # Examples
///
/// A sound that many hits do not play too often:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const HIT: Signal<u32> = signal("hit");
///
/// #[durable]
/// async fn sound() -> Vec<u32> {
///     let (mut hits, mut heard) = (throttle(0.5, HIT.subscribe()), Vec::new());
///     while heard.len() < 4 {
///         heard.extend(hits.next().await);
///     }
///     heard
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Sound>());
/// let sound = runtime.start(sound());
/// for hit in 1..=7 {
///     runtime.emit(&HIT, hit);
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(sound), Some(Ok(vec![1, 3, 5, 7])));
/// ```
///
/// # Source
///
/// [`framestep::wait::throttle`].
#[doc(alias = "ThrottleFirst")]
#[track_caller]
pub fn throttle<S: Stream>(seconds: impl Seconds, stream: S) -> Throttle<S> {
    Throttle {
        stream: Box::pin(stream),
        length: Ns::of(seconds),
        passed: None,
        has_ended: false,
    }
}

/// The stream of [`throttle`].
#[must_use = "streams do nothing unless they are polled"]
pub struct Throttle<S> {
    stream: Pin<Box<S>>,
    length: Ns,
    /// What the clock read when the last item passed.
    passed: Option<Duration>,
    has_ended: bool,
}

impl<S: Stream> Throttle<S> {
    /// Waits for the next item. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }
}

impl<S: Stream> Stream for Throttle<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        while !this.has_ended {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => {
                    let now = time().elapsed;
                    let passes = match (this.passed, this.length.finite()) {
                        (Some(passed), Some(ns)) => {
                            now.saturating_sub(passed) >= Duration::from_nanos(ns)
                        }
                        (Some(_), None) => false,
                        (None, _) => true,
                    };
                    if passes {
                        this.passed = Some(now);
                        return Poll::Ready(Some(item));
                    }
                }
                Poll::Ready(None) => this.has_ended = true,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(None)
    }
}

impl<S> Unpin for Throttle<S> {}

impl<S> fmt::Debug for Throttle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle")
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
