//! A wait for an event that may be the last to know of its source.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use super::{Changed, WaitSignal, WaitSignalFor, WaitWatch};

/// A wait whose source may be gone.
pub(super) trait OfSource {
    /// Whether the wait, which is pending, will never end: its source is gone.
    fn is_closed(&self) -> bool;
}

macro_rules! or_closed {
    ($($wait:ident<T $(, $more:ident)?> as $source:literal: $open:literal)*) => {$(
        impl<T $(, $more)?> $wait<T $(, $more)?> {
            #[doc = concat!("Makes the wait end with an error once the ", $source, " is gone: once its last clone has \
                been dropped.")]
            ///
            #[doc = concat!("Without this, such a wait sleeps until it is stopped. A script that holds a clone of \
                the ", $source, " itself never sees it go. ", $open)]
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
                    wait: self,
                    is_closed: false,
                }
            }
        }
    )*};
}

or_closed! {
    WaitSignal<T> as "signal": "So make the wait where the clone is, or use a \
        [`Subscription`](crate::sync::Subscription), which holds none and ends."
    WaitSignalFor<T, P> as "signal": "So make the wait where the clone is, or use a \
        [`Subscription`](crate::sync::Subscription), which holds none and ends."
    Changed<T> as "watch": "A [`WatchReader`](crate::sync::WatchReader) is not one."
    WaitWatch<T, P> as "watch": "A [`WatchReader`](crate::sync::WatchReader) is not one."
}

/// The future of `or_closed`, of the waits for a signal and for a watch.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct OrClosed<W> {
    wait: W,
    is_closed: bool,
}

impl<W: OfSource + Future + FusedFuture + Unpin> Future for OrClosed<W> {
    type Output = Result<W::Output, Closed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_closed {
            crate::wait::polled_again("or_closed()");
        }
        let polled = Pin::new(&mut self.wait).poll(cx);
        if polled.is_pending() && self.wait.is_closed() {
            self.is_closed = true;
            return Poll::Ready(Err(Closed));
        }
        polled.map(Ok)
    }
}

impl<W: OfSource + FusedFuture + Unpin> FusedFuture for OrClosed<W> {
    fn is_terminated(&self) -> bool {
        self.is_closed || self.wait.is_terminated()
    }
}

/// The error of a wait whose source is gone: all clones of the [`Signal`](crate::sync::Signal) or the
/// [`Watch`](crate::sync::Watch) have been dropped.
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
/// # Source
///
/// `RecvError::Closed` of tokio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all clones of the signal or watch have been dropped: the wait would never end")
    }
}

impl Error for Closed {}
