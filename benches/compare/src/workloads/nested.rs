//! W4b: plain awaits, one within another.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// Levels passed through in a sample.
const LEVELS: u64 = 2_000_000;

/// One coroutine, N futures deep, whose innermost waits for the next frame
/// again and again; a step is a frame.
pub(crate) struct Nested;

impl Workload for Nested {
    fn id(&self) -> &'static str {
        "W4b"
    }

    fn title(&self) -> &'static str {
        "Plain awaits, one within another"
    }

    fn item(&self) -> &'static str {
        "level"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.nested(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (LEVELS / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
