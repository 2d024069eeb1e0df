//! cosync: a `FuturesUnordered` of its own, in which a wait for the next run
//! wakes itself. All tasks must be `Send`.
//!
//! Sleeps are counted in runs, so W2 waits for whole frames, of the same
//! number. Tasks can queue others, but not wait for them (no W4a, no W4c);
//! there is one kind of run (no W5), and W7, W8 and W4b would need tasks that
//! are not `Send`.

use cosync::{Cosync, sleep_ticks, yield_now};

use crate::actor::{Actor, UNITS_PER_FRAME, Waits};
use crate::scripts::{self, CHURN_ONE_IN};
use crate::systems::{Order, System, World};

fn asleep(index: usize, waits: Waits) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            let units = actor.next_units(waits);
            sleep_ticks(units.div_ceil(UNITS_PER_FRAME) as usize).await;
            actor.resumed();
        }
    }
}

struct Frames {
    tasks: Cosync<()>,
    spawned_per_step: Option<usize>,
}

impl Frames {
    fn new(spawned_per_step: Option<usize>) -> Self {
        Self {
            tasks: Cosync::new(),
            spawned_per_step,
        }
    }
}

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            if let Some(size) = self.spawned_per_step {
                for index in 0..size {
                    self.tasks
                        .queue(move |_| scripts::short_lived(index, yield_now));
                }
                self.tasks.run(&mut ());
            }
            self.tasks.run(&mut ());
        }
    }
}

pub(crate) struct OfCosync;

impl System for OfCosync {
    fn name(&self) -> &'static str {
        "cosync"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, yield_now))
    }

    /// The order of its queue is its own affair.
    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames
                .tasks
                .queue(move |_| scripts::awake(index, yield_now));
        }
        frames.steps(1);
        Some(Box::new(frames))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let mut frames = Frames::new(None);
        for index in 0..size {
            if index % CHURN_ONE_IN == 0 {
                frames.tasks.queue(move |tasks| {
                    let start = move |index| {
                        tasks.queue(move |_| scripts::short_lived(index, yield_now));
                    };
                    scripts::churning(index, yield_now, start)
                });
            } else {
                frames
                    .tasks
                    .queue(move |_| scripts::awake(index, yield_now));
            }
        }
        frames.steps(1);
        Some(Box::new(frames))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames.tasks.queue(move |_| asleep(index, waits));
        }
        frames.steps(1);
        Some(Box::new(frames))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Frames::new(Some(size))))
    }
}
