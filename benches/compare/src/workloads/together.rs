//! W8: many waits joined.

use crate::scripts::JOINED;
use crate::systems::{System, World};
use crate::workloads::Workload;

/// Waits in a sample.
const WAITS: u64 = 400_000;

/// N coroutines, each of which waits for the next frame 64 times at once, with
/// `join_all`; a step is a frame.
pub(crate) struct Together;

impl Workload for Together {
    fn id(&self) -> &'static str {
        "W8"
    }

    fn title(&self) -> &'static str {
        "Join 64 waits for the next frame"
    }

    fn item(&self) -> &'static str {
        "wait"
    }

    fn sizes(&self) -> &'static [usize] {
        &[100, 1_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.joining_frames(size)
    }

    fn sample(&self, size: usize) -> u64 {
        let waits = (size * JOINED) as u64;
        (WAITS / waits).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * (size * JOINED) as u64)
    }
}
