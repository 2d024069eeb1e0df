//! koryto: an arena of boxed futures, all polled every frame with a waker that
//! panics. Its waits count down in `f32`, exactly so here, and begin with the
//! frame that they begin in: W2 waits for one frame more, and fires as often
//! as the others.
//!
//! A coroutine cannot start another one, as that takes the arena itself: no
//! W1c, no W4a, no W4c. There is one kind of frame: no W5. Nothing can be woken: no
//! W7, no W8.

use koryto::{Koryto, wait_seconds, yield_frame};

use crate::actor::{Actor, FRAME, Waits};
use crate::scripts;
use crate::systems::{Order, System, World};

fn asleep(index: usize, waits: Waits) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            let length = actor.next_wait(waits) + FRAME;
            wait_seconds(length.as_secs_f32()).await;
            actor.resumed();
        }
    }
}

struct Frames {
    koryto: Koryto,
    spawned_per_step: Option<usize>,
}

impl Frames {
    fn new(spawned_per_step: Option<usize>) -> Self {
        Self {
            koryto: Koryto::new(),
            spawned_per_step,
        }
    }

    fn run_frame(&mut self) {
        self.koryto.poll_coroutines(FRAME.as_secs_f32());
    }
}

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            if let Some(size) = self.spawned_per_step {
                for index in 0..size {
                    self.koryto.start(scripts::short_lived(index, yield_frame));
                }
                self.run_frame();
            }
            self.run_frame();
        }
    }
}

pub(crate) struct OfKoryto;

impl System for OfKoryto {
    fn name(&self) -> &'static str {
        "koryto"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, yield_frame))
    }

    /// The arena goes by its slots: it is polled in the order of allocation
    /// until something ends and its slot is used again.
    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames.koryto.start(scripts::awake(index, yield_frame));
        }
        frames.run_frame();
        Some(Box::new(frames))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let mut frames = Frames::new(None);
        for index in 0..size {
            frames.koryto.start(asleep(index, waits));
        }
        frames.run_frame();
        Some(Box::new(frames))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Frames::new(Some(size))))
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let mut frames = Frames::new(None);
        frames.koryto.start(scripts::nested(levels, yield_frame));
        frames.run_frame();
        Some(Box::new(frames))
    }
}
