//! Waiting for the ends of several coroutines.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures::future::FusedFuture;

use crate::{Coroutine, JoinError};

use super::polled_again;

/// Waits until all of `coroutines` have ended.
///
/// # Resumes
///
/// As soon as the last of them has ended, in the same frame and phase, like a
/// join of that one; at once if all have ended, or if there are none.
///
/// # Output
///
/// What each of them gave, in the order in which they were passed: what it
/// returned, or a [`JoinError`] if it was stopped or panicked. One that failed
/// does not end the wait for the others.
///
/// # Cancel safety
///
/// Dropping it drops the handles: the coroutines go on by themselves, but for
/// those with [`stop_on_drop`](Coroutine::stop_on_drop). What some have returned
/// already is lost.
///
/// # Panics
///
/// If a coroutine awaits itself.
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
///         let walkers = [3, 1, 2].map(|seconds| start(walk(seconds)));
///         let arrived: Result<Vec<_>, _> = join_all(walkers).await.into_iter().collect();
///         assert_eq!(arrived.unwrap(), [3, 1, 2]);
///         assert_eq!(time().elapsed.as_secs(), 3);
///     },
///     0.25,
/// );
/// ```
///
/// # Source
///
/// `UniTask.WhenAll`.
#[doc(alias = "WhenAll")]
pub fn join_all<T>(coroutines: impl IntoIterator<Item = Coroutine<T>>) -> JoinAll<T> {
    let coroutines: Vec<_> = coroutines.into_iter().collect();
    JoinAll {
        results: Some(Vec::with_capacity(coroutines.len())),
        coroutines: coroutines.into_iter(),
    }
}

/// The future of [`join_all`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct JoinAll<T> {
    /// Those whose result is still to be had. Only the first is waited for: it
    /// does not matter when the others end.
    coroutines: vec::IntoIter<Coroutine<T>>,
    /// `None` once they have been given.
    results: Option<Vec<Result<T, JoinError>>>,
}

impl<T> Future for JoinAll<T> {
    type Output = Vec<Result<T, JoinError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(results) = &mut this.results else {
            polled_again("join_all()");
        };
        while let Some(coroutine) = this.coroutines.as_mut_slice().first_mut() {
            results.push(ready!(Pin::new(coroutine).poll(cx)));
            this.coroutines.next();
        }
        Poll::Ready(this.results.take().unwrap_or_default())
    }
}

// Results are stored, never pinned.
impl<T> Unpin for JoinAll<T> {}

impl<T> FusedFuture for JoinAll<T> {
    fn is_terminated(&self) -> bool {
        self.results.is_none()
    }
}

impl<T> fmt::Debug for JoinAll<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinAll")
            .field("left", &self.coroutines.as_slice())
            .finish_non_exhaustive()
    }
}
