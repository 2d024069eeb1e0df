//! Timeouts: a limit on the time that another wait may take.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::{Phase, Seconds};

use super::{Wait, wait_seconds};

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
    }
}

/// The future of [`timeout`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    timer: Wait,
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
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // In this order even at the first poll, as in framestep's `timeout`.
        if let Poll::Ready(output) = self.future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.timer).poll(cx).map(|()| Err(Elapsed))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

/// A [`timeout`] has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl Error for Elapsed {}
