//! The result of a call that another thread has requested.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::oneshot;
use futures::future::FusedFuture;

use crate::core::scope::recording;
use crate::wait::polled_again;

/// The future of [`RemoteHandle::call_async`](super::RemoteHandle::call_async), for tasks of any
/// runtime, on any thread.
///
/// # Cancel safety
///
/// Dropping it drops the result. The closure is called all the same.
///
/// # Panics
///
/// If it is polled again after it was ready.
#[must_use = "dropping it drops the result: await it, or use `RemoteHandle::call`"]
pub struct RemoteCall<R> {
    result: oneshot::Receiver<R>,
    place: &'static Location<'static>,
    is_done: bool,
}

impl<R> RemoteCall<R> {
    /// A call that was requested at `place`, and the sender of its result.
    pub(super) fn new(place: &'static Location<'static>) -> (oneshot::Sender<R>, Self) {
        let (sender, result) = oneshot::channel();
        let call = RemoteCall {
            result,
            place,
            is_done: false,
        };
        (sender, call)
    }
}

impl<R> Future for RemoteCall<R> {
    type Output = Result<R, RemoteCallError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_done {
            polled_again("call_async()");
        }
        recording::refuse("RemoteCall::await");
        let polled = Pin::new(&mut self.result).poll(cx);
        self.is_done = polled.is_ready();
        let place = self.place;
        polled.map_err(|_| RemoteCallError { place })
    }
}

impl<R> FusedFuture for RemoteCall<R> {
    fn is_terminated(&self) -> bool {
        self.is_done
    }
}

impl<R> fmt::Debug for RemoteCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCall")
            .field("place", &self.place)
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}

/// Why [`RemoteHandle::call_async`](super::RemoteHandle::call_async) has no result: the executor was
/// dropped before the call, or the closure panicked. The executor reports a panic.
///
/// # Examples
///
/// ```
/// use framestep::Executor;
///
/// let executor = Executor::new();
/// let remote = executor.remote();
/// drop(executor);
/// let script = remote.call_async(|| 7);
///
/// let error = Executor::new().run_until(script, 0.25).unwrap_err();
/// assert!(error.to_string().contains("its executor was dropped"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteCallError {
    place: &'static Location<'static>,
}

impl RemoteCallError {
    /// The line of the call of [`RemoteHandle::call_async`](super::RemoteHandle::call_async).
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }
}

impl fmt::Display for RemoteCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the call that was requested at {} has no result: its executor was dropped before it, \
             or the closure panicked, which the executor reports",
            self.place
        )
    }
}

impl Error for RemoteCallError {}
