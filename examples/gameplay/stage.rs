//! The log of the scene.

use framestep::prelude::*;

/// Prints what `who` does, and the time, frame and phase in which it does so.
///
/// In a fixed step the time is that of the step, a little behind the frame's.
pub(crate) fn say(who: &str, what: &str) {
    let now = time();
    let seconds = now.elapsed.as_secs_f64();
    let frame = now.frame;
    // There is none before the first frame.
    let phase = now.phase.map_or("-".to_owned(), |phase| phase.to_string());
    println!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}
