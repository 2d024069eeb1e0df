//! Closures that run when a script leaves a block, or ends.

use framestep::lend::DeferCall;

use crate::script::ChangesNoLocal;

/// Calls `f` when the guard is dropped, like [`defer`](crate::defer) for a closure that needs no world. It is not
/// called while a script is restored or rolled back. See [`framestep::lend::defer_call`].
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
/// let mut runtime = Runtime::new(Registry::new().script(engine));
/// runtime.start(engine());
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
    framestep::lend::defer_call(f)
}
