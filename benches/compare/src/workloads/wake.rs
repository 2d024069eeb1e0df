//! W7: wakers.

use crate::scripts::PASSES;
use crate::systems::{System, World};
use crate::workloads::Workload;

/// Wakes in a sample.
const WAKES: u64 = 400_000;

/// N pairs of coroutines pass a ball to and fro, each pass a wake; a step is a
/// frame.
pub(crate) struct Wake;

impl Workload for Wake {
    fn id(&self) -> &'static str {
        "W7"
    }

    fn title(&self) -> &'static str {
        "Wake one another"
    }

    fn item(&self) -> &'static str {
        "wake"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1, 1_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.waking(size)
    }

    fn sample(&self, size: usize) -> u64 {
        let passes = (size * PASSES * 2) as u64;
        (WAKES / passes).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * (size * PASSES * 2) as u64)
    }
}
