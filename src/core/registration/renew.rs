//! How a wait that is polled again before it is ready keeps its list, and resumes the
//! coroutine that polls it now.

use std::task::{Context, Waker};

use crate::core::Core;
use crate::core::call::{self, Foreign};
use crate::core::registration::key::WaitKey;
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task, TaskKey};
use crate::time::PhaseIndex;

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
            return self.renew_entry(scope, cx, list);
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

    fn renew_entry(&self, scope: &Scope<'_>, cx: &Context<'_>, list: WaitList) -> bool {
        let core = scope.core();
        if !core.waits().is_live(self.key) {
            return false;
        }
        let (task, waker) = polled_by(scope, cx, scope.own_task(cx));
        renew_entry(core, self.key, task, waker, self.tag.phase, list)
    }

    /// Whether a poll with this context makes the wait a shared one: other coroutines have
    /// polled it, too. Then they also share its time.
    pub(crate) fn is_shared_by(&self, scope: &Scope<'_>, cx: &Context<'_>) -> bool {
        let task = scope.current().filter(|_| scope.own_task(cx).is_none());
        let entries = scope.core().entries.borrow();
        self.key.is_entry()
            && task.is_some_and(|task| entries.is_shared_with(self.key, task.task_key()))
    }
}

/// Replaces the task and the waker of an entry. Returns `false` if the entry is gone.
/// Calls user code: the destructor of the earlier waker.
pub(super) fn renew_entry(
    core: &Core,
    key: WaitKey,
    task: TaskKey,
    waker: Option<Foreign<Waker>>,
    phase: PhaseIndex,
    list: WaitList,
) -> bool {
    if waker.is_some() && core.entries.borrow().is_shared_with(key, task) {
        if let Some(task) = core.tasks.get(task) {
            let timer = match list {
                WaitList::Timer(clock) => Some((phase, clock)),
                _ => None,
            };
            core.sharing().share(key, task, timer);
        }
        let renewed = core.entries.borrow_mut().renew_waker(key, waker);
        return renewed.is_ok();
    }
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
