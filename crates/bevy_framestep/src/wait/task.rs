//! Work for Bevy's task pools.

use bevy_tasks::{AsyncComputeTaskPool, Task};

/// Runs `work` on Bevy's thread pool for computations, and waits for its result.
///
/// The work begins with the call. Dropping the future cancels it; if it is running already,
/// it runs to its end, and its result is dropped.
///
/// A task that is spawned by other means, such as one of `IoTaskPool`, can be awaited as it is.
/// So can any future that is woken from other threads.
///
/// # Resumes
///
/// In the home phase of the script, in the first run after the work is done.
///
/// # Panics
///
/// If the app has no `TaskPoolPlugin`, which is part of `DefaultPlugins` and
/// `MinimalPlugins`. A panic of the work becomes a panic of the script.
///
/// # Examples
///
/// ```
/// use bevy_framestep::prelude::*;
///
/// async fn find_path(goal: u64) -> u64 {
///     compute(move || (1..=goal).sum()).await
/// }
/// ```
#[track_caller]
pub fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
    AsyncComputeTaskPool::get().spawn(async move { work() })
}
