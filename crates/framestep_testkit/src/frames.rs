//! A frame of Update alone.

use framestep::Executor;
use framestep::prelude::*;

/// A frame of a host without fixed steps. (A long frame would have many.)
pub fn update(executor: &mut Executor, dt: impl Seconds) {
    executor.begin_frame(dt);
    executor.run_phase(Phase::Update);
}
