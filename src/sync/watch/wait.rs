//! The waits for a change and for a condition.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::base::call;
use crate::wait::polled_again;

use super::waiter::Waiter;
use crate::sync::closed::OfSource;

/// The future of [`Watch::changed`](super::Watch::changed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Changed<T> {
    /// `None` once it has been ready.
    waiter: Option<Waiter<T>>,
}

/// The future of [`Watch::wait_for`](super::Watch::wait_for).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitWatch<T, P> {
    /// `None` once it has been ready.
    waiter: Option<Waiter<T>>,
    condition: P,
}

impl<T> Changed<T> {
    pub(super) fn new(waiter: Waiter<T>) -> Self {
        Changed {
            waiter: Some(waiter),
        }
    }
}

impl<T, P> WaitWatch<T, P> {
    pub(super) fn new(waiter: Waiter<T>, condition: P) -> Self {
        WaitWatch {
            waiter: Some(waiter),
            condition,
        }
    }
}

impl<T> OfSource for Changed<T> {
    fn is_closed(&self) -> bool {
        self.waiter.as_ref().is_some_and(Waiter::is_closed)
    }
}

impl<T, P> OfSource for WaitWatch<T, P> {
    fn is_closed(&self) -> bool {
        self.waiter.as_ref().is_some_and(Waiter::is_closed)
    }
}

impl<T: Clone> Future for Changed<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(waiter) = &self.waiter else {
            polled_again("Watch::changed()");
        };
        if !waiter.has_news() {
            waiter.wait(cx);
        }
        // `wait` clones the waker, which is user code: it may have set the value.
        if !waiter.has_news() || waiter.defers(cx) {
            return Poll::Pending;
        }
        let value = waiter.shared.with(T::clone);
        self.waiter = None;
        Poll::Ready(value)
    }
}

impl<T: Clone, P: Fn(&T) -> bool> Future for WaitWatch<T, P> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let Some(waiter) = &mut this.waiter else {
            polled_again("Watch::wait_for()");
        };
        waiter.see();
        if waiter.defers(cx) {
            return Poll::Pending;
        }
        let condition = &mut this.condition;
        let value = waiter
            .shared
            .with(|value| condition(value).then(|| value.clone()));
        if let Some(value) = value {
            this.waiter = None;
            return Poll::Ready(value);
        }
        waiter.wait(cx);
        if waiter.has_news() {
            // The condition has set the value. It is checked in the next run:
            // checked again at once, it could block the frame.
            call::out(|| cx.waker().wake_by_ref());
        }
        Poll::Pending
    }
}

// The closure is never pinned, and the values are not stored in the future.
impl<T> Unpin for Changed<T> {}
impl<T, P> Unpin for WaitWatch<T, P> {}

impl<T: Clone> FusedFuture for Changed<T> {
    fn is_terminated(&self) -> bool {
        self.waiter.is_none()
    }
}

impl<T: Clone, P: Fn(&T) -> bool> FusedFuture for WaitWatch<T, P> {
    fn is_terminated(&self) -> bool {
        self.waiter.is_none()
    }
}

impl<T> fmt::Debug for Changed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed")
            .field("done", &self.waiter.is_none())
            .finish_non_exhaustive()
    }
}

impl<T, P> fmt::Debug for WaitWatch<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitWatch")
            .field("done", &self.waiter.is_none())
            .finish_non_exhaustive()
    }
}
