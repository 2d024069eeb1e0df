//! Timers of Bevy.

use bevy_time::{Timer, TimerMode};
use framestep::{time, wait_seconds};

/// Waits until a timer of Bevy's finishes, and ticks it meanwhile, on the clock of the script: a
/// repeating one up to its next end, from which it goes on.
///
/// The timer must not be ticked by a system as well. For one in a component that a system ticks,
/// use [`wait_until`](crate::ScriptEntity::wait_until):
/// `gun.wait_until(|cooldown: &Cooldown| cooldown.0.is_finished())`.
///
/// It returns at once if a timer that does not repeat has finished. It never returns while the
/// timer is paused.
///
/// # Resumes
///
/// In the home phase of the script, in the first later frame at or past the end of the timer.
///
/// # Cancel safety
///
/// Dropping it leaves the timer as it was.
///
/// # Examples
///
/// ```
/// use bevy_framestep::prelude::*;
/// use bevy_time::{Timer, TimerMode};
///
/// async fn shoot() {
///     let mut cooldown = Timer::from_seconds(0.25, TimerMode::Repeating);
///     loop {
///         wait_for_timer(&mut cooldown).await;
///         println!("{} shots", cooldown.times_finished_this_tick());
///     }
/// }
/// ```
pub async fn wait_for_timer(timer: &mut Timer) {
    if timer.mode() == TimerMode::Once && timer.is_finished() {
        return;
    }
    if timer.is_paused() {
        std::future::pending::<()>().await;
    }
    let begun = time().elapsed;
    wait_seconds(timer.remaining()).await;
    timer.tick(time().elapsed.saturating_sub(begun));
}
