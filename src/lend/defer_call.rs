//! A guard that calls a closure when it is dropped.

use std::fmt;
use std::panic::Location;

use crate::core::scope::{self, recording};
use crate::inspect::NO_STATE;

use super::deferred::call_alone;
use super::kept::Origin;

/// Calls `f` when the returned guard is dropped: at the end of the script, for
/// whatever reason, or of the block.
///
/// This is [`defer`](crate::lend::defer()) for a closure that needs no lent state. `f` is
/// called at once, in the destructor of the guard, and may borrow local variables.
///
/// Like the closure of `defer`, `f` runs outside coroutines, whichever script calls
/// it: coroutines that it starts have no owner. `f` is called even outside an
/// executor.
///
/// Bind the guard to a variable, as in `let _light = defer_call(..)`.
/// `let _ = defer_call(..)` calls `f` at once. Several guards of one block are dropped
/// in reverse order. [`DeferCall::cancel`] drops the guard without the call.
///
/// # Panics
///
/// Inside an executor, a panic of `f` is a
/// [`Report`](crate::inspect::Report::WithDeferredPanicked), or is let [through to the
/// host](crate::Builder::propagate_panics). Outside, it unwinds from the drop of the
/// guard.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn fuse(lit: Watch<bool>) {
///     lit.set(true);
///     let _out = defer_call(|| lit.set(false));
///     wait_seconds(60).await;
/// }
///
/// let executor = Executor::new();
/// let lit = Watch::new(false);
/// let fuse = executor.start(fuse(lit.clone()));
/// assert!(lit.get());
/// fuse.stop();
/// assert!(!lit.get());
/// ```
///
/// # Source
///
/// `defer` of Go and Swift.
#[track_caller]
pub fn defer_call<F: FnOnce()>(f: F) -> DeferCall<F> {
    DeferCall {
        f: Some(f),
        is_recorded: recording::is_recording(),
        place: Location::caller(),
    }
}

/// The guard that [`defer_call`] returns. It calls its closure when it is dropped.
#[must_use = "the closure is called when the guard is dropped: bind it, as in `let _guard = defer_call(..)`"]
pub struct DeferCall<F: FnOnce()> {
    f: Option<F>,
    /// Whether a durable script has made it.
    is_recorded: bool,
    place: &'static Location<'static>,
}

impl<F: FnOnce()> DeferCall<F> {
    /// Drops the guard, and its closure without a call.
    pub fn cancel(mut self) {
        self.f = None;
    }
}

impl<F: FnOnce()> Drop for DeferCall<F> {
    fn drop(&mut self) {
        let Some(f) = self.f.take() else {
            return;
        };
        let origin = Origin::new("defer_call", NO_STATE, self.place);
        recording::deferred(self.is_recorded, || {
            match scope::with(|scope| scope.map(|scope| scope.core().rc())) {
                Some(core) => call_alone(&core, f, origin),
                None => f(),
            }
        });
    }
}

impl<F: FnOnce()> fmt::Debug for DeferCall<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferCall")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
