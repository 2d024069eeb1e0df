//! Coroutines and their owners.

#![forbid(unsafe_code)]

use crate::context::Level;
use crate::key::TaskKey;
use crate::owner::OwnerIndex;
use crate::task::{Flags, TaskRef};

use super::Core;

impl Core {
    /// Makes a new task a member of its owner.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt(&self, task: TaskRef, owner: OwnerIndex) {
        let mut owners = self.owners.borrow_mut();
        let member = owners.add_member(owner, task.key());
        self.tasks.borrow_mut().set_member(task, member);
        if owners.is_held(owner) {
            task.set(Flags::PAUSED);
        }
        if owners.clock(owner).is_some() {
            task.set(Flags::CLOCK);
        }
    }

    /// The owner of a task, which may be gone.
    #[inline]
    pub(crate) fn owner_of(&self, task: TaskRef) -> Option<OwnerIndex> {
        let member = self.tasks.borrow().member(task)?;
        Some(self.owners.borrow().owner_of(member))
    }

    /// Whose the coroutine is that `level` polls, or the callback: what it
    /// spawns is, too.
    #[inline]
    pub(crate) fn owner_in(&self, level: &Level) -> Option<OwnerIndex> {
        match level.current.get() {
            Some(task) => self.owner_of(task),
            None => level.owner,
        }
    }

    /// Stops all coroutines that an owner and those below it have now.
    pub(crate) fn stop_owned(&self, owner: OwnerIndex) {
        self.with_tasks(|tasks| {
            self.owners.borrow().tasks(owner, tasks);
            |task| {
                self.stop(task);
            }
        });
    }

    /// Removes an owner, and stops all it owns.
    pub(crate) fn remove_owner(&self, owner: OwnerIndex) {
        self.with_tasks(|tasks| {
            self.owners.borrow_mut().remove(owner, tasks);
            |task| {
                self.stop(task);
            }
        });
    }

    /// Pauses or resumes an owner, and with it all that it and those below it
    /// own. `false`: it was so already.
    pub(crate) fn set_owner_paused(&self, owner: OwnerIndex, paused: bool) -> bool {
        let mut changed = false;
        self.with_tasks(|tasks| {
            changed = self.owners.borrow_mut().set_paused(owner, paused, tasks);
            let readings = self.readings();
            move |task| {
                let task = self.tasks.borrow().get(task);
                if let Some(task) = task.filter(|task| task.is_alive()) {
                    self.update_pause(task, &readings);
                }
            }
        });
        changed
    }

    /// Fills a list that is kept for its memory, then goes through it.
    fn with_tasks<F: FnMut(TaskKey)>(&self, fill: impl FnOnce(&mut Vec<TaskKey>) -> F) {
        // What follows may come back here, and then makes a list of its own.
        let mut tasks = self.owned_tasks.take();
        let mut each = fill(&mut tasks);
        for task in tasks.drain(..) {
            each(task);
        }
        drop(each);
        self.owned_tasks.replace(tasks);
    }
}
