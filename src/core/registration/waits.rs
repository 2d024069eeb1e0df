//! Waits by their keys: registered with their task, or with an entry.

use crate::core::base::cell::Guarded;
use crate::core::base::key::WaitKey;
use crate::core::registration::entries::Entries;
use crate::core::task::{Flags, Task, Tasks};

/// The two tables in which waits are registered.
#[derive(Clone, Copy)]
pub(crate) struct Waits<'a> {
    pub(crate) tasks: &'a Tasks,
    pub(crate) entries: &'a Guarded<Entries>,
}

/// How a wait is registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    pub(crate) is_for_later_frame: bool,
    pub(crate) asks_condition: bool,
    /// Whether it has an entry of its own, or is registered with its task.
    pub(crate) has_entry: bool,
}

impl<'a> Waits<'a> {
    /// Whether a wait is registered under this key.
    #[inline(always)]
    pub(crate) fn is_live(self, key: WaitKey) -> bool {
        if key.is_entry() {
            self.entries.borrow().is_live(key)
        } else {
            key != WaitKey::NONE && self.tasks.waiting(key).is_some()
        }
    }

    /// The task that the wait under `key` resumes. `None` if the wait is not
    /// registered.
    pub(crate) fn task(self, key: WaitKey) -> Option<Task<'a>> {
        if key == WaitKey::NONE {
            None
        } else if key.is_entry() {
            let task = self.entries.borrow().task(key)?;
            self.tasks.get(task).filter(|task| task.is_alive())
        } else {
            self.tasks.waiting(key)
        }
    }

    /// Whether a pause holds the wait under `key`: if it is due, no coroutine is polled, and
    /// no foreign waker is called.
    pub(crate) fn is_held(self, key: WaitKey) -> bool {
        let task = self.task(key);
        task.is_some_and(|task| task.has(Flags::PAUSED)) && !self.entries.borrow().has_waker(key)
    }

    /// Whether the wait under `key` resumes this task.
    pub(crate) fn is_of(self, key: WaitKey, task: Option<Task<'_>>) -> bool {
        let waits = self.task(key);
        waits.is_some() && waits == task
    }

    /// Whether a wait that began in this frame must wait for a later frame.
    pub(crate) fn is_for_later_frame(self, key: WaitKey) -> bool {
        if key.is_entry() {
            self.entries.borrow().is_frame_bound(key)
        } else {
            let task = self.tasks.waiting(key);
            task.is_some_and(|task| task.is_frame_bound())
        }
    }

    /// How the wait under `key` is registered. `None` if it is not.
    pub(crate) fn registered(self, key: WaitKey) -> Option<Registered> {
        if key.is_entry() {
            let entries = self.entries.borrow();
            entries.is_live(key).then(|| Registered {
                is_for_later_frame: entries.is_frame_bound(key),
                asks_condition: entries.asks_condition(key),
                has_entry: true,
            })
        } else if key == WaitKey::NONE {
            None
        } else {
            self.tasks.waiting(key).map(|task| Registered {
                is_for_later_frame: task.is_frame_bound(),
                asks_condition: task.asks_condition(),
                has_entry: false,
            })
        }
    }

    /// Removes the registration under `key`. Returns its task if the task is alive. Calls
    /// user code: the destructor of a waker.
    pub(crate) fn take(self, key: WaitKey) -> Option<Task<'a>> {
        let task = if key.is_entry() {
            let removed = self.entries.borrow_mut().remove(key)?;
            let task = removed.task;
            // Dropping the waker is user code. So the task is looked up afterwards.
            drop(removed);
            self.tasks.get(task)?
        } else {
            let task = self.tasks.waiting(key)?;
            task.deregister();
            task
        };
        task.is_alive().then_some(task)
    }

    /// Whether several coroutines have polled the wait under `key`. Then no pause of a
    /// coroutine moves its deadline.
    pub(crate) fn is_shared(self, key: WaitKey) -> bool {
        self.entries.borrow().is_shared(key)
    }

    pub(crate) fn set_shared(self, key: WaitKey) {
        self.entries.borrow_mut().set_shared(key);
    }

    /// Adds a join to the joins of its target.
    pub(crate) fn join(self, target: Task<'_>, key: WaitKey) {
        let last = target.joiners.get();
        let last = self.entries.borrow_mut().join(key, target.index(), last);
        target.joiners.set(last);
    }

    /// Takes a join out of the joins of its target, if it is one of them.
    pub(crate) fn leave_joins(self, key: WaitKey) {
        let mut entries = self.entries.borrow_mut();
        if let Some(target) = entries.joins(key) {
            let target = self.tasks.at(target);
            target.joiners.set(entries.leave(key, target.joiners.get()));
        }
    }
}
