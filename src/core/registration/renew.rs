//! How a wait that is polled again before it is ready keeps its list, and resumes the
//! coroutine that polls it now.

use std::task::{Context, Waker};

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task};

impl Registration {
    /// Keeps up a wait that is polled again before it is ready, so that it resumes the
    /// coroutine that polls it now. Returns `false` if the wait is not registered now, and
    /// must be registered anew.
    #[inline]
    pub(crate) fn renew(&mut self, scope: &Scope<'_>, cx: &Context<'_>, list: WaitList) -> bool {
        let key = self.key;
        if key == WaitKey::NONE {
            return false;
        }
        let core = scope.core();
        let own = scope.own_task(cx);
        if key.is_entry() {
            if own.is_some_and(|own| core.entries.borrow().is_of(key, own.task_key())) {
                return true;
            }
            if !core.waits().is_live(key) {
                return false;
            }
            let (task, waker) = polled_by(scope, cx, own);
            return renew_entry(core, key, task, waker);
        }
        if core.tasks.waiting(key).is_none() {
            return false;
        }
        if own.is_some_and(|own| own.index() == key.index()) {
            return true;
        }
        // The wait moved: to another waker, or to another coroutine.
        self.cancel(list);
        false
    }

    /// Whether a poll with this context makes the wait a shared one: another coroutine has
    /// polled it with a foreign waker, too, and may still wait for it.
    pub(crate) fn is_shared_by(&self, scope: &Scope<'_>, cx: &Context<'_>) -> bool {
        let core = scope.core();
        let Some(task) = scope.current() else {
            return false;
        };
        if !core.entries.borrow().has_waker(self.key) || scope.own_task(cx).is_some() {
            return false;
        }
        let other = core.waits().task(self.key);
        core.waits().is_shared(self.key) || other.is_some_and(|other| other != task)
    }

    /// Notes which coroutine polls a wait that no run ends: it is woken if the wait is [made as
    /// new](Self::renew_as_new). Calls user code: the clone of the waker.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_renewal(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        let core = scope.core();
        let waker = foreign_waker(cx, scope.own_task(cx));
        let task = scope.current();
        let task = task.map_or(TaskKey::NOBODY, |task| task.task_key());
        if core.waits().is_live(self.key) {
            renew_entry(core, self.key, task, waker);
        } else {
            self.key = core.entries.borrow_mut().insert_endless(task, waker);
        }
    }
}

/// Replaces the task and the waker of an entry. Returns `false` if the entry is gone.
/// Calls user code: the destructor of the earlier waker.
pub(super) fn renew_entry(
    core: &Core,
    key: WaitKey,
    task: TaskKey,
    waker: Option<Foreign<Waker>>,
) -> bool {
    let renewed = core.entries.borrow_mut().renew(key, task, waker);
    renewed.is_ok()
}

/// The coroutine and the foreign waker of the poll under way, for an entry. Sets
/// [`Flags::ENTRIES`].
pub(super) fn polled_by(
    scope: &Scope<'_>,
    cx: &Context<'_>,
    own: Option<Task<'_>>,
) -> (TaskKey, Option<Foreign<Waker>>) {
    let waker = foreign_waker(cx, own);
    let task = scope.current();
    if let Some(task) = task {
        task.set(Flags::ENTRIES);
    }
    (task.map_or(TaskKey::NOBODY, |task| task.task_key()), waker)
}

/// Clones the waker, which is user code, unless it is the task waker: then `own` is the
/// task.
pub(super) fn foreign_waker(cx: &Context<'_>, own: Option<Task<'_>>) -> Option<Foreign<Waker>> {
    match own {
        Some(_) => None,
        None => Some(Foreign::new(call::out(|| cx.waker().clone()))),
    }
}
