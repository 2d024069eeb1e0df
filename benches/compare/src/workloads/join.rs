//! W4a: one starts many, and waits for each.

use crate::systems::{System, World};
use crate::workloads::Workload;

/// Joins in a sample.
const JOINS: u64 = 400_000;

/// A step is a frame in which one coroutine starts and joins N children, one
/// after another; each ends at its first poll.
pub(crate) struct Join;

impl Workload for Join {
    fn id(&self) -> &'static str {
        "W4a"
    }

    fn title(&self) -> &'static str {
        "Start a child and join it"
    }

    fn item(&self) -> &'static str {
        "join"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.joining(size)
    }

    fn sample(&self, size: usize) -> u64 {
        (JOINS / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
