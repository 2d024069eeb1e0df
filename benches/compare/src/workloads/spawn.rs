//! W3: short lives.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// Spawns in a sample.
const SPAWNS: u64 = 400_000;

/// A step spawns N coroutines, runs the frame in which they begin to wait and
/// the frame in which they end.
pub(crate) struct Spawn;

impl Workload for Spawn {
    fn id(&self) -> &'static str {
        "W3"
    }

    fn title(&self) -> &'static str {
        "Spawn, wait for one frame, end"
    }

    fn item(&self) -> &'static str {
        "spawn"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000, 10_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.spawning(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (SPAWNS / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
