//! A guard that borrows lent state when it is dropped.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use crate::core::scope::recording;

use super::deferred::call_deferred;
use super::kept::Origin;
use super::own::Own;

/// Calls `f` with the `S` that the host [lends](crate::Executor::lend) when the
/// returned guard is dropped: at the end of the script, for whatever reason, or of
/// the block.
///
/// Like [`with_deferred`](crate::lend::with_deferred), it calls `f` at once if the state is free,
/// else as soon as it is. So it works when the script is stopped between two frames,
/// or inside the [`with`](crate::with) of another script.
///
/// Bind the guard to a variable, as in `let _bars = defer(..)`. `let _ = defer(..)`
/// drops it at once. Several guards of one block are dropped in reverse order.
/// [`Defer::cancel`] drops the guard without the call. Outside an executor, the
/// drop of the guard drops `f`. A closure that needs no lent state is passed to
/// [`defer_call`](crate::lend::defer_call()).
///
/// # Panics
///
/// It does not. A panic of `f` is a [`Report`](crate::inspect::Report::WithDeferredPanicked), or is
/// let [through to the host](crate::Builder::propagate_panics).
///
/// # Examples
///
/// The black bars of a cutscene disappear when it ends, is skipped, or is stopped:
///
/// ```
/// use framestep::prelude::*;
///
/// #[derive(Default)]
/// struct World {
///     has_bars: bool,
/// }
///
/// async fn cutscene() {
///     with(|world: &mut World| world.has_bars = true);
///     let _bars = defer(|world: &mut World| world.has_bars = false);
///     wait_seconds(60).await;
/// }
///
/// let mut world = World::default();
/// let mut executor = Executor::new();
/// let cutscene = executor.spawn(cutscene());
/// executor.lend(&mut world, |executor| executor.run_frame(0.25));
/// assert!(world.has_bars);
///
/// cutscene.stop(); // between two frames: nothing is lent
/// executor.lend(&mut world, |executor| executor.run_frame(0.25));
/// assert!(!world.has_bars);
/// ```
///
/// # Source
///
/// `defer` of Go and Swift.
#[track_caller]
pub fn defer<S: 'static, F: FnOnce(&mut S) + 'static>(f: F) -> Defer<S, F> {
    Defer {
        f: Some(f),
        is_recorded: recording::is_recording(),
        place: Location::caller(),
        state: PhantomData,
    }
}

/// The guard that [`defer`] returns. It calls its closure when it is dropped.
#[must_use = "the closure is called when the guard is dropped: bind it, as in `let _guard = defer(..)`"]
pub struct Defer<S, F>
where
    S: 'static,
    F: FnOnce(&mut S) + 'static,
{
    f: Option<F>,
    /// Whether a durable script has made it.
    is_recorded: bool,
    place: &'static Location<'static>,
    state: PhantomData<fn(&mut S)>,
}

impl<S, F> Defer<S, F>
where
    F: FnOnce(&mut S) + 'static,
{
    /// Drops the guard, and its closure without a call.
    ///
    /// # Examples
    ///
    /// A price is paid back unless the deal is done:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// async fn deal(works: bool) {
    ///     with(|world: &mut World| world.gold -= 5);
    ///     let refund = defer(|world: &mut World| world.gold += 5);
    ///     wait_seconds(0.5).await;
    ///     if works {
    ///         refund.cancel();
    ///     }
    /// }
    ///
    /// let mut world = World { gold: 20 };
    /// let mut executor = Executor::new();
    /// executor.lend(&mut world, |executor| {
    ///     executor.run_until(deal(false), 0.25);
    ///     executor.run_until(deal(true), 0.25);
    /// });
    /// assert_eq!(world.gold, 15);
    /// ```
    pub fn cancel(mut self) {
        self.f = None;
    }
}

impl<S, F> Drop for Defer<S, F>
where
    F: FnOnce(&mut S) + 'static,
{
    fn drop(&mut self) {
        if let Some(f) = self.f.take() {
            let origin = Origin::new("defer", type_name::<S>(), self.place);
            recording::deferred(self.is_recorded, || {
                call_deferred::<Own<S>>(f, origin);
            });
        }
    }
}

impl<S, F> fmt::Debug for Defer<S, F>
where
    F: FnOnce(&mut S) + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defer")
            .field("state", &type_name::<S>())
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
