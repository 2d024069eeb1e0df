//! W1: everyone waits for the next frame.

use crate::systems::{Order, System, World};
use crate::workloads::Workload;

/// Resumes in a sample: long enough to be timed, short enough to rotate.
const RESUMES: u64 = 2_000_000;

/// N coroutines that wait for the next frame again and again; a step is a
/// frame.
pub(crate) struct Awake {
    id: &'static str,
    title: &'static str,
    order: Order,
}

impl Awake {
    pub(crate) const IN_ORDER: Self = Self {
        id: "W1",
        title: "Awake in every frame",
        order: Order::Allocated,
    };
    pub(crate) const AGED: Self = Self {
        id: "W1-aged",
        title: "Awake, memory order shuffled",
        order: Order::Aged,
    };
}

impl Workload for Awake {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn item(&self) -> &'static str {
        "resume"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000, 10_000, 100_000, 1_000_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.awake(size, self.order)
    }

    fn sample(&self, size: usize) -> u64 {
        (RESUMES / size as u64).max(1)
    }

    fn items(&self, size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |steps| steps * size as u64)
    }
}
