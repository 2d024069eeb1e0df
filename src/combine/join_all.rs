//! `join_all`: waiting for any number of futures of one type.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::wait::polled_again;

use super::branch::Branch;
use super::pinned;

/// Waits until all of `futures` are ready.
///
/// It takes coroutine handles and any other futures of one type, and runs the
/// futures concurrently inside the coroutine that awaits it. They share one
/// allocation. For futures of different types, use [`join!`](crate::join!).
///
/// # Resumes
///
/// As soon as the last of the futures is ready, in the phase in which that future
/// resumes. With handles, that is the frame and phase in which the last coroutine
/// ends. It is ready at once if all futures are ready, or if there are none.
///
/// Each poll of the coroutine polls the pending futures, in order. A future is
/// dropped as soon as it is ready. To wait for thousands of coroutines that end one
/// by one, await their handles in a loop, which polls one of them at a time.
///
/// # Output
///
/// The outputs, in the order the futures were passed. A coroutine handle yields a
/// `Result`: what the coroutine returned, or a [`JoinError`](crate::JoinError) if
/// it was stopped or panicked. An `Err` does not end the wait for the others.
///
/// # Cancel safety
///
/// Dropping the future drops the joined futures, in order. Their waits are removed
/// in O(1). Coroutines whose handles are among them keep running, unless they [stop
/// on drop](crate::Coroutine::stop_on_drop). The outputs of ready futures are lost.
///
/// # Panics
///
/// When polled: if a coroutine awaits itself, or if the `JoinAll` was ready before.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn walk(seconds: u64) -> u64 {
///     wait_seconds(seconds).await;
///     seconds
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         assert_eq!(join_all([3, 1, 2].map(walk)).await, [3, 1, 2]);
///         assert_eq!(time().elapsed.as_secs(), 3);
///
///         // The same with coroutines, which keep running if this one is stopped.
///         let walkers = [3, 1, 2].map(|seconds| start(walk(seconds)));
///         let arrived: Result<Vec<_>, _> = join_all(walkers).await.into_iter().collect();
///         assert_eq!(arrived.unwrap(), [3, 1, 2]);
///         assert_eq!(time().elapsed.as_secs(), 6);
///     },
///     0.25,
/// );
/// ```
///
/// # Source
///
/// `UniTask.WhenAll`.
pub fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> JoinAll<F> {
    let branches: Box<[_]> = futures.into_iter().map(Branch::Pending).collect();
    JoinAll {
        branches: Some(Box::into_pin(branches)),
    }
}

/// The future of [`join_all`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct JoinAll<F: Future> {
    /// `None` once all are ready and their outputs have been returned.
    branches: Option<Pin<Box<[Branch<F>]>>>,
}

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(branches) = &mut self.branches else {
            polled_again("join_all()");
        };
        let mut all_ready = true;
        for branch in pinned::each(branches.as_mut()) {
            all_ready &= branch.poll_ready(cx);
        }
        if !all_ready {
            return Poll::Pending;
        }
        let outputs = pinned::each(branches.as_mut()).map(Branch::take).collect();
        self.branches = None;
        Poll::Ready(outputs)
    }
}

impl<F: Future> FusedFuture for JoinAll<F> {
    fn is_terminated(&self) -> bool {
        self.branches.is_none()
    }
}

impl<F: Future> fmt::Debug for JoinAll<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branches = self.branches.iter().flat_map(|branches| branches.iter());
        let pending = branches.filter(|branch| matches!(branch, Branch::Pending(_)));
        f.debug_struct("JoinAll")
            .field("pending", &pending.count())
            .finish_non_exhaustive()
    }
}
