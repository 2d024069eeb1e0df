//! The waits for one event.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use futures::stream::Stream;

use crate::wait::polled_again;

use super::Subscription;
use crate::sync::closed::{OfSource, Removals, of_part};

/// The future of [`Signal::wait`](super::Signal::wait).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignal<T> {
    /// `None` once it has been ready.
    pub(super) subscription: Option<Subscription<T>>,
}

/// The future of [`Signal::wait_for`](super::Signal::wait_for).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSignalFor<T, P> {
    /// `None` once it has been ready.
    pub(super) subscription: Option<Subscription<T>>,
    pub(super) accept: P,
}

impl<T: Clone> Future for WaitSignal<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(subscription) = &mut self.subscription else {
            polled_again("Signal::wait()");
        };
        match Pin::new(subscription).poll_next(cx) {
            Poll::Ready(Some(value)) => {
                self.subscription = None;
                Poll::Ready(value)
            }
            // After the last signal has been dropped, there is no value to return.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: Clone, P: Fn(&T) -> bool> Future for WaitSignalFor<T, P> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let Some(subscription) = &mut this.subscription else {
            polled_again("Signal::wait_for()");
        };
        let polled = subscription.poll_for(cx, &mut this.accept);
        if polled.is_ready() {
            this.subscription = None;
        }
        polled
    }
}

of_part! {
    WaitSignal<T>: subscription of Subscription<T>;
    WaitSignalFor<T, P>: subscription of Subscription<T>;
}

// The closure is never pinned.
impl<T, P> Unpin for WaitSignalFor<T, P> {}

impl<T: Clone> FusedFuture for WaitSignal<T> {
    fn is_terminated(&self) -> bool {
        self.subscription.is_none()
    }
}

impl<T: Clone, P: Fn(&T) -> bool> FusedFuture for WaitSignalFor<T, P> {
    fn is_terminated(&self) -> bool {
        self.subscription.is_none()
    }
}

impl<T> fmt::Debug for WaitSignal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSignal")
            .field("done", &self.subscription.is_none())
            .finish_non_exhaustive()
    }
}

impl<T, P> fmt::Debug for WaitSignalFor<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSignalFor")
            .field("done", &self.subscription.is_none())
            .finish_non_exhaustive()
    }
}
