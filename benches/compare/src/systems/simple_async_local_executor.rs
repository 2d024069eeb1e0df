//! simple-async-local-executor: a `Vec` of boxed futures, all polled in every
//! step with a waker that does nothing, and moved to a new `Vec`.
//!
//! What it offers to wait for is events, two reference counts each; a wait
//! written by hand is cheaper, and stands for `next_frame` here. It has no
//! clock (no W2), no handles to join (no W4a, no W4c), one kind of step (no
//! W5), and wakes nobody (no W7, no W8). What is spawned in a step begins in
//! the next one, a frame later than the children of W1c: no W1c.

use simple_async_local_executor::Executor;

use crate::scripts;
use crate::systems::bare::next_frame;
use crate::systems::{Order, System, World};

struct Frames {
    executor: Executor,
    spawned_per_step: Option<usize>,
}

impl Frames {
    fn new(spawned_per_step: Option<usize>) -> Self {
        Self {
            executor: Executor::default(),
            spawned_per_step,
        }
    }
}

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            if let Some(size) = self.spawned_per_step {
                for index in 0..size {
                    self.executor.spawn(scripts::short_lived(index, next_frame));
                }
                self.executor.step();
            }
            self.executor.step();
        }
    }
}

pub(crate) struct SimpleAsyncLocalExecutor;

impl System for SimpleAsyncLocalExecutor {
    fn name(&self) -> &'static str {
        "simple-async-local"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, next_frame))
    }

    /// Nothing but spawning and ending changes the order of its tasks.
    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames.executor.spawn(scripts::awake(index, next_frame));
        }
        frames.steps(1);
        Some(Box::new(frames))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Frames::new(Some(size))))
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let mut frames = Frames::new(None);
        frames.executor.spawn(scripts::nested(levels, next_frame));
        frames.steps(1);
        Some(Box::new(frames))
    }
}
