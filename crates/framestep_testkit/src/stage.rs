//! An executor whose host ends every wait of the table.

use framestep::prelude::*;
use framestep::{Executor, Handle};

use super::phases::{RUNS, with_custom};
use super::timeline::UNLIMITED;
use super::waits::Given;

/// What the waits of an executor are made from, and the frames of its host.
#[derive(Clone)]
pub struct Stage {
    pub given: Given,
}

impl Stage {
    /// The phases of a frame, in order.
    pub const PHASES: [Phase; RUNS] = with_custom(7);

    pub fn new() -> (Executor, Stage) {
        let builder = Executor::builder().max_delta(UNLIMITED);
        let executor = builder.fixed_delta(0.25).build();
        let stage = Stage::of(&executor.handle());
        (executor, stage)
    }

    /// The stage of another executor.
    pub fn of(handle: &Handle) -> Self {
        let given = Given::new(handle);
        Stage { given }
    }

    /// Runs a frame of a quarter of a second, with one step. In frame 2, before Update, the
    /// host sends 2. `beside` is called before each run.
    pub fn frame(&self, executor: &mut Executor, mut beside: impl FnMut(Phase)) {
        executor.begin_frame(0.25);
        for phase in Stage::PHASES {
            if phase == Phase::FixedUpdate && !executor.begin_fixed_step() {
                continue;
            }
            if phase == Phase::Update && executor.time().frame == 2 {
                self.given.send(2);
            }
            beside(phase);
            executor.run_phase(phase);
        }
    }

    /// Runs all frames that a case may need.
    pub fn run_to(&self, frame: u64, executor: &mut Executor) {
        while executor.time().frame < frame {
            self.frame(executor, |_| ());
        }
    }
}
