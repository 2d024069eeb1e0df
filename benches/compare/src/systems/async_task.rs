//! Tasks of async-task and a queue of those that were woken: the smallest
//! executor that can be made of it.

use std::cell::RefCell;
use std::collections::VecDeque;

use ::async_task::{Runnable, Task, spawn_local};

use crate::systems::waker_list::Lists;
use crate::systems::woken::Woken;

thread_local! {
    static KEPT: RefCell<Vec<Task<()>>> = const { RefCell::new(Vec::new()) };
    static READY: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

fn next_ready() -> Option<Runnable> {
    READY.with_borrow_mut(VecDeque::pop_front)
}

fn spawned<T: 'static>(future: impl Future<Output = T> + 'static) -> Task<T> {
    let schedule = |runnable| READY.with_borrow_mut(|ready| ready.push_back(runnable));
    let (runnable, task) = spawn_local(future, schedule);
    runnable.schedule();
    task
}

pub(crate) struct Queue;

impl Drop for Queue {
    /// A detached task is freed when its last waker is dropped, and asks to
    /// be run for that.
    fn drop(&mut self) {
        drop(KEPT.take());
        Self::LISTS.clear();
        while let Some(runnable) = next_ready() {
            drop(runnable);
        }
    }
}

impl Woken for Queue {
    const NAME: &'static str = "async-task";
    const LISTS: Lists = Lists::AsyncTask;

    fn new() -> Self {
        Self
    }

    type Spawner = ();

    fn spawner(&self) {}

    fn spawn((): &(), future: impl Future<Output = ()> + 'static) {
        spawned(future).detach();
    }

    /// A task that owns its own waker is not freed unless it is cancelled.
    fn spawn_until_end((): &(), future: impl Future<Output = ()> + 'static) {
        let task = spawned(future);
        KEPT.with_borrow_mut(|kept| kept.push(task));
    }

    fn join(
        (): &(),
        future: impl Future<Output = u64> + 'static,
    ) -> impl Future<Output = u64> + 'static {
        spawned(future)
    }

    fn run(&mut self) {
        while let Some(runnable) = next_ready() {
            runnable.run();
        }
    }
}
