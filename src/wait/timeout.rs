//! Waiting for something else, but not longer than a given time.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use pin_project::pin_project;

use crate::time::{Phase, Seconds};

use super::length::Length;
use super::{WaitSeconds, polled_again, wait_seconds};

/// Waits for `future`, but for no longer than `seconds` of the
/// coroutine's clock.
///
/// **The time runs from the first poll**, not from the call, as with [`wait_seconds`]:
/// the deadline is the clock's time at the first poll plus `seconds`, exact to the
/// nanosecond. Zero and negative
/// lengths give the future until the next frame, with infinity there is no
/// limit.
///
/// # Resumes
///
/// When `future` does; or in [`Phase::Update`] of the first later frame at or
/// past the deadline, or in another phase with [`in_phase`](Timeout::in_phase).
/// The future is asked first: if it is ready in the very poll in which its time
/// is up, it has won.
///
/// # Output
///
/// What the future gave, or [`Elapsed`].
///
/// # What becomes of the future
///
/// It is dropped with the `Timeout`, in time or not. For a plain future, an `async fn`
/// or a wait, that is the end of it. A future that is to go on after the deadline is
/// passed by reference: `timeout(1, &mut walk)`.
///
/// **A coroutine handle only detaches**, as always when it is dropped: the coroutine
/// goes on by itself after the time is up. With
/// [`stop_on_drop`](crate::Coroutine::stop_on_drop) it is stopped.
///
/// # Cancel safety
///
/// Dropping it drops the future and removes the timer.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the place of this call; or outside
/// of an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         let walk = start(async {
///             wait_seconds(2).await;
///             "there"
///         });
///         assert!(timeout(1, wait_seconds(5)).await.is_err());
///         assert_eq!(timeout(1, walk).await.unwrap().unwrap(), "there");
///     },
///     0.25,
/// );
/// ```
///
/// A coroutine that times out goes on, unless it stops on drop:
///
/// ```
/// # use framestep::prelude::*;
/// async fn walk() {
///     wait_seconds(60).await;
/// }
///
/// let mut executor = Executor::new();
/// let (goes_on, stops) = (executor.start(walk()), executor.start(walk()));
/// let ids = [goes_on.id(), stops.id()];
/// executor.run_until(
///     async {
///         assert!(timeout(1, goes_on).await.is_err());
///         assert!(timeout(1, stops.stop_on_drop()).await.is_err());
///     },
///     0.25,
/// );
/// assert!(executor.is_alive(ids[0]));
/// assert!(!executor.is_alive(ids[1]));
/// ```
///
/// # Source
///
/// `UniTask.Timeout`; `tokio::time::timeout`.
#[doc(alias = "Timeout")]
#[track_caller]
pub fn timeout<F: Future>(seconds: impl Seconds, future: F) -> Timeout<F> {
    Timeout {
        future,
        timer: wait_seconds(seconds),
        length: Length::of(seconds),
        is_done: false,
    }
}

/// The future of [`timeout`].
#[pin_project]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<F> {
    #[pin]
    future: F,
    timer: WaitSeconds,
    length: Length,
    is_done: bool,
}

impl<F> Timeout<F> {
    /// Looks at the time in `phase`. [`Phase::FixedUpdate`] compares the
    /// deadline with the time of the fixed steps.
    ///
    /// # Panics
    ///
    /// If it has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.timer = self.timer.in_phase(phase);
        self
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.is_done {
            polled_again("timeout()");
        }
        // Before the future, which may be ready at once: a length of NaN is a
        // mistake however long the future takes.
        this.length.nanos("timeout()");
        // The future before the timer also when they begin: what it waits for
        // comes first among timers of the same deadline.
        let result = match this.future.poll(cx) {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => match Pin::new(this.timer).poll(cx) {
                Poll::Ready(()) => Err(Elapsed(())),
                Poll::Pending => return Poll::Pending,
            },
        };
        *this.is_done = true;
        Poll::Ready(result)
    }
}

impl<F: Future> FusedFuture for Timeout<F> {
    fn is_terminated(&self) -> bool {
        self.is_done
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("timer", &self.timer)
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}

/// The time of a [`timeout`] was up before its future was ready.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let lost = executor.run_until(timeout(1, std::future::pending::<()>()), 0.25);
/// assert_eq!(lost.unwrap_err().to_string(), "the time was up");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was up")
    }
}

impl Error for Elapsed {}
