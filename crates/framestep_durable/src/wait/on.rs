//! Futures on another clock than that of their script.

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::FutureClock;

use crate::ids::ClockId;
use crate::script::{clock_of, context};

/// Runs `future` with `clock` as the script's clock: plain waits inside count on it, and
/// [`time`](crate::time) and [`delta_seconds`](crate::delta_seconds) read it. See
/// [`framestep::wait::on_clock`].
///
/// The clock counts for this future alone. Scripts that it starts are on the clock of their owner.
/// Calls nest: the innermost clock counts. Nothing is recorded, and what the future waits for is
/// saved with its clock. `clock` is a [`ClockId`], or a reference to one.
///
/// Outside of a durable script, the clock is [`ClockId::GAME`] or [`ClockId::REALTIME`].
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
/// Like `future`, which is dropped with it. Destructors inside also read the clock.
///
/// # Panics
///
/// When polled: if there is no such clock; outside of an executor; or again after its output.
///
/// # Examples
///
/// A menu slides in while the game is paused:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn pause_menu() {
///     let _paused = clock().pause_guard();
///     let slide = animate(0.5, |share| with(|position: &mut f32| *position = share));
///     on_clock(realtime(), slide).await;
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<PauseMenu>());
/// let mut position = 0.0_f32;
/// runtime.lend(&mut position, |runtime| runtime.start(pause_menu()).detach());
/// for _ in 0..2 {
///     runtime.run_frame_with(&mut position, 0.25);
/// }
/// assert_eq!(position, 1.0);
/// assert!(runtime.time().elapsed.is_zero());
/// ```
///
/// # Source
///
/// The `unscaled` and `ignoreTimeScale` arguments of Unity and `UniTask`.
pub fn on_clock<F: Future>(clock: impl Borrow<ClockId>, future: F) -> On<F> {
    On {
        clock: *clock.borrow(),
        shown: FutureClock::default(),
        future: Some(Box::pin(future)),
    }
}

/// The future of [`on_clock`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct On<F> {
    clock: ClockId,
    shown: FutureClock,
    /// `None` once it has been ready.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for On<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let Some(future) = &mut this.future else {
            panic!("`on_clock()` was polled again after it had finished");
        };
        // Not in a closure, which would hide the line of the `.await` from the future.
        let cell = context::find_outside_of_closures("on_clock()");
        let shows = this.shown.show(&clock_of(cell.as_deref(), this.clock));
        let polled = future.as_mut().poll(cx);
        if polled.is_ready() {
            // On its clock, too.
            this.future = None;
        }
        drop(shows);
        polled
    }
}

impl<F> Drop for On<F> {
    fn drop(&mut self) {
        if let Some(future) = self.future.take() {
            let _shows = self.shown.show_in_drop();
            drop(future);
        }
    }
}

impl<F> fmt::Debug for On<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On")
            .field("clock", &self.clock)
            .field("done", &self.future.is_none())
            .finish_non_exhaustive()
    }
}
