//! The joins of coroutines that have ended: which coroutine is resumed next, right after the poll
//! that ended the joined one, depth first.

use std::cell::Cell;
use std::collections::HashSet;
use std::task::Context;

use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::owners::Owners;
use crate::core::registration::entries::Entries;
use crate::core::run::limits;
use crate::core::task::{Flags, NO_JOINER, Task};
use crate::core::{Core, pause, wake};

use super::resume::Resumer;

/// The joins of coroutines that have ended.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    /// The joins of the tasks that ended since joins were last taken, in order.
    pub(crate) ended: Guarded<Vec<WaitKey>>,
    /// Whether `ended` has joins.
    pub(crate) has_ended: Cell<bool>,
    /// A buffer for the tasks of one round, kept to reuse its memory.
    pub(crate) seen: Guarded<HashSet<TaskKey>>,
    /// The joins that were taken from `ended`. The next one is last.
    pub(crate) front: Guarded<Vec<WaitKey>>,
}

impl Completions {
    #[inline(always)]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Whether there are joins with coroutines yet to be resumed.
    pub(crate) fn has_any(&self) -> bool {
        self.has_ended() || !self.front.borrow().is_empty()
    }

    /// Takes the joins of the tasks that ended since the previous call.
    pub(crate) fn take(&self) -> Vec<WaitKey> {
        self.has_ended.set(false);
        self.ended.take()
    }

    /// Moves the joins of a task that has ended to the completions.
    #[inline]
    pub(crate) fn complete(&self, entries: &Guarded<Entries>, task: Task<'_>) {
        let last = task.joiners.replace(NO_JOINER);
        if last != NO_JOINER {
            self.has_ended.set(true);
            let mut ended = self.ended.borrow_mut();
            entries.borrow_mut().take_joins(last, &mut ended);
        }
    }

    /// Moves the waits for the end of owners that have no coroutine any more to the
    /// completions.
    pub(crate) fn complete_owners(&self, owners: &mut Owners) {
        if owners.has_ended() {
            self.has_ended.set(true);
            owners.take_ended(&mut self.ended.borrow_mut());
        }
    }
}

/// Keeps one join of each coroutine. A coroutine that joined several of the ended
/// tasks is polled once for all of them.
fn keep_one_of_each(core: &Core, ended: &mut Vec<WaitKey>) {
    let (mut seen, mut entries) = (
        core.runs.completions.seen.borrow_mut(),
        core.entries.borrow_mut(),
    );
    let mut others = Vec::new();
    ended.retain(|&key| match entries.task(key) {
        None | Some(TaskKey::NOBODY) => false,
        Some(task) if seen.insert(task) => true,
        Some(_) => {
            others.extend(entries.remove(key));
            false
        }
    });
    seen.clear();
    drop((seen, entries));
    // The wakers have been called. Dropping them is user code, and comes last.
    drop(others);
}

/// Takes the join whose coroutine is resumed next. Calls user code: foreign wakers.
pub(crate) fn next(core: &Core) -> Option<WaitKey> {
    if core.runs.completions.has_ended() {
        take_ended(core);
    }
    core.runs.completions.front.borrow_mut().pop()
}

/// Moves the joins of the tasks that ended to `front`, the first join on top. Calls
/// their foreign wakers.
fn take_ended(core: &Core) {
    let mut ended = core.runs.completions.take();
    if core.entries.borrow().has_foreign() {
        for &key in &ended {
            super::fire(core, key);
        }
    }
    if ended.len() > 1 {
        keep_one_of_each(core, &mut ended);
    }
    core.runs
        .completions
        .front
        .borrow_mut()
        .extend(ended.iter().rev());
    ended.clear();
    let mut more = core.runs.completions.ended.borrow_mut();
    // The joins of tasks that ended while wakers were called come next.
    std::mem::swap(&mut *more, &mut ended);
    more.append(&mut ended);
}

/// Outside of a run, wakes the joiners of the tasks that ended, like an event from
/// outside. In a run it does nothing: the run polls them.
pub(in crate::core) fn wake_joiners(core: &Core) {
    if core.runs.phase().is_none() && core.runs.completions.has_ended() {
        wake_waiting_joiners(core);
    }
}

#[cold]
#[inline(never)]
fn wake_waiting_joiners(core: &Core) {
    while core.runs.completions.has_ended() {
        let ended = core.runs.completions.take();
        // All become ready before any foreign waker is called. It may run a frame.
        for task in ended.iter().filter_map(|&key| core.waits().task(key)) {
            wake::make_ready(core, task, task.home());
        }
        for key in ended {
            super::fire(core, key);
            core.waits().take(key);
        }
    }
}

impl<'s> Resumer<'_, 's> {
    /// Polls the joiners of the tasks that ended in the last poll. Continues with the
    /// joiners of tasks that end in these polls.
    #[inline(always)]
    pub(super) fn poll_joiners(self, cx: &mut Context<'s>) {
        if self.core.runs.completions.has_ended() {
            self.poll_waiting_joiners(cx);
        }
    }

    #[inline(never)]
    pub(super) fn poll_waiting_joiners(self, cx: &mut Context<'s>) {
        let core = self.core;
        while let Some(key) = {
            self.scope.clear_current();
            next(core)
        } {
            let Some(task) = core.waits().take(key) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                pause::remember_wake(core, task, task.home());
            } else if core.runs.limits.spend() {
                self.resume_unwoken(task, cx);
            } else {
                limits::postpone(core, task, task.home());
            }
        }
    }
}
