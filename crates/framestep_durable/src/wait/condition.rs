//! The waits for a condition of the world.

use framestep::wait::{WaitUntil, WaitWhile};

/// Waits until `condition` returns `true`. It is called once in each run of the home phase,
/// from the next frame on. See [`framestep::wait_until`].
///
/// Only the end of the wait is recorded, and after a restore, `condition` is a new closure. So it is an
/// `Fn`, which keeps nothing from one call to the next. This does not compile:
///
/// ```compile_fail,E0594
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// let mut calls = 0;
/// wait_until(move || {
///     calls += 1;
///     calls > 3
/// })
/// .await;
/// # }
/// ```
///
/// # Panics
///
/// When polled outside of an executor.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct World { gold: u32 }
/// # async fn script() {
/// wait_until(|| with_ref(|world: &World| world.gold > 30)).await;
/// # }
/// ```
pub fn wait_until<P: Fn() -> bool>(condition: P) -> WaitUntil<P> {
    framestep::wait_until(condition)
}

/// Waits until `condition` returns `false`. Otherwise it is like [`wait_until`].
///
/// # Panics
///
/// As [`wait_until`].
pub fn wait_while<P: Fn() -> bool>(condition: P) -> WaitWhile<P> {
    framestep::wait::wait_while(condition)
}
