//! Tools for tests of scripts.

use std::panic::{self, AssertUnwindSafe};

/// The frame rates of [`at_frame_rates`], in frames a second: slow machines, films,
/// screens, fast screens, and a server that runs without a pause.
pub const FRAME_RATES: [u32; 12] = [10, 20, 24, 30, 50, 60, 75, 90, 120, 144, 240, 1000];

/// Calls a test once for each of [`FRAME_RATES`], with the length of a frame in seconds.
/// Returns the results in the same order.
///
/// # Panics
///
/// If the test panics. Before that, the frame rate is printed to standard error.
///
/// # Examples
///
/// ```
/// use framestep::testing::at_frame_rates;
/// use framestep::prelude::*;
///
/// // The door opens after a second, at most one frame late.
/// at_frame_rates(|dt| {
///     let mut executor = Executor::new();
///     let door = async {
///         wait_seconds(1).await;
///         time().elapsed.as_secs_f64()
///     };
///     let opened = executor.run_until(door, dt);
///     assert!((1.0..1.0 + 2.0 * dt).contains(&opened), "{opened}");
/// });
/// ```
pub fn at_frame_rates<R>(mut test: impl FnMut(f64) -> R) -> Vec<R> {
    let at = |rate: u32| {
        let tested = panic::catch_unwind(AssertUnwindSafe(|| test(1.0 / f64::from(rate))));
        tested.unwrap_or_else(|payload| {
            eprintln!("at {rate} frames a second");
            panic::resume_unwind(payload)
        })
    };
    FRAME_RATES.into_iter().map(at).collect()
}
