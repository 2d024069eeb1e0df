//! The log of the scene.

use framestep::prelude::*;

/// Prints what `who` does, with the time, the frame and the phase.
///
/// In a fixed step, the time is that of the step, which is behind the frame's time.
pub(crate) fn say(who: &str, what: &str) {
    let now = time();
    let seconds = now.elapsed.as_secs_f64();
    let frame = now.frame;
    // Before the first frame, there is no phase.
    let phase = now.phase.map_or("-".to_owned(), |phase| phase.to_string());
    println!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}
