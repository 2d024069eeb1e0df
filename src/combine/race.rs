//! `race`: waiting for the first of any number of futures of one type.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::wait::polled_again;

use super::pinned;

/// Waits until the first of `futures` is ready, and drops the others.
///
/// It takes coroutine handles and any other futures of one type, and runs the
/// futures concurrently inside the coroutine that awaits it. They share one
/// allocation. For futures of different types, use [`select!`](crate::select!).
///
/// With handles, the other coroutines keep running, because dropping a handle
/// detaches its coroutine. To stop them, call
/// [`stop_on_drop`](crate::Coroutine::stop_on_drop) on each handle. To decide
/// later, keep their [`id`](crate::Coroutine::id)s.
///
/// # Resumes
///
/// As soon as the first of the futures is ready, in the phase in which that future
/// resumes. With handles, that is the frame and phase in which the first coroutine
/// ends. It is ready at once if one of the futures is.
///
/// # Output
///
/// The index of the first future that is ready, and its output. Each poll polls the
/// futures in order, so if several are ready in one poll, the lowest index wins.
/// The others are dropped, in order, before the output is returned. A coroutine
/// handle yields a `Result`: what the coroutine returned, or a
/// [`JoinError`](crate::JoinError) if it was stopped or panicked.
///
/// # Cancel safety
///
/// Dropping the `Race` drops the futures, in order. Their waits are removed in
/// O(1), and handles are dropped as above.
///
/// # Panics
///
/// - When called: if there are no futures, because none would ever be ready.
/// - When polled: if a coroutine awaits itself, or if the `Race` was ready before.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn run(name: &'static str, seconds: f32) -> &'static str {
///     wait_seconds(seconds).await;
///     name
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         let winner = race([run("tortoise", 2.0), run("hare", 1.0)]).await;
///         assert_eq!(winner, (1, "hare"));
///
///         // The same with coroutines.
///         let runners = [("tortoise", 2.0), ("hare", 1.0)]
///             .map(|(name, seconds)| start(run(name, seconds)).stop_on_drop());
///         let (index, winner) = race(runners).await;
///         assert_eq!((index, winner.unwrap()), (1, "hare"));
///     },
///     0.25,
/// );
/// assert!(executor.is_empty());
/// ```
///
/// # Source
///
/// `UniTask.WhenAny`.
#[track_caller]
pub fn race<F: Future>(futures: impl IntoIterator<Item = F>) -> Race<F> {
    let futures: Box<[F]> = futures.into_iter().collect();
    assert!(
        !futures.is_empty(),
        "`race` got no futures, so it would never be ready"
    );
    Race {
        futures: Some(Box::into_pin(futures)),
    }
}

/// The future of [`race`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Race<F> {
    /// `None` once one of them has won.
    futures: Option<Pin<Box<[F]>>>,
}

impl<F: Future> Future for Race<F> {
    type Output = (usize, F::Output);

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(futures) = &mut self.futures else {
            polled_again("race()");
        };
        let mut winner = None;
        for (index, future) in pinned::each(futures.as_mut()).enumerate() {
            if let Poll::Ready(output) = future.poll(cx) {
                winner = Some((index, output));
                break;
            }
        }
        match winner {
            Some(winner) => {
                self.futures = None;
                Poll::Ready(winner)
            }
            None => Poll::Pending,
        }
    }
}

impl<F: Future> FusedFuture for Race<F> {
    fn is_terminated(&self) -> bool {
        self.futures.is_none()
    }
}

impl<F> fmt::Debug for Race<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = self.futures.as_ref().map_or(0, |futures| futures.len());
        f.debug_struct("Race")
            .field("pending", &pending)
            .finish_non_exhaustive()
    }
}
