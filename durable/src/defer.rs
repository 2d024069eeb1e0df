//! Closures that run when a script leaves a block, or ends.

use std::fmt;
use std::marker::PhantomData;

use crate::context;

/// Calls `f` with the world when the guard is dropped: at the end of its block, or when the
/// script is stopped. It is not called while a script is restored or rolled back.
///
/// See [`framestep::defer`], which also says what happens if the world is not lent then.
pub fn defer<W: 'static, F: FnOnce(&mut W) + 'static>(f: F) -> Defer<W, F> {
    Defer {
        f: Some(f),
        world: PhantomData,
    }
}

/// The guard of [`defer`].
#[must_use = "the guard is dropped at once: `let _guard = defer(..)`"]
pub struct Defer<W: 'static, F: FnOnce(&mut W) + 'static> {
    f: Option<F>,
    world: PhantomData<fn(&mut W)>,
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> Defer<W, F> {
    /// Drops the guard without calling the closure.
    pub fn cancel(mut self) {
        self.f = None;
    }
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> Drop for Defer<W, F> {
    fn drop(&mut self) {
        let counts = context::current().is_some_and(|cell| cell.has_effects());
        if let Some(f) = self.f.take().filter(|_| counts) {
            drop(framestep::defer(f));
        }
    }
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> fmt::Debug for Defer<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defer").finish_non_exhaustive()
    }
}
