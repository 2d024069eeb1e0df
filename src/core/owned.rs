//! Coroutines and their owners.

#![forbid(unsafe_code)]

use crate::core::task::TaskKey;
use crate::core::owners::OwnerKey;

use super::Core;
use super::scope::Scope;
use super::task::{Flags, Task};

impl Core {
    /// Makes a new task a member of its owner.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt(&self, task: Task<'_>, owner: OwnerKey) {
        let mut owners = self.owners.borrow_mut();
        task.set_member(owners.add_member(owner, task.task_key()));
        if owners.is_paused(owner) {
            task.set(Flags::PAUSED);
        }
        if owners.clock(owner).is_some() {
            task.set(Flags::CLOCK);
        }
    }

    /// The owner of a task. It may have been removed.
    #[inline]
    pub(crate) fn owner_of(&self, task: Task<'_>) -> Option<OwnerKey> {
        let member = task.member()?;
        Some(self.owners.borrow().owner_of(member))
    }

    /// The owner of coroutines that are spawned in `scope`: that of the coroutine
    /// being polled, or of the callback.
    #[inline]
    pub(crate) fn owner_in(&self, scope: &Scope<'_>) -> Option<OwnerKey> {
        match scope.current() {
            Some(task) => self.owner_of(task),
            None => scope.owner(),
        }
    }

    /// Stops all coroutines that an owner and the owners below it have now.
    pub(crate) fn stop_owned(&self, owner: OwnerKey) {
        let mut tasks = self.owned.take();
        self.owners.borrow().tasks(owner, &mut tasks);
        self.stop_all(tasks);
    }

    /// Removes an owner, and stops all its coroutines.
    pub(crate) fn remove_owner(&self, owner: OwnerKey) {
        let mut tasks = self.owned.take();
        self.owners.borrow_mut().remove(owner, &mut tasks);
        self.stop_all(tasks);
    }

    fn stop_all(&self, mut tasks: Vec<TaskKey>) {
        for task in tasks.drain(..) {
            self.stop(task);
        }
        self.owned.replace(tasks);
    }
}
