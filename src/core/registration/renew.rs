//! How a wait that is polled again before it is ready keeps its list, and resumes the
//! coroutine that polls it now; how it is made as new, and cancelled. The key of a cancelled one goes stale
//! in the list that holds it.

use std::mem;
use std::panic::Location;
use std::task::{Context, Waker};

use crate::core::base::call::{self, Foreign};
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::registration::tag::Stage;
use crate::core::registration::{Registration, WaitList, ticket_of};
use crate::core::scope::{self, Scope, recording};
use crate::core::task::{Flags, Task};
use crate::core::{Core, wake};
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

impl Registration {
    /// Makes a wait as new, except that it keeps its phase. Wakes the coroutine that waits, and a
    /// combinator with a waker of its own: it has to poll the wait again. That may be the
    /// coroutine that is being polled, if it has polled the wait before in this poll. Calls user
    /// code: that waker.
    ///
    /// # Panics
    ///
    /// If a recorder has it, in other code than the script of that. The caller is the call of `reset`.
    #[track_caller]
    pub(crate) fn renew_as_new(&mut self, list: WaitList) {
        if self.is_new() {
            return;
        }
        if self.is_shell() {
            return self.renew_shell(list);
        }
        let key = self.key;
        let waits = scope::with_executor(self.tag.executor, |core| {
            let task = core.waits().task(key).map(|task| task.task_key());
            let waker = core.entries.borrow_mut().take_waker_of(key);
            (core.rc(), task, waker)
        });
        self.cancel(list);
        self.tag.stage = Stage::Renewed;
        if let Some((core, task, waker)) = waits {
            if let Some(task) = task {
                wake::wake(&core, task);
                core.host.notify();
            }
            if let Some(waker) = waker {
                call::quietly(|| waker.into_inner().wake());
            }
        }
    }

    /// The same of a wait that a recorder has. Only the script that has begun it may do so: its journal has to say when
    /// the wait began anew.
    ///
    /// # Panics
    ///
    /// In other code.
    #[cold]
    #[track_caller]
    fn renew_shell(&mut self, list: WaitList) {
        assert!(
            recording::is_recorded_by(self.tag.executor),
            "`reset` at {} moves a wait of a durable script that does not call it: durable scripts cannot share waits. \
             Emit a signal that the script hears, and let the script move its wait",
            Location::caller()
        );
        self.cancel(list);
        self.tag.stage = Stage::New;
        scope::with(|scope| {
            if let Some((scope, task)) = scope.and_then(|scope| Some((scope, scope.current()?))) {
                wake::wake(scope.core(), task.task_key());
            }
        });
    }

    /// Cancels the registration of a wait that is dropped, or moves to another coroutine
    /// or waker. The registration resumes nothing any more.
    #[inline(always)]
    pub(crate) fn cancel(&mut self, list: WaitList) {
        let key = mem::replace(&mut self.key, WaitKey::NONE);
        if key != WaitKey::NONE {
            cancel(key, self.began, self.tag.executor, self.tag.phase, list);
        }
    }
}

// Takes its arguments by value. By reference, the caller would have to keep the
// registration in memory even if this is never called.
#[cold]
#[inline(never)]
fn cancel(key: WaitKey, began: u64, executor: u32, phase: PhaseIndex, list: WaitList) {
    if recording::is_recorder(executor) {
        return recording::forget(executor, ticket_of(began));
    }
    // The executor is found by its number: a destructor that the host runs may have no
    // scope.
    scope::with_executor(executor, |core| cancel_in(core, key, phase, list));
}

/// Cancels the registration under `key`.
fn cancel_in(core: &Core, key: WaitKey, phase: PhaseIndex, list: WaitList) {
    if key.is_entry() {
        core.waits().leave_joins(key);
        let removed = core.entries.borrow_mut().remove(key);
        if removed.is_none() {
            return;
        }
        note_stale(core, phase, list);
        // The waker is dropped last: that is user code.
        drop(removed);
    } else if let Some(task) = core.tasks.waiting(key) {
        task.deregister();
        note_stale(core, phase, list);
    }
}

/// Notes that a key has gone stale in its list.
fn note_stale(core: &Core, phase: PhaseIndex, list: WaitList) {
    // A join has no phase.
    let state = || core.phases.get(phase);
    let is_live = |key| core.waits().is_live(key);
    match list {
        WaitList::Queue => state().queue.note_stale(is_live),
        WaitList::Counts(unit) => state().counts.borrow_mut().note_stale(unit, is_live),
        WaitList::Timer(clock) => {
            let is_live = |entry| core.timers().is_live(entry);
            state().timers.borrow_mut().note_stale(clock, is_live);
        }
        WaitList::Joins => {}
    }
}
