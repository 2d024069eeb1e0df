//! The phases of a frame, and a frame of Update alone.

use framestep::Executor;
use framestep::prelude::*;

/// All phases of `run_frame`, in its order.
pub(crate) const PHASES: [Phase; 5] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

/// A frame of a host without fixed steps. (A long frame would have many.)
pub(crate) fn update(executor: &mut Executor, dt: impl Seconds) {
    executor.begin_frame(dt);
    executor.run_phase(Phase::Update);
}
