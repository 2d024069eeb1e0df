//! Timeouts: a limit on the time that another wait may take.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::time::Seconds;

use crate::wait::timed::wait_until_own;
use crate::wait::{WaitSeconds, wait_seconds};

/// Waits for `future`, for at most `seconds`. See [`framestep::timeout`].
///
/// # Errors
///
/// The output is an error if it times out.
///
/// # Panics
///
/// If `seconds` is NaN.
#[track_caller]
pub fn timeout<F: Future>(seconds: impl Seconds, future: F) -> Timeout<F> {
    Timeout {
        future: Box::pin(future),
        timer: wait_seconds(seconds),
        is_done: false,
    }
}

/// Waits for `future`, until the script's clock reads `point`: a number of seconds since the clock's
/// zero, or [`time()`](crate::time())`.elapsed` plus a length. See [`framestep::wait::timeout_at`].
///
/// # Errors
///
/// The output is an error if it times out.
///
/// # Panics
///
/// If `point` is NaN.
///
/// # Examples
///
/// Three answers in three seconds:
///
/// ```
/// use framestep_durable::prelude::*;
/// use std::time::Duration;
///
/// const ANSWER: Signal<u32> = signal("answer");
///
/// #[durable]
/// async fn quiz() -> usize {
///     let mut answers = ANSWER.subscribe();
///     let end = time().elapsed + Duration::from_secs(3);
///     for number in 0..3 {
///         if timeout_at(end, answers.next()).await.is_err() {
///             return number;
///         }
///     }
///     3
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Quiz>());
/// let quiz = runtime.start(quiz());
/// for frame in 0..12 {
///     if frame == 8 {
///         runtime.emit(&ANSWER, 42);
///     }
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(quiz), Some(Ok(1)));
/// ```
///
/// # Source
///
/// [`framestep::wait::timeout_at`].
#[track_caller]
pub fn timeout_at<F: Future>(point: impl Seconds, future: F) -> Timeout<F> {
    Timeout {
        future: Box::pin(future),
        timer: wait_until_own(point),
        is_done: false,
    }
}

/// The future of [`timeout`] and [`timeout_at`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    timer: WaitSeconds,
    is_done: bool,
}

impl<F> Timeout<F> {
    /// Measures the time in `phase`.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.timer = self.timer.in_phase(phase);
        self
    }

    /// Moves the deadline: `seconds` from the next poll. The future inside goes on. See
    /// [`framestep::wait::Timeout::reset`].
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
    /// use framestep_durable::prelude::*;
    /// use std::pin::pin;
    ///
    /// const SIGN: Signal<()> = signal("sign of life");
    ///
    /// #[durable]
    /// async fn download() -> u64 {
    ///     let mut signs = SIGN.subscribe();
    ///     let mut file = pin!(timeout(2, wait_seconds(60)));
    ///     loop {
    ///         select! {
    ///             _ = file.as_mut() => return time().frame,
    ///             () = signs.next() => file.as_mut().reset(2),
    ///         }
    ///     }
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Download>());
    /// let download = runtime.start(download());
    /// for frame in 1..=15 {
    ///     if frame == 7 {
    ///         runtime.emit(&SIGN, ());
    ///     }
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(download), Some(Ok(15)));
    /// ```
    #[track_caller]
    pub fn reset(mut self: Pin<&mut Self>, seconds: impl Seconds) {
        assert!(
            !self.is_done,
            "`reset` was called on a `timeout()` that is over: make a new one"
        );
        self.timer.reset(seconds);
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(
            !self.is_done,
            "`timeout()` was polled again after it had finished"
        );
        // In this order even at the first poll, as in framestep's `timeout`.
        let polled = match self.future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => Pin::new(&mut self.timer).poll(cx).map(|()| Err(Elapsed)),
        };
        self.is_done = polled.is_ready();
        polled
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

/// A [`timeout`] or a [`timeout_at`] has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl Error for Elapsed {}
