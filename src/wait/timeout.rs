//! Timeouts: waits for another future with a time limit.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use pin_project::pin_project;

use crate::core::registration::Call;
use crate::time::{ClockIndex, Phase, Seconds};

use super::length::Length;
use super::timer::Timer;
use super::{WaitSeconds, polled_again, wait_seconds};

/// Waits for `future`, and times out after `seconds` of the coroutine's clock.
///
/// **The time runs from the first poll**, not from the call, as with
/// [`wait_seconds`]. The deadline is the clock's time at the first poll plus
/// `seconds`, exact to the nanosecond. With a zero or negative length, the deadline
/// is the next frame. With infinity, there is no deadline.
///
/// # Resumes
///
/// When `future` is ready, in the phase in which it resumes. On a timeout: in the
/// home phase, in the first later frame at or past the deadline, or in another
/// phase with [`in_phase`](Timeout::in_phase). The future is polled first: if it is
/// ready in that poll, its output is returned.
///
/// # Output
///
/// The output of the future, or [`Elapsed`] if it timed out.
///
/// # Ownership of the future
///
/// The `Timeout` owns the future, and drops it when it is dropped itself. That
/// cancels a plain future, such as an `async fn` or a wait. To keep the future
/// after a timeout, pass a reference: `timeout(1, &mut walk)`.
///
/// **Dropping a coroutine handle only detaches the coroutine**, which keeps running
/// after the timeout. With [`stop_on_drop`](crate::Coroutine::stop_on_drop), the
/// coroutine is stopped.
///
/// # Cancel safety
///
/// Dropping the `Timeout` drops the future and removes the timer.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside
/// an [`Executor`](crate::Executor).
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
/// A coroutine keeps running after the timeout, unless it stops on drop:
///
/// ```
/// # use framestep::prelude::*;
/// async fn walk() {
///     wait_seconds(60).await;
/// }
///
/// let mut executor = Executor::new();
/// let (keeps_running, stops) = (executor.start(walk()), executor.start(walk()));
/// let ids = [keeps_running.id(), stops.id()];
/// executor.run_until(
///     async {
///         assert!(timeout(1, keeps_running).await.is_err());
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
#[track_caller]
pub fn timeout<F: Future>(seconds: impl Seconds, future: F) -> Timeout<F> {
    Timeout {
        future,
        timer: wait_seconds(seconds),
        length: Length::of(seconds),
        is_done: false,
    }
}

/// Waits for `future`, until the coroutine's clock reads `point`.
///
/// It is [`timeout`] with a point in time instead of a length: for several futures that
/// share one deadline. The point is a number of seconds since the clock's zero, or
/// [`time()`](crate::time())`.elapsed` plus a length. As with
/// [`Clock::wait_until`](crate::time::Clock::wait_until), an earlier point is reached in the next
/// frame, and a pause of the coroutine moves the point.
///
/// # Resumes
///
/// Like [`timeout`].
///
/// # Output
///
/// The output of the future, or [`Elapsed`].
///
/// # Cancel safety
///
/// Like [`timeout`].
///
/// # Panics
///
/// When polled: if `point` is NaN, naming the location of this call; or outside an
/// [`Executor`](crate::Executor).
///
/// # Examples
///
/// Three answers in three seconds:
///
/// ```
/// use framestep::prelude::*;
/// use std::time::Duration;
///
/// async fn quiz(answers: Signal<u32>) -> usize {
///     let mut answers = answers.subscribe();
///     let end = time().elapsed + Duration::from_secs(3);
///     for number in 0..3 {
///         if timeout_at(end, answers.next()).await.is_err() {
///             return number;
///         }
///     }
///     3
/// }
///
/// let mut executor = Executor::new();
/// let answers = Signal::new();
/// let quiz = executor.start(quiz(answers.clone()));
/// executor.run_frames(8, 0.25);
/// answers.emit(42);
/// assert_eq!(executor.run_until(quiz, 0.25).unwrap(), 1);
/// assert_eq!(executor.time().frame, 12);
/// ```
///
/// # Source
///
/// `tokio::time::timeout_at`.
#[track_caller]
pub fn timeout_at<F: Future>(point: impl Seconds, future: F) -> Timeout<F> {
    Timeout {
        future,
        timer: WaitSeconds {
            timer: Timer::until(point, ClockIndex::OWN, None).made_by(Call::TimeoutAt),
        },
        length: Length::of(point),
        is_done: false,
    }
}

/// The future of [`timeout`] and [`timeout_at`].
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
    /// Checks the deadline in the runs of `phase`. In [`Phase::FixedUpdate`], a
    /// step takes the place of a frame, and the timeout counts in
    /// [the time of the steps](crate::time::Clock#in-fixed-steps).
    ///
    /// # Panics
    ///
    /// If the timeout has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.timer = self.timer.in_phase(phase);
        self
    }
}

impl<F> Timeout<F> {
    /// Moves the deadline: `seconds` from the next poll. The future inside goes on.
    ///
    /// A timeout is pinned while it is awaited. So this is for one that is lent to a
    /// `select!`, and for wrappers.
    ///
    /// A zero or negative length times out in the next frame. A negative one is
    /// [reported](crate::inspect::Report::SuspiciousCall).
    ///
    /// # Panics
    ///
    /// If the timeout is over, or if `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// A download that times out two seconds after the last sign of life:
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use std::pin::pin;
    ///
    /// async fn download(signs: Signal<()>) -> Result<(), u64> {
    ///     let mut signs = signs.subscribe();
    ///     let mut file = pin!(timeout(2, wait_seconds(60)));
    ///     loop {
    ///         select! {
    ///             done = file.as_mut() => return done.map_err(|_| time().frame),
    ///             Some(()) = signs.next() => file.as_mut().reset(2),
    ///         }
    ///     }
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let signs = Signal::new();
    /// let download = executor.start(download(signs.clone()));
    /// executor.run_frames(6, 0.25);
    /// signs.emit(());
    /// assert_eq!(executor.run_until(download, 0.25).unwrap(), Err(15));
    /// ```
    #[track_caller]
    pub fn reset(self: Pin<&mut Self>, seconds: impl Seconds) {
        let this = self.project();
        assert!(
            !*this.is_done,
            "`reset` was called on a `timeout()` that is over: make a new one"
        );
        this.timer.reset(seconds);
        *this.length = Length::of(seconds);
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.is_done {
            polled_again("timeout()");
        }
        // Before the poll of the future, which may be ready at once: a length of
        // NaN panics in any case.
        this.length.nanos("timeout()");
        // The future is polled before the timer, even when both begin: so its own
        // timers precede this one if the deadlines are equal.
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

/// The error of a [`timeout`] whose future was not ready in time.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let lost = executor.run_until(timeout(1, std::future::pending::<()>()), 0.25);
/// assert_eq!(lost.unwrap_err().to_string(), "timed out");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl Error for Elapsed {}
