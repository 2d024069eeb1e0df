//! Resuming one coroutine, for any reason.
//!
//! A plain task is polled the short way. All other tasks take the slow path, where
//! their flags are checked: they have been woken, have a task waker or entries, or are
//! observed or paused. See [`Flags::SLOW_PATH`].

use std::task::{Context, Waker};

use crate::core::base::key::WaitKey;
use crate::core::life::end;
use crate::core::phase::ready::{self, ReadyKey};
use crate::core::run::limits;
use crate::core::scope::Scope;
use crate::core::task::{Flags, Polled, Task};
use crate::core::wake::waker::TaskWaker;
use crate::core::{Core, observe, pause};
use crate::time::PhaseIndex;

/// Resumes coroutines in the run whose scope this is.
#[derive(Clone, Copy)]
pub(super) struct Resumer<'a, 's> {
    pub(super) core: &'a Core,
    pub(super) scope: &'s Scope<'a>,
}

impl<'a, 's> Resumer<'a, 's> {
    /// The phase of the run.
    fn phase(self) -> PhaseIndex {
        self.scope.phase().index
    }

    /// Resumes the coroutine of a wait that is due in the run, unless the key is
    /// stale.
    #[inline(always)]
    pub(super) fn resume_wait(self, key: WaitKey, cx: &mut Context<'s>) {
        if key.is_entry() {
            if self.core.waits().is_live(key) {
                self.resume_entry(key);
            }
            return;
        }
        let Some(task) = self.core.tasks.waiting(key) else {
            return;
        };
        task.deregister();
        if task.has(Flags::SLOW_PATH) {
            self.resume_slow_wait(task, key);
        } else {
            self.poll_plain(task, key, cx);
        }
    }

    #[cold]
    #[inline(never)]
    fn resume_entry(self, key: WaitKey) {
        // The destructor of a foreign waker is not code of the coroutine before.
        self.scope.clear_current();
        let removed = self.core.entries.borrow_mut().remove(key);
        let task = removed.as_ref().and_then(|e| self.core.tasks.get(e.task));
        if let Some(task) = task.filter(|task| task.is_alive()) {
            self.resume_once(task, key);
        }
        drop(removed);
    }

    /// Resumes a coroutine with flags for a wait that is due in the run. The run resumes
    /// it only once for all of its waits.
    #[cold]
    #[inline(never)]
    fn resume_once(self, task: Task<'a>, resumed: WaitKey) {
        let serial = self.core.runs.serial();
        let polled_in = self.core.colds.of(task, |cold| cold.polled_in);
        if polled_in != Some(serial) {
            resume_slowly(self.core, self.scope, task, resumed, self.phase());
        }
    }

    /// Polls a plain task.
    #[inline(always)]
    fn poll_plain(self, task: Task<'a>, resumed: WaitKey, cx: &mut Context<'s>) {
        let core = self.core;
        self.scope.set_free(task, resumed);
        let polled = core.tasks.poll(task, cx);
        self.after_plain_poll(task, polled);
        if !self.scope.lends(cx) {
            // The future has replaced the context with another one.
            *cx = self.scope.context();
        }
    }

    /// Resumes a task that became ready before the run.
    #[inline(always)]
    pub(super) fn resume_ready(self, key: ReadyKey, cx: &mut Context<'s>) {
        if let Some(task) = self.take_ready(key, cx) {
            self.resume_unwoken(task, cx);
        }
    }

    /// Resumes a task that became ready during the run.
    #[inline(always)]
    pub(super) fn resume_ready_in_run(self, key: ReadyKey, cx: &mut Context<'s>) {
        let Some(task) = self.take_ready(key, cx) else {
            return;
        };
        if task.has(Flags::TASK_WAKER) {
            // Polls for wakes have a limit of their own.
            self.resume_woken(task);
        } else if self.core.runs.limits.spend() {
            self.resume_unwoken(task, cx);
        } else {
            limits::postpone(self.core, task, self.phase());
        }
    }

    /// The task of a key, if the key is not stale. A paused task remembers the wake
    /// instead, and one that has yielded is resumed here.
    #[inline(always)]
    fn take_ready(self, key: ReadyKey, cx: &mut Context<'s>) -> Option<Task<'a>> {
        let task = ready::task(self.core, key)?;
        if task.has(Flags::PAUSED_OR_YIELDED) {
            self.remember_or_yield(task, cx);
            return None;
        }
        Some(task)
    }

    #[cold]
    #[inline(never)]
    fn remember_or_yield(self, task: Task<'a>, cx: &mut Context<'s>) {
        let core = self.core;
        if task.has(Flags::PAUSED) {
            pause::remember_ready(core, task, self.phase());
            return;
        }
        // Polls for yields have a limit of their own.
        let serial = core.runs.serial();
        let yields = core.colds.of_or_new(task, |cold| cold.yields.count(serial));
        if yields > core.runs.limits.polls_per_task() {
            limits::defer_at_limit(core, task, self.phase(), yields);
        } else {
            self.resume_unwoken(task, cx);
        }
    }

    /// Resumes a task that is not paused, and is ready or joins a task that has ended.
    #[inline(always)]
    pub(super) fn resume_unwoken(self, task: Task<'a>, cx: &mut Context<'s>) {
        // This poll serves all that has made the task ready.
        task.clear(Flags::READY_OR_YIELDED);
        if task.has(Flags::SLOW_PATH) || task.is_registered() {
            resume_slowly(
                self.core,
                self.scope,
                task,
                WaitKey::NOT_A_WAIT,
                self.phase(),
            );
        } else {
            self.poll_plain(task, WaitKey::NOT_A_WAIT, cx);
        }
    }

    /// Resumes a task that has a task waker, and may have been woken through it.
    #[inline(always)]
    fn resume_woken(self, task: Task<'a>) {
        let core = self.core;
        let (serial, most) = (core.runs.serial(), core.runs.limits.polls_per_task());
        let woken = core.colds.of(task, |cold| {
            let own = cold.waker.as_ref().map(TaskWaker::to_waker);
            (cold.wakes.count(serial), own)
        });
        let (wakes, own) = woken.unwrap_or_default();
        if wakes > most {
            limits::defer_at_limit(core, task, self.phase(), wakes);
            return;
        }
        match own {
            Some(own) if needs_only_waker(task) && !task.is_registered() => {
                self.poll_with(&own, task, WaitKey::NOT_A_WAIT);
            }
            _ => resume_slowly(core, self.scope, task, WaitKey::NOT_A_WAIT, self.phase()),
        }
    }

    /// Resumes a coroutine with flags for a wait that is due in the run, with its task
    /// waker alone if that is all it needs.
    #[inline(never)]
    fn resume_slow_wait(self, task: Task<'a>, key: WaitKey) {
        if needs_only_waker(task) {
            let own = self
                .core
                .colds
                .of(task, |cold| cold.waker.as_ref().map(TaskWaker::to_waker));
            if let Some(own) = own.flatten() {
                return self.poll_with(&own, task, key);
            }
        }
        self.resume_once(task, key);
    }

    /// Polls a task with its task waker, so that `will_wake` returns `true`.
    #[inline(always)]
    fn poll_with(self, own: &Waker, task: Task<'a>, resumed: WaitKey) {
        // This poll also serves any wake from before.
        task.clear(Flags::READY_OR_YIELDED);
        self.scope.set_free(task, resumed);
        let lent = self.scope.lend(own);
        let polled = self.core.tasks.poll(task, &mut Context::from_waker(own));
        drop(lent);
        self.after_plain_poll(task, polled);
    }

    /// Completes a poll of a plain task.
    #[inline(always)]
    fn after_plain_poll(self, task: Task<'a>, polled: Polled) {
        if polled != Polled::Pending {
            self.scope.clear_current();
            after_poll(self.core, task, polled);
        }
    }
}

/// Whether the flags of a task ask only for its task waker, apart from a wake.
#[inline(always)]
fn needs_only_waker(task: Task<'_>) -> bool {
    !task.has(Flags::SLOW_BUT_WOKEN)
}

/// Polls a coroutine in a run of `phase`, and heeds all its flags.
#[cold]
#[inline(never)]
pub(crate) fn resume_slowly<'c>(
    core: &'c Core,
    scope: &Scope<'c>,
    task: Task<'c>,
    resumed: WaitKey,
    phase: PhaseIndex,
) {
    if task.has(Flags::PAUSED) {
        if resumed == WaitKey::NOT_A_WAIT {
            pause::remember_wake(core, task, phase);
        } else {
            pause::remember_due(core, task, phase);
        }
        return;
    }
    scope.set_current(task, resumed);
    // This poll also serves any wake from before.
    task.clear(Flags::READY_OR_YIELDED);
    if task.has(Flags::ENTRIES) || task.is_registered() {
        task.set(Flags::ENTRIES);
        let serial = core.runs.serial();
        core.colds.of_or_new(task, |cold| cold.polled_in = serial);
    }
    let _kept = observe::keep(core, task);
    let polled = poll_slowly(core, scope, task);
    scope.clear_current();
    after_poll(core, task, polled);
}

/// Polls a task with its task waker, and observed, as its flags say.
#[inline]
pub(in crate::core) fn poll_slowly(core: &Core, scope: &Scope<'_>, task: Task<'_>) -> Polled {
    if task.has(Flags::TASK_WAKER) {
        // Lends the task waker, so that `will_wake` returns `true`.
        let own = core
            .colds
            .of(task, |cold| cold.waker.as_ref().map(TaskWaker::to_waker));
        if let Some(own) = own.flatten() {
            let _lent = scope.lend(&own);
            return poll_observed(core, task, &mut Context::from_waker(&own));
        }
    }
    poll_observed(core, task, &mut scope.context())
}

#[inline]
fn poll_observed(core: &Core, task: Task<'_>, cx: &mut Context<'_>) -> Polled {
    if task.has(Flags::OBSERVED) {
        observe::poll(core, task, || core.tasks.poll(task, cx))
    } else {
        core.tasks.poll(task, cx)
    }
}

/// Completes a poll: ends a task that has returned or was stopped.
#[inline(always)]
pub(in crate::core) fn after_poll(core: &Core, task: Task<'_>, polled: Polled) {
    match polled {
        Polled::Returned => end::finish(core, task),
        Polled::Stopped => end::end(core, task, None),
        Polled::Pending | Polled::Refused => {}
    }
}
