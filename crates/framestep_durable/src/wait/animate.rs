//! Animations: a change of the world in every frame, for a length of time.

use framestep::time::Seconds;
use framestep::wait::Animate;

/// Calls `apply` with a progress from 0 to 1 in every frame, for `seconds`: with 0 at once, with 1
/// at the end. See [`framestep::wait::animate`]. Only the end is recorded.
///
/// After a restore, `apply` is a new closure, so it must not keep anything from one call to the
/// next: what it needs is in the world, or was read before the animation began.
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct Door { angle: f32 }
/// # async fn script() {
/// let from = with(|door: &mut Door| door.angle);
/// animate(0.5, move |part| with(|door: &mut Door| door.angle = from + 90.0 * part)).await;
/// # }
/// ```
///
/// This would turn the door too far after a restore, and does not compile:
///
/// ```compile_fail,E0594
/// # use framestep_durable::prelude::*;
/// # struct Door { angle: f32 }
/// # async fn script() {
/// let mut last = 0.0;
/// let turn = move |part| {
///     with(|door: &mut Door| door.angle += 90.0 * (part - last));
///     last = part;
/// };
/// animate(0.5, turn).await;
/// # }
/// ```
///
/// # Panics
///
/// When polled: if `seconds` is NaN; or outside of an executor.
#[track_caller]
pub fn animate<F: Fn(f32)>(seconds: impl Seconds, apply: F) -> Animate<F> {
    framestep::wait::animate(seconds, apply)
}
