//! moirai: a queue of jobs behind a lock, of which a run of the main thread polls each once: every wait
//! wakes itself. All jobs must be `Send` and `Sync`. Without workers here: only `run_local` polls.
//!
//! Its time is that of the computer's clock, so there is no W2. A job can await others, but the scripts of W4a and
//! W4c, and what W7, W8 and W4b need, are not `Send`. There is one kind of run (no W5).

use std::time::Duration;

use moirai::coroutine::yield_now;
use moirai::job::JobLocation;
use moirai::jobs::Jobs;

use crate::scripts;
use crate::systems::{Order, System, World};

struct Frames {
    jobs: Jobs,
    spawned_per_step: Option<usize>,
}

impl Frames {
    fn new(spawned_per_step: Option<usize>) -> Self {
        Self {
            jobs: Jobs::new(0, Duration::ZERO),
            spawned_per_step,
        }
    }

    fn spawn(&self, job: impl Future<Output = ()> + Send + Sync + 'static) {
        drop(self.jobs.spawn(JobLocation::Local, job));
    }
}

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            if let Some(size) = self.spawned_per_step {
                for index in 0..size {
                    self.spawn(scripts::short_lived(index, yield_now));
                }
                self.jobs.run_local();
            }
            self.jobs.run_local();
        }
    }
}

pub(crate) struct OfMoirai;

impl System for OfMoirai {
    fn name(&self) -> &'static str {
        "moirai"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, yield_now))
    }

    /// The queue keeps the order in which the jobs were spawned.
    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames.spawn(scripts::awake(index, yield_now));
        }
        frames.steps(1);
        Some(Box::new(frames))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Frames::new(Some(size))))
    }
}
