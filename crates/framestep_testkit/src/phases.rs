//! The phases of a frame. Other packages of the repository include this file: their lists
//! of phases are made from it.

use framestep::Phase;

/// All phases of `run_frame`, in its order.
pub const PHASES: [Phase; Phase::NAMED.len()] = Phase::NAMED;

/// The number of runs of a frame with a custom phase.
pub const RUNS: usize = PHASES.len() + 1;

/// The phases of a frame whose host runs a custom phase after Update.
pub const fn with_custom(number: u8) -> [Phase; RUNS] {
    let mut all = [Phase::Custom(number); RUNS];
    let (mut from, mut to) = (0, 0);
    while from < PHASES.len() {
        all[to] = PHASES[from];
        // Behind Update, one place is left for the custom phase.
        to += 1 + matches!(PHASES[from], Phase::Update) as usize;
        from += 1;
    }
    all
}
