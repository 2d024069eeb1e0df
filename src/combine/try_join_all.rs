//! `try_join_all`: waiting for any number of futures that may fail.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::wait::polled_again;

use super::branch::Branch;
use super::pinned;

/// Waits until all of `futures` have returned `Ok`, or the first one has returned
/// `Err`.
///
/// It is [`join_all`](crate::combine::join_all()) for futures that return a `Result`, coroutine
/// handles among them: at the first error, the other futures are dropped.
///
/// # Resumes
///
/// As soon as the last of the futures is ready, or the first one with an error, in the
/// phase in which that future resumes. It is ready at once if there are none.
///
/// Each poll of the coroutine polls the pending futures, in order. If several fail in
/// one poll, the first in order counts.
///
/// # Output
///
/// The values, in the order the futures were passed, or the first error.
///
/// The result of a coroutine handle is an `Err` if the coroutine was stopped or
/// panicked. If the coroutine itself returns a `Result`, that is inside the `Ok`, and
/// does not end the wait.
///
/// # Cancel safety
///
/// Dropping the future drops the joined futures, in order, as an error does. Their
/// waits are removed in O(1). Coroutines whose handles are among them keep running,
/// unless they [stop on drop](crate::Coroutine::stop_on_drop). The outputs of ready
/// futures are lost.
///
/// # Panics
///
/// When polled: if a coroutine awaits itself, or if the `TryJoinAll` was ready before.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn load(seconds: f64, name: &str) -> Result<&str, String> {
///     wait_seconds(seconds).await;
///     if name.ends_with(".png") { Ok(name) } else { Err(format!("{name} is no picture")) }
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         let loaded = try_join_all([load(0.5, "a.png"), load(0.25, "b.png")]).await;
///         assert_eq!(loaded.unwrap(), ["a.png", "b.png"]);
///
///         let failed = try_join_all([load(60.0, "a.png"), load(0.25, "b.txt")]).await;
///         assert_eq!(failed.unwrap_err(), "b.txt is no picture");
///     },
///     0.25,
/// );
/// assert_eq!(executor.time().frame, 3);
/// ```
///
/// # Source
///
/// `futures::future::try_join_all`.
pub fn try_join_all<F, T, E>(futures: impl IntoIterator<Item = F>) -> TryJoinAll<F>
where
    F: Future<Output = Result<T, E>>,
{
    let branches: Box<[_]> = futures.into_iter().map(Branch::Pending).collect();
    TryJoinAll {
        branches: Some(Box::into_pin(branches)),
    }
}

/// The future of [`try_join_all`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct TryJoinAll<F: Future> {
    /// `None` once it has been ready.
    branches: Option<Pin<Box<[Branch<F>]>>>,
}

impl<F, T, E> Future for TryJoinAll<F>
where
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<Vec<T>, E>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(branches) = &mut self.branches else {
            polled_again("try_join_all()");
        };
        let mut all_ready = true;
        let mut error = None;
        for mut branch in pinned::each(branches.as_mut()) {
            all_ready &= branch.as_mut().poll_ready(cx);
            if matches!(&*branch, Branch::Ready(Err(_))) {
                error = branch.take().err();
                break;
            }
        }
        if let Some(error) = error {
            // Drops the others.
            self.branches = None;
            return Poll::Ready(Err(error));
        }
        if !all_ready {
            return Poll::Pending;
        }
        let values = pinned::each(branches.as_mut()).map(Branch::take).collect();
        self.branches = None;
        Poll::Ready(values)
    }
}

impl<F, T, E> FusedFuture for TryJoinAll<F>
where
    F: Future<Output = Result<T, E>>,
{
    fn is_terminated(&self) -> bool {
        self.branches.is_none()
    }
}

impl<F: Future> fmt::Debug for TryJoinAll<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branches = self.branches.iter().flat_map(|branches| branches.iter());
        let pending = branches.filter(|branch| matches!(branch, Branch::Pending(_)));
        f.debug_struct("TryJoinAll")
            .field("pending", &pending.count())
            .finish_non_exhaustive()
    }
}
