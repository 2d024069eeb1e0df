//! `on_error`: a script whose error a closure handles.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::FusedFuture;
use pin_project::pin_project;

use crate::wait::polled_again;

/// Calls `handler` if `future` returns an error, and returns what `handler` returns.
///
/// So a script that nothing joins can handle its error: `start(on_error(load(), show))`.
/// The coroutine has the name of the script inside.
///
/// The handler is the last part of the script. It may do what the script may do between
/// two waits: borrow lent state, spawn, stop. It runs in the frame and phase in which the
/// script returns, and before the coroutines that join it. A panic of the handler is a
/// panic of the script.
///
/// If the future returns `Ok`, the handler is dropped. If the script is stopped or
/// panics, it is dropped with the script. To handle the errors of all scripts in one
/// place, use [`on_unobserved`](crate::Executor::on_unobserved).
///
/// # Output
///
/// The value in `Ok`, or what the handler returns.
///
/// # Cancel safety
///
/// Dropping the `OnError` drops the future and the handler.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// struct Screen {
///     message: String,
/// }
///
/// async fn load(name: &'static str) -> Result<(), String> {
///     wait_seconds(0.5).await;
///     Err(format!("no such level: {name}"))
/// }
///
/// fn show(message: String) {
///     with(|screen: &mut Screen| screen.message = message);
/// }
///
/// let mut screen = Screen { message: String::new() };
/// let mut executor = Executor::new();
/// executor.spawn(on_error(load("cellar"), show));
/// for _ in 0..3 {
///     executor.lend(&mut screen, |executor| executor.run_frame(0.25));
/// }
/// assert_eq!(screen.message, "no such level: cellar");
/// ```
///
/// A script with a value needs another value for the error:
///
/// ```
/// # use framestep::prelude::*;
/// # async fn saved_gold() -> Result<u32, String> { Err("damaged".to_string()) }
/// let mut executor = Executor::new();
/// let gold = on_error(saved_gold(), |error| {
///     println!("{error}");
///     0
/// });
/// assert_eq!(executor.run_until(gold, 0.25), 0);
/// ```
///
/// # Source
///
/// `UniTask.Forget(exceptionHandler)`; `Result::unwrap_or_else`.
pub fn on_error<T, E, F, H>(future: F, handler: H) -> OnError<F, H>
where
    F: Future<Output = Result<T, E>>,
    H: FnOnce(E) -> T,
{
    OnError {
        future,
        handler: Some(handler),
    }
}

/// The future of [`on_error`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
#[pin_project]
pub struct OnError<F, H> {
    #[pin]
    future: F,
    /// `None` once the future has been ready.
    handler: Option<H>,
}

impl<T, E, F, H> Future for OnError<F, H>
where
    F: Future<Output = Result<T, E>>,
    H: FnOnce(E) -> T,
{
    type Output = T;

    #[inline]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.project();
        if this.handler.is_none() {
            polled_again("on_error()");
        }
        let result = ready!(this.future.poll(cx));
        let Some(handler) = this.handler.take() else {
            polled_again("on_error()");
        };
        Poll::Ready(result.unwrap_or_else(handler))
    }
}

impl<T, E, F, H> FusedFuture for OnError<F, H>
where
    F: Future<Output = Result<T, E>>,
    H: FnOnce(E) -> T,
{
    fn is_terminated(&self) -> bool {
        self.handler.is_none()
    }
}

impl<F, H> fmt::Debug for OnError<F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnError")
            .field("done", &self.handler.is_none())
            .finish_non_exhaustive()
    }
}
