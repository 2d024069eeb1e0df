//! `bevy_malek_async`: tasks of any runtime, which meet a world of Bevy at a point of a schedule. Here their runtime is
//! the least there can be: a waker polls its task where it is called, so no thread takes part.
//!
//! A wait for the next frame is a system without parameters. It has no clock (no W2), no joins (no W4) and no wakes of
//! its own (no W7, W8). Bevy's version is its own: 0.18.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use bevy_ecs::schedule::ScheduleLabel;
use bevy_ecs::world::{World as Bevy, WorldId};
use bevy_malek_async::{EcsTask, run_async_ecs_on_schedule};

use crate::scripts;
use crate::systems::{Order, System, World};

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Frame;

struct Task {
    /// `None` once it has ended.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut future = self.future.lock().expect("no task panics");
        if let Some(polled) = &mut *future
            && polled
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
        {
            *future = None;
        }
    }
}

struct Frames {
    world: Bevy,
    tasks: Vec<Arc<Task>>,
    spawned_per_step: Option<usize>,
}

/// The wait of a task, which keeps its system from one frame to the next.
fn next_frame(of: WorldId) -> impl Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let task = EcsTask::<()>::new(of);
    move || Box::pin(task.clone().run_system(Frame, |()| ()))
}

impl Frames {
    fn new(spawned_per_step: Option<usize>) -> Self {
        Self {
            world: Bevy::new(),
            tasks: Vec::new(),
            spawned_per_step,
        }
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Arc<Task> {
        let task = Arc::new(Task {
            future: Mutex::new(Some(Box::pin(future))),
        });
        task.clone().wake();
        task
    }

    fn frame(&mut self) {
        run_async_ecs_on_schedule(Frame.intern(), &mut self.world);
    }
}

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            if let Some(size) = self.spawned_per_step {
                let of = self.world.id();
                for index in 0..size {
                    drop(self.spawn(scripts::short_lived(index, next_frame(of))));
                }
            }
            self.frame();
        }
    }
}

impl Drop for Frames {
    /// The wakers in its queue, which is a static, keep the tasks.
    fn drop(&mut self) {
        for task in &self.tasks {
            drop(task.future.lock().map(|mut future| future.take()));
        }
    }
}

pub(crate) struct OfMalek;

impl System for OfMalek {
    fn name(&self) -> &'static str {
        "bevy-malek-async"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, next_frame(Bevy::new().id())))
    }

    /// They are polled in the order in which they have asked for the world.
    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut frames = Frames::new(None);
        let of = frames.world.id();
        for index in 0..size {
            let task = frames.spawn(scripts::awake(index, next_frame(of)));
            frames.tasks.push(task);
        }
        Some(Box::new(frames))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Frames::new(Some(size))))
    }
}
