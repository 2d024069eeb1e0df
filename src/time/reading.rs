//! A reading of the executor's clocks.

use std::time::Duration;

use crate::time::Phase;

/// A reading of the executor's clocks.
///
/// Returned by [`time`](crate::time()) and
/// [`Executor::time`](crate::Executor::time), and the item of the stream
/// [`frames`](crate::wait::frames()). The readings do not change between two calls of
/// [`Executor::begin_frame`](crate::Executor::begin_frame). The exception is a
/// fixed step: inside it, `elapsed`, `delta` and `scale` are those of the step.
///
/// In a coroutine whose owner is bound to [another clock](crate::Executor::owner_on),
/// the `delta`, `elapsed` and `scale` of [`time`](crate::time()) are of that clock.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// executor.run_frame(0.25);
/// let time = executor.time();
/// assert_eq!(time.frame, 1);
/// assert_eq!(time.elapsed.as_secs_f32(), 0.25);
/// assert_eq!(time.fixed_elapsed.as_millis(), 240); // twelve steps of 20 ms
/// ```
///
/// # Source
///
/// `Time.frameCount`, `deltaTime`, `time`, `unscaledTime`, `fixedTime`, Unity
/// scripting reference. As in Unity, `time` and `deltaTime` are the fixed ones
/// inside a fixed step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Time {
    /// How many frames have begun: 0 before the first.
    pub frame: u64,
    /// How far the game clock advanced in this frame, scaled. Inside a fixed step,
    /// the length of the step.
    pub delta: Duration,
    /// The reading of the game clock. Inside a fixed step, the time of the step.
    pub elapsed: Duration,
    /// The dt of this frame as the host passed it, neither scaled nor clamped.
    pub unscaled_delta: Duration,
    /// The sum of all dt that the host passed: "realtime".
    pub unscaled_elapsed: Duration,
    /// The length of the latest fixed step. Before the first, the length of the
    /// steps that the game clock makes.
    pub fixed_delta: Duration,
    /// The end of the latest fixed step.
    pub fixed_elapsed: Duration,
    /// How fast the game clock runs in this frame: 0 while it is paused. Inside a
    /// fixed step, its scale when the step began. See
    /// [`Clock::set_scale`](crate::time::Clock::set_scale).
    pub scale: f64,
    /// The phase of the run under way, if one is.
    pub phase: Option<Phase>,
}
