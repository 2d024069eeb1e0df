//! W5: everyone waits for a phase of the next frame.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// Resumes in a sample.
const RESUMES: u64 = 2_000_000;

/// N coroutines, a quarter in each of four phases; a step is a frame.
pub(crate) struct Phases;

impl Workload for Phases {
    fn id(&self) -> &'static str {
        "W5"
    }

    fn title(&self) -> &'static str {
        "Awake, in four phases"
    }

    fn item(&self) -> &'static str {
        "resume"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10_000, 100_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.phased(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (RESUMES / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
