//! The waits for a change and for a condition.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::base::call;
use crate::wait::polled_again;

use super::waiter::Waiter;
use crate::durable::RuntimeChanges;
use crate::sync::closed::{OfSource, Removals, of_part};
use crate::sync::source::expect_called;

/// The future of [`Watch::changed`](super::Watch::changed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Changed<T> {
    /// `None` once it has been ready.
    waits: Option<Waits<T>>,
}

/// The future of [`Watch::wait_for`](super::Watch::wait_for).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitWatch<T, P> {
    /// `None` once it has been ready.
    waits: Option<Waits<T>>,
    condition: P,
}

/// What has the value that is waited for.
pub(super) enum Waits<T> {
    Executor(Waiter<T>),
    /// A runtime of durable scripts has the value.
    Runtime(Box<dyn RuntimeChanges<T>>),
}

impl<T> OfSource for Waits<T> {
    const REMOVAL_FIRST: bool = true;

    fn is_closed(&self) -> bool {
        match self {
            Waits::Executor(waiter) => waiter.is_closed(),
            Waits::Runtime(_) => false,
        }
    }

    fn removals(&self) -> Option<Removals> {
        Some(match self {
            Waits::Executor(waiter) => Removals::Executor(waiter.removals()),
            Waits::Runtime(changes) => Removals::Runtime(changes.removals()),
        })
    }
}

impl<T> Changed<T> {
    pub(super) fn new(waiter: Waiter<T>) -> Self {
        Changed {
            waits: Some(Waits::Executor(waiter)),
        }
    }

    pub(super) fn of_runtime(changes: Box<dyn RuntimeChanges<T>>) -> Self {
        Changed {
            waits: Some(Waits::Runtime(changes)),
        }
    }
}

impl<T, P> WaitWatch<T, P> {
    pub(super) fn new(waiter: Waiter<T>, condition: P) -> Self {
        WaitWatch {
            waits: Some(Waits::Executor(waiter)),
            condition,
        }
    }

    pub(super) fn of_runtime(changes: Box<dyn RuntimeChanges<T>>, condition: P) -> Self {
        WaitWatch {
            waits: Some(Waits::Runtime(changes)),
            condition,
        }
    }
}

of_part! {
    Changed<T>: waits of Waits<T>;
    WaitWatch<T, P>: waits of Waits<T>;
}

impl<T: Clone> Future for Changed<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let waiter = match &mut this.waits {
            Some(Waits::Executor(waiter)) => waiter,
            Some(Waits::Runtime(changes)) => {
                let polled = poll_in_runtime(&mut **changes, cx, &mut |_| true);
                if polled.is_ready() {
                    this.waits = None;
                }
                return polled;
            }
            None => polled_again("Watch::changed()"),
        };
        if !waiter.has_news() {
            waiter.wait(cx);
        }
        // `wait` clones the waker, which is user code: it may have set the value.
        if !waiter.has_news() || waiter.defers(cx) {
            return Poll::Pending;
        }
        let value = waiter.shared.with(T::clone);
        this.waits = None;
        Poll::Ready(value)
    }
}

impl<T: Clone, P: Fn(&T) -> bool> Future for WaitWatch<T, P> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let waiter = match &mut this.waits {
            Some(Waits::Executor(waiter)) => waiter,
            Some(Waits::Runtime(changes)) => {
                let condition = &this.condition;
                let polled = poll_in_runtime(&mut **changes, cx, &mut |value| condition(value));
                if polled.is_ready() {
                    this.waits = None;
                }
                return polled;
            }
            None => polled_again("Watch::wait_for()"),
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
            this.waits = None;
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

#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn poll_in_runtime<T>(
    changes: &mut dyn RuntimeChanges<T>,
    cx: &mut Context<'_>,
    accept: &mut dyn FnMut(&T) -> bool,
) -> Poll<T> {
    expect_called(changes.poll(Location::caller(), cx, accept))
}

// The closure is never pinned, and the values are not stored in the future.
impl<T> Unpin for Changed<T> {}
impl<T, P> Unpin for WaitWatch<T, P> {}

impl<T: Clone> FusedFuture for Changed<T> {
    fn is_terminated(&self) -> bool {
        self.waits.is_none()
    }
}

impl<T: Clone, P: Fn(&T) -> bool> FusedFuture for WaitWatch<T, P> {
    fn is_terminated(&self) -> bool {
        self.waits.is_none()
    }
}

impl<T> fmt::Debug for Changed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed")
            .field("done", &self.waits.is_none())
            .finish_non_exhaustive()
    }
}

impl<T, P> fmt::Debug for WaitWatch<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitWatch")
            .field("done", &self.waits.is_none())
            .finish_non_exhaustive()
    }
}
