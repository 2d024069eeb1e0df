//! Data that few tasks have. The header of a task has its index here.

use std::borrow::Cow;

use slab::Slab;

use crate::core::base::cell::Guarded;
use crate::core::base::key::WaitKey;
use crate::core::pause::Pause;
use crate::core::pause::own::OwnClocks;
use crate::core::report::panics::Panicked;
use crate::core::task::{Task, Tasks};
use crate::core::wake::waker::TaskWaker;
use crate::inspect::Observed;
use crate::task::coroutine::Stopper;

/// Exists for a task that has one of these: a given name, a task waker, waits in
/// entries, an interval, a pause, a yield, a panic, an observer; or if it was stopped, or requested to
/// stop, by its handle.
#[derive(Default)]
pub(crate) struct Cold {
    pub(crate) name: Option<Cow<'static, str>>,
    /// The task waker, once a waker has been cloned.
    pub(crate) waker: Option<TaskWaker>,
    /// The polls for wakes in a run.
    pub(crate) wakes: Polls,
    /// The polls for yields in a run.
    pub(crate) yields: Polls,
    /// The last run that polled the task. Kept up to date while the task has the flag
    /// `ENTRIES`.
    pub(crate) polled_in: u64,
    /// The state of a task that is paused or has been paused.
    pub(crate) pause: Option<Box<Pause>>,
    /// The timers that the task has polled last, except for the one that is registered with the
    /// task itself. The keys may be stale.
    pub(crate) timers: Vec<WaitKey>,
    /// The clocks on which the task keeps own time.
    pub(crate) own: Option<Box<OwnClocks>>,
    /// What is known about the task, for snapshots and traces.
    pub(crate) observed: Option<Box<Observed>>,
    /// Whether the task itself has been requested to stop, by its handle.
    pub(crate) is_asked: bool,
    /// What has stopped the task, if it has a handle.
    pub(crate) stopper: Option<Stopper>,
    /// The payload of the task's panic.
    pub(crate) panic: Option<Panicked>,
}

/// The cold data of all tasks of an executor.
#[derive(Default)]
pub(crate) struct Colds(Guarded<Slab<Cold>>);

impl Colds {
    /// Calls `f` with the cold data of a task, if it has any. `f` must not call user code.
    #[inline]
    pub(crate) fn of<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Cold) -> R) -> Option<R> {
        let index = task.cold()?;
        self.0.borrow_mut().get_mut(index as usize).map(f)
    }

    /// The same. Makes the cold data if there is none.
    pub(crate) fn of_or_new<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Cold) -> R) -> R {
        let mut colds = self.0.borrow_mut();
        let index = task.cold().unwrap_or_else(|| add(&mut colds, task));
        f(&mut colds[index as usize])
    }

    /// Calls `f` with the pause of a task, if the task is or was paused.
    pub(crate) fn pause_of<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Pause) -> R) -> Option<R> {
        let read = self.of(task, |cold| cold.pause.as_deref_mut().map(f));
        read.flatten()
    }

    /// Calls `f` with the pause of a task. Makes the pause if there is none.
    pub(crate) fn edit_pause<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Pause) -> R) -> R {
        self.of_or_new(task, |cold| f(cold.pause.get_or_insert_default()))
    }

    /// Takes the cold data of an unneeded task, for the caller to drop.
    #[cold]
    pub(crate) fn take(&self, tasks: &Tasks, task: Task<'_>) -> Option<Cold> {
        if !tasks.is_unneeded(task) {
            return None;
        }
        let index = task.take_cold()?;
        Some(self.0.borrow_mut().remove(index as usize))
    }
}

/// Gives a task cold data. Returns its index.
#[inline]
fn add(colds: &mut Slab<Cold>, task: Task<'_>) -> u32 {
    if colds.len() == colds.capacity() {
        // Code of the allocator may end the task, but a vacant task takes no cold data.
        colds.reserve(1);
    }
    let index = u32::try_from(colds.vacant_key()).expect("no more than tasks");
    task.set_cold(index);
    colds.insert(Cold::default());
    index
}

/// How often the latest run has polled a task for one kind of reason.
#[derive(Default)]
pub(crate) struct Polls {
    run: u64,
    count: u32,
}

impl Polls {
    /// Counts a poll in `run`. Returns how many there have been, this one included.
    #[inline]
    pub(crate) fn count(&mut self, run: u64) -> u32 {
        let earlier = if self.run == run { self.count } else { 0 };
        self.run = run;
        self.count = earlier.wrapping_add(1);
        self.count
    }
}
