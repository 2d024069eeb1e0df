//! A future that keeps its output until the futures beside it are ready.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project::pin_project;

/// One of several joined futures.
#[pin_project(project = Projected, project_replace = Owned)]
#[derive(Debug)]
pub enum Branch<F: Future> {
    /// Not ready yet.
    Pending(#[pin] F),
    /// Ready: the future is dropped, its output is kept.
    Ready(F::Output),
    /// The output has been taken.
    Taken,
}

impl<F: Future> Branch<F> {
    /// Polls the future unless it is ready already; returns whether it is ready.
    #[inline]
    #[track_caller]
    pub fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        if let Projected::Pending(future) = self.as_mut().project() {
            match future.poll(cx) {
                // Drops the future.
                Poll::Ready(output) => self.set(Branch::Ready(output)),
                Poll::Pending => return false,
            }
        }
        true
    }

    /// Takes the output of a future that is ready.
    ///
    /// # Panics
    ///
    /// If the future is not ready, or if its output has been taken.
    #[inline]
    pub fn take(self: Pin<&mut Self>) -> F::Output {
        match self.project_replace(Branch::Taken) {
            Owned::Ready(output) => output,
            Owned::Pending(_) | Owned::Taken => unreachable!("taken once, after it became ready"),
        }
    }
}
