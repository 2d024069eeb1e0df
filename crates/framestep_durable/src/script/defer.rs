//! Closures that run when a script leaves a block, or ends.

use std::fmt;

use crate::script::{ChangesNoLocal, cell, context};

/// Calls `f` with the world when the guard is dropped: at the end of its block, or when the
/// script is stopped. It is not called while a script is restored or rolled back. Outside of a
/// durable script, it is [`framestep::lend::defer`].
///
/// See [`framestep::lend::defer`], which also says what happens if the world is not lent then.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn lamp() {
///     with(|is_lit: &mut bool| *is_lit = true);
///     let _out = defer(|is_lit: &mut bool| *is_lit = false);
///     wait_seconds(60).await;
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Lamp>());
/// let mut is_lit = false;
/// runtime.lend(&mut is_lit, |runtime| {
///     let lamp = runtime.start(lamp());
///     runtime.stop(lamp.id());
/// });
/// assert!(!is_lit);
/// ```
#[track_caller]
pub fn defer<W: 'static, F: FnOnce(&mut W) + 'static>(f: F) -> Defer<W, F> {
    let made = match context::current() {
        Some(_) => Made::ByScript(Some(f)),
        None => Made::Outside(framestep::lend::defer(f)),
    };
    Defer { made }
}

/// The guard of [`defer`].
#[must_use = "the guard is dropped at once: `let _guard = defer(..)`"]
pub struct Defer<W: 'static, F: FnOnce(&mut W) + 'static> {
    made: Made<F, framestep::lend::Defer<W, F>>,
}

/// A closure of a durable script, or the guard of one of framestep.
enum Made<F, G> {
    /// `None` if it has been cancelled.
    ByScript(Option<F>),
    Outside(G),
}

impl<F, G> Made<F, G> {
    /// Takes the closure of a durable script, which is to be called.
    fn take(&mut self) -> Option<F> {
        let Made::ByScript(f) = self else {
            return None;
        };
        let f = f.take();
        f.filter(|_| context::current().is_some_and(|cell| cell.has_effects()))
    }
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> Defer<W, F> {
    /// Drops the guard without calling the closure.
    pub fn cancel(mut self) {
        match std::mem::replace(&mut self.made, Made::ByScript(None)) {
            Made::ByScript(_) => {}
            Made::Outside(guard) => guard.cancel(),
        }
    }
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> Drop for Defer<W, F> {
    fn drop(&mut self) {
        if let Some(f) = self.made.take() {
            in_closure(|| drop(framestep::lend::defer(f)));
        }
    }
}

impl<W: 'static, F: FnOnce(&mut W) + 'static> fmt::Debug for Defer<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defer").finish_non_exhaustive()
    }
}

/// Calls `f` as a part of the script that drops a guard: a replay does not call it.
fn in_closure(f: impl FnOnce()) {
    let cell = context::current();
    cell::in_closure(cell.as_deref(), f);
}

/// Calls `f` when the guard is dropped, like [`defer`] for a closure that needs no world. It is not
/// called while a script is restored or rolled back. Outside of a durable script, it is
/// [`framestep::lend::defer_call`].
///
/// What `f` changes is not saved: it is for things that are not part of the game's state, such as
/// sounds.
///
/// # Examples
///
/// ```
/// use std::cell::Cell;
///
/// use framestep_durable::prelude::*;
///
/// thread_local! {
///     static SOUNDS: Cell<u32> = const { Cell::new(0) };
/// }
///
/// #[durable]
/// async fn engine() {
///     let _off = defer_call(|| SOUNDS.set(SOUNDS.get() + 1));
///     wait_seconds(1).await;
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Engine>());
/// runtime.start(engine()).detach();
/// let save = runtime.save().unwrap();
/// runtime.restore(&save, Policy::Fail).unwrap();
/// assert_eq!(SOUNDS.get(), 0);
/// for _ in 0..4 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(SOUNDS.get(), 1);
/// ```
#[track_caller]
pub fn defer_call<F: FnOnce() + ChangesNoLocal>(f: F) -> DeferCall<F> {
    let made = match context::current() {
        Some(_) => Made::ByScript(Some(f)),
        None => Made::Outside(framestep::lend::defer_call(f)),
    };
    DeferCall { made }
}

/// The guard of [`defer_call`].
#[must_use = "the guard is dropped at once: `let _guard = defer_call(..)`"]
pub struct DeferCall<F: FnOnce()> {
    made: Made<F, framestep::lend::DeferCall<F>>,
}

impl<F: FnOnce()> DeferCall<F> {
    /// Drops the guard without calling the closure.
    pub fn cancel(mut self) {
        match std::mem::replace(&mut self.made, Made::ByScript(None)) {
            Made::ByScript(_) => {}
            Made::Outside(guard) => guard.cancel(),
        }
    }
}

impl<F: FnOnce()> Drop for DeferCall<F> {
    fn drop(&mut self) {
        if let Some(f) = self.made.take() {
            in_closure(|| drop(framestep::lend::defer_call(f)));
        }
    }
}

impl<F: FnOnce()> fmt::Debug for DeferCall<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferCall").finish_non_exhaustive()
    }
}
