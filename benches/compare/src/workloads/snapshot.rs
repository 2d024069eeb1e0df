//! W9: what it takes to ask who waits for what.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// Coroutines looked at in a sample.
const LOOKS: u64 = 200_000;

/// N coroutines in waits of all kinds; a step is a snapshot of them. Nobody
/// resumes.
pub(crate) struct Snapshot;

impl Workload for Snapshot {
    fn id(&self) -> &'static str {
        "W9"
    }

    fn title(&self) -> &'static str {
        "Ask who waits for what"
    }

    fn item(&self) -> &'static str {
        "look"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10_000, 100_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.inspected(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (LOOKS / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }

    fn resumes(&self, _size: usize, _items: u64) -> u64 {
        0
    }
}
