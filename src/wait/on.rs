//! Futures on another clock than that of their coroutine.

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;
use pin_project::{pin_project, pinned_drop};

use crate::core::base::call;
use crate::core::scope::named::Named;
use crate::core::scope::{self, Scope};
use crate::time::{AwaitedClock, Clock};

use super::{polled_again, polled_outside};

/// Runs `future` with `clock` as the coroutine's clock: plain waits inside count on
/// it, and [`time`](crate::time()) and [`delta_seconds`](crate::time::delta_seconds) read
/// it.
///
/// The clock counts for this future alone. The rest of the script, futures beside it
/// in a combinator, and coroutines that it starts are on the clock of their owner. To
/// put a whole coroutine on a clock, pass the result to [`start`](crate::start):
/// `start(on_clock(&clock, attack()))`. To put all coroutines of an object on the same
/// clock, use [`owner_on`](crate::task::owner_on).
///
/// Calls nest: the innermost clock counts. A wait keeps the clock that it began on,
/// even if it is polled on another one later. Destructors inside also read the clock.
///
/// # Resumes
///
/// Like `future`. The clock does not change the phase of a wait.
///
/// # Output
///
/// The output of `future`.
///
/// # Cancel safety
///
/// Like `future`, which is dropped with it.
///
/// # Panics
///
/// When polled: if the clock belongs to another executor, naming the location of this
/// call; or outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// A menu slides in while the game is paused:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn pause_menu() {
///     let _paused = clock().pause_guard();
///     on_clock(&realtime(), animate(0.5, |t| println!("the menu is at {t}"))).await;
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(pause_menu(), 0.25);
/// assert_eq!(executor.time().frame, 2);
/// assert!(executor.time().elapsed.is_zero());
/// ```
///
/// # Source
///
/// The `unscaled` and `ignoreTimeScale` arguments of Unity and `UniTask`.
#[track_caller]
pub fn on_clock<F: Future>(clock: impl Borrow<Clock>, future: F) -> On<F> {
    On {
        clock: clock.borrow().awaited(),
        future: Some(future),
        place: Location::caller(),
    }
}

/// The future of [`on_clock`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
#[pin_project(PinnedDrop)]
pub struct On<F> {
    clock: AwaitedClock,
    /// `None` once it has been ready.
    #[pin]
    future: Option<F>,
    place: &'static Location<'static>,
}

impl<F: Future> Future for On<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        if this.future.is_none() {
            polled_again("on_clock()");
        }
        // The future is not polled in a closure, which would hide the line of the `.await` from it.
        let state = this.clock.state();
        let is_elsewhere = |scope: &Scope<'_>| !state.is_of(&scope.core().clock);
        if scope::with(|scope| scope.is_some_and(is_elsewhere)) {
            clock_of_another_executor(this.place);
        }
        let Some(_named) = Named::here(state) else {
            polled_outside("on_clock()")
        };
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let polled = future.poll(cx);
        if polled.is_ready() {
            this.future.set(None);
        }
        polled
    }
}

#[pinned_drop]
impl<F> PinnedDrop for On<F> {
    fn drop(self: Pin<&mut Self>) {
        let mut this = self.project();
        // Elsewhere, the future is dropped right after this, and reads no clock.
        scope::with(|scope| {
            let state = this.clock.state();
            if let Some(scope) = scope.filter(|scope| state.is_of(&scope.core().clock)) {
                let _named = Named::new(scope, state);
                call::out(|| this.future.set(None));
            }
        });
    }
}

impl<F: Future> FusedFuture for On<F> {
    fn is_terminated(&self) -> bool {
        self.future.is_none()
    }
}

impl<F> fmt::Debug for On<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On")
            .field("clock", &self.clock.handle())
            .field("done", &self.future.is_none())
            .finish_non_exhaustive()
    }
}

#[cold]
fn clock_of_another_executor(place: &Location<'_>) -> ! {
    panic!(
        "`on` at {place} got a clock of another executor: use a clock of the executor that \
         runs the script, such as `clock().child()`"
    )
}
