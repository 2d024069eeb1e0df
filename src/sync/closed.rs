//! A wait for an event that may be the last to know of its source.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::future::FusedFuture;
use futures::stream::{FusedStream, Stream};

use crate::durable::RuntimeEvents;
use crate::wait::NextItem;

use super::source::expect_called;
use super::{Changed, Changes, Subscription, WaitSignal, WaitSignalFor, WaitWatch};

/// A wait whose source may be gone.
pub(super) trait OfSource {
    /// Whether a removal comes before what the wait has: the value that it would return is gone with it.
    const REMOVAL_FIRST: bool;

    /// Whether the wait, which is pending, will never end: its source is gone.
    fn is_closed(&self) -> bool;

    /// The removals of its source from now on. `None` if the wait is over.
    fn removals(&self) -> Option<Removals>;
}

/// Of a wait, by the field in which it has what it waits for, until it is over.
macro_rules! of_part {
    ($($wait:ident<T $(, $more:ident)?>: $part:ident of $of:ty;)*) => {$(
        impl<T $(, $more)?> OfSource for $wait<T $(, $more)?> {
            const REMOVAL_FIRST: bool = <$of>::REMOVAL_FIRST;

            fn is_closed(&self) -> bool {
                self.$part.as_ref().is_some_and(OfSource::is_closed)
            }

            fn removals(&self) -> Option<Removals> {
                self.$part.as_ref()?.removals()
            }
        }
    )*};
}
pub(super) use of_part;

/// The removals of a source that is found by its name.
pub(super) enum Removals {
    /// An executor has it, and had removed it so often before.
    Executor(u64),
    /// A runtime of durable scripts has it: they are a wait of their own.
    Runtime(Box<dyn RuntimeEvents<()>>),
}

macro_rules! or_closed {
    ($($wait:ident<T $(, $more:ident)?> as $source:literal, $remove:literal: $open:literal)*) => {$(
        impl<T $(, $more)?> $wait<T $(, $more)?> {
            #[doc = concat!("Makes the wait end with an error once the ", $source, " is gone: once its last clone has \
                been dropped.")]
            ///
            #[doc = concat!("Without this, such a wait sleeps until it is stopped. A script that holds a clone of \
                the ", $source, " itself never sees it go. ", $open)]
            ///
            #[doc = concat!("A ", $source, " that is found by its name is not gone before its executor. There, and in \
                durable scripts, the error comes once it is [removed](", $remove, "), when its entity is gone. A wait \
                that begins after that waits for the next one of this name.")]
            ///
            /// # Resumes
            ///
            /// Like the wait. The end of the source is like an event; at once if it is gone.
            ///
            /// # Errors
            ///
            /// [`Closed`] if the source is gone and will not end the wait.
            ///
            /// # Examples
            ///
            /// See [`Closed`].
            #[doc(alias = "try_wait")]
            #[doc(alias = "closed")]
            pub fn or_closed(self) -> OrClosed<Self> {
                OrClosed {
                    removals: self.removals(),
                    wait: self,
                    is_closed: false,
                }
            }
        }
    )*};
}

or_closed! {
    WaitSignal<T> as "signal", "crate::sync::Signal::remove": "So make the wait where the clone is, or use a \
        [`Subscription`](crate::sync::Subscription), which holds none and ends."
    WaitSignalFor<T, P> as "signal", "crate::sync::Signal::remove": "So make the wait where the clone is, or use a \
        [`Subscription`](crate::sync::Subscription), which holds none and ends."
    Changed<T> as "watch", "crate::sync::Watch::remove": "A [`WatchReader`](crate::sync::WatchReader) is not one."
    WaitWatch<T, P> as "watch", "crate::sync::Watch::remove": "A [`WatchReader`](crate::sync::WatchReader) is not one."
}

macro_rules! streams_or_closed {
    ($($stream:ident as $source:literal, $remove:literal;)*) => {$(
        impl<T> $stream<T> {
            #[doc = concat!("Makes the stream end once the ", $source, " is [removed](", $remove, "), which is found \
                by its name. One that is not ends by itself, with the last handle.")]
            ///
            /// It hears of removals from this call on, also between two items. In a durable script, it ends with its
            /// chapter.
            ///
            /// # Examples
            ///
            /// See [`Closed`].
            #[doc(alias = "TakeUntil")]
            #[track_caller]
            pub fn or_closed(self) -> OrClosed<Self> {
                let mut stream = OrClosed {
                    removals: self.removals(),
                    wait: self,
                    is_closed: false,
                };
                if let Some(Removals::Runtime(_)) = stream.removals {
                    // It is polled with the waker of the script before that waits for it.
                    let cx = &mut Context::from_waker(Waker::noop());
                    stream.is_closed = is_removed(&stream.wait, &mut stream.removals, cx);
                }
                stream
            }
        }
    )*};
}

streams_or_closed! {
    Subscription as "signal", "crate::sync::Signal::remove";
    Changes as "watch", "crate::sync::Watch::remove";
}

/// What `or_closed` returns: a future, of the waits for a signal and for a watch; a stream, of their
/// subscriptions.
#[must_use = "futures and streams do nothing unless you `.await` or poll them"]
pub struct OrClosed<W> {
    wait: W,
    removals: Option<Removals>,
    is_closed: bool,
}

impl<W: OfSource + Future + FusedFuture + Unpin> Future for OrClosed<W> {
    type Output = Result<W::Output, Closed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_closed {
            crate::wait::polled_again("or_closed()");
        }
        let polled = if begins_closed(&mut self, cx) {
            None
        } else {
            Some(Pin::new(&mut self.wait).poll(cx))
        };
        let polled = settle(&mut self, polled, cx);
        if polled.is_ready() {
            self.removals = None;
        }
        polled
    }
}

impl<S: OfSource + FusedStream + Unpin> Stream for OrClosed<S> {
    type Item = S::Item;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        if self.is_closed {
            return Poll::Ready(None);
        }
        let polled = if begins_closed(&mut self, cx) {
            None
        } else {
            Some(Pin::new(&mut self.wait).poll_next(cx))
        };
        settle(&mut self, polled, cx).map(Result::unwrap_or_default)
    }
}

impl<S> OrClosed<S> {
    /// Waits for the next item of a subscription. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self>
    where
        Self: Stream,
    {
        NextItem::new(self)
    }
}

// What is pending has both of its parts polled: each wakes the script. The wait is polled by the caller, whose line it
// shows.

/// Whether it is closed before the wait is polled.
#[track_caller]
fn begins_closed<W: OfSource>(this: &mut OrClosed<W>, cx: &mut Context<'_>) -> bool {
    W::REMOVAL_FIRST && is_removed(&this.wait, &mut this.removals, cx)
}

/// What it gives if the wait has been polled with this result, or not at all, because it is closed.
#[track_caller]
fn settle<W: OfSource, T>(
    this: &mut OrClosed<W>,
    polled: Option<Poll<T>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, Closed>> {
    let is_closed = match polled {
        Some(Poll::Ready(ready)) => return Poll::Ready(Ok(ready)),
        None => true,
        Some(Poll::Pending) => {
            !W::REMOVAL_FIRST && is_removed(&this.wait, &mut this.removals, cx)
                || this.wait.is_closed()
        }
    };
    if !is_closed {
        return Poll::Pending;
    }
    this.is_closed = true;
    this.removals = None;
    Poll::Ready(Err(Closed))
}

/// Whether the source of a wait has been removed.
#[track_caller]
fn is_removed(wait: &impl OfSource, removals: &mut Option<Removals>, cx: &mut Context<'_>) -> bool {
    match removals {
        None => false,
        Some(Removals::Executor(before)) => {
            matches!(wait.removals(), Some(Removals::Executor(now)) if now != *before)
        }
        Some(Removals::Runtime(removed)) => {
            let at = Location::caller();
            expect_called(removed.poll(at, cx, &mut |()| true)).is_ready()
        }
    }
}

impl<W: fmt::Debug> fmt::Debug for OrClosed<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrClosed")
            .field("wait", &self.wait)
            .field("closed", &self.is_closed)
            .finish_non_exhaustive()
    }
}

impl<W: OfSource + FusedFuture + Unpin> FusedFuture for OrClosed<W> {
    fn is_terminated(&self) -> bool {
        self.is_closed || self.wait.is_terminated()
    }
}

impl<S: OfSource + FusedStream + Unpin> FusedStream for OrClosed<S> {
    fn is_terminated(&self) -> bool {
        self.is_closed || self.wait.is_terminated()
    }
}

/// The error of a wait whose source is gone: all clones of the [`Signal`](crate::sync::Signal) or the
/// [`Watch`](crate::sync::Watch) have been dropped; or it is found by its name, and was
/// [removed](crate::sync::Signal::remove).
///
/// # Examples
///
/// A guard that waits for an alarm, and goes home when the bell is broken:
///
/// ```
/// use framestep::prelude::*;
/// use framestep::sync::Closed;
///
/// let mut executor = Executor::new();
/// let bell = Signal::new();
/// let guards = [(); 2].map(|()| executor.start(bell.wait().or_closed()));
/// bell.emit("fire");
/// executor.run_frame(0.25);
/// let late = executor.start(bell.wait().or_closed());
/// drop(bell);
/// for guard in guards {
///     assert_eq!(guard.take_output().unwrap().unwrap(), Ok("fire"));
/// }
/// assert_eq!(executor.run_until(late, 0.25).unwrap(), Err(Closed));
/// ```
///
/// In a loop, a subscription hears of each event, and of the end between two of them:
///
/// ```
/// use framestep::prelude::*;
///
/// const HIT: Signal<u32> = signal("hit");
///
/// async fn show_damage(orc: u32) -> u32 {
///     let mut hits = HIT.keyed(orc).subscribe().or_closed();
///     let mut damage = 0;
///     while let Some(hit) = hits.next().await {
///         damage += hit;
///         wait_seconds(0.5).await; // the number flies up
///     }
///     damage
/// }
///
/// let mut executor = Executor::new();
/// let shown = executor.start(show_damage(7));
/// executor.enter(|| {
///     HIT.keyed(7).emit(3);
///     HIT.keyed(7).emit(4);
///     HIT.keyed(7).remove();
/// });
/// assert_eq!(executor.run_until(shown, 0.25).unwrap(), 7);
/// ```
///
/// # Source
///
/// `RecvError::Closed` of tokio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signal or watch is gone: all clones have been dropped, or it was removed")
    }
}

impl Error for Closed {}
