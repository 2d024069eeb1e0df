//! Waiting for the first of several coroutines to end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::{Coroutine, JoinError};

use super::polled_again;

/// Waits until the first of `coroutines` has ended.
///
/// The others go on by themselves: their handles are dropped before this
/// returns. To have them stopped instead, call
/// [`stop_on_drop`](Coroutine::stop_on_drop) on each beforehand; to decide later,
/// keep their [`id`](Coroutine::id)s.
///
/// # Resumes
///
/// As soon as the first of them has ended, in the same frame and phase, like a
/// join of that one; at once if one has ended.
///
/// # Output
///
/// Its index, and what it returned, or a [`JoinError`] if it was stopped or
/// panicked. Of several that end in one run the first one wins; of several that
/// had ended by the time of the poll, such as two that a third has stopped, the
/// one with the lowest index.
///
/// # Cancel safety
///
/// Dropping it drops the handles, as above.
///
/// # Panics
///
/// At once, if there are no coroutines, of which none would ever win. When
/// polled, if a coroutine awaits itself.
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
/// let (index, winner) = executor.run_until(
///     async {
///         let runners = [("tortoise", 2.0), ("hare", 1.0)].map(|(name, seconds)| {
///             let runner = start(run(name, seconds));
///             runner.stop_on_drop();
///             runner
///         });
///         race(runners).await
///     },
///     0.25,
/// );
/// assert_eq!((index, winner.unwrap()), (1, "hare"));
/// assert!(executor.is_empty());
/// ```
///
/// # Source
///
/// `UniTask.WhenAny`.
#[doc(alias = "WhenAny")]
#[track_caller]
pub fn race<T>(coroutines: impl IntoIterator<Item = Coroutine<T>>) -> Race<T> {
    let coroutines: Vec<_> = coroutines.into_iter().collect();
    assert!(
        !coroutines.is_empty(),
        "`race` got no coroutines: none of them would ever end"
    );
    Race { coroutines }
}

/// The future of [`race`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Race<T> {
    /// None any more once one has won.
    coroutines: Vec<Coroutine<T>>,
}

impl<T> Future for Race<T> {
    type Output = (usize, Result<T, JoinError>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.coroutines.is_empty() {
            polled_again("race()");
        }
        for (index, coroutine) in self.coroutines.iter_mut().enumerate() {
            if let Poll::Ready(result) = Pin::new(coroutine).poll(cx) {
                self.coroutines = Vec::new();
                return Poll::Ready((index, result));
            }
        }
        Poll::Pending
    }
}

impl<T> FusedFuture for Race<T> {
    fn is_terminated(&self) -> bool {
        self.coroutines.is_empty()
    }
}

impl<T> fmt::Debug for Race<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Race")
            .field("coroutines", &self.coroutines)
            .finish_non_exhaustive()
    }
}
