//! W4c: one end that many have waited for.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// A chain of N coroutines, each of which joins the one before it. A step is
/// the frame in which the first ends, and with it all.
pub(crate) struct Chain;

/// Levels that a sample ends, at least.
const LEVELS: usize = 200_000;

impl Workload for Chain {
    fn id(&self) -> &'static str {
        "W4c"
    }

    fn title(&self) -> &'static str {
        "A chain of joins ends at once"
    }

    fn item(&self) -> &'static str {
        "level"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000, 100_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.chained(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (LEVELS / size).max(2) as u64
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
