//! Joiners continue right after the poll in which the joined coroutine ended,
//! depth first.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::HashSet;
use std::task::Context;

use crate::core::Core;
use crate::core::cell::Guarded;
use crate::core::key::WaitKey;
use crate::core::task::{Flags, NO_JOINER, Task};
use crate::core::task::TaskKey;

use super::resume::Resumer;

/// The joins of coroutines that have ended.
#[derive(Debug, Default)]
pub(in crate::core) struct Completions {
    /// The joins of the tasks that ended since the last poll of the run returned,
    /// in order.
    ended: Guarded<Vec<WaitKey>>,
    /// Whether `ended` has any.
    has_ended: Cell<bool>,
    /// A buffer for the tasks of one round, kept to reuse its memory.
    seen: Guarded<HashSet<TaskKey>>,
    /// The joins from before that, the next one last.
    front: Guarded<Vec<WaitKey>>,
}

impl Completions {
    #[inline(always)]
    fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Whether there are joins whose coroutines have not been resumed.
    pub(super) fn has_any(&self) -> bool {
        self.has_ended() || !self.front.borrow().is_empty()
    }

    /// Takes the joins of the tasks that ended since the previous call.
    fn take(&self) -> Vec<WaitKey> {
        self.has_ended.set(false);
        self.ended.take()
    }

    /// Makes the coroutines of joins that the run has not reached ready for the
    /// next run.
    pub(super) fn put_off(&self, core: &Core) {
        while let Some(key) = self.next(core) {
            if let Some(task) = core.take_wait(key) {
                core.make_ready(task, task.home());
            }
        }
    }

    /// Keeps one join of each coroutine: one that joined several of the ended tasks
    /// is polled once for all of them.
    fn keep_one_of_each(&self, core: &Core, ended: &mut Vec<WaitKey>) {
        let (mut seen, mut entries) = (self.seen.borrow_mut(), core.entries.borrow_mut());
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
        // Their wakers have been called. Dropping the wakers is user code, so it
        // comes last.
        drop(others);
    }

    fn next(&self, core: &Core) -> Option<WaitKey> {
        if self.has_ended() {
            self.take_ended(core);
        }
        self.front.borrow_mut().pop()
    }

    /// Moves the joins of the tasks that ended to `front`, the first one on top,
    /// and calls their foreign wakers.
    fn take_ended(&self, core: &Core) {
        let mut ended = self.take();
        if core.entries.borrow().has_foreign() {
            for &key in &ended {
                core.fire(key, None);
            }
        }
        if ended.len() > 1 {
            self.keep_one_of_each(core, &mut ended);
        }
        self.front.borrow_mut().extend(ended.iter().rev());
        ended.clear();
        let mut more = self.ended.borrow_mut();
        // Tasks that ended while wakers were called come next.
        std::mem::swap(&mut *more, &mut ended);
        more.append(&mut ended);
    }
}

impl<'s> Resumer<'_, 's> {
    /// Polls the joiners of the tasks that ended in the last poll, and of those
    /// that end in these polls.
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
            core.runs.completions.next(core)
        } {
            let Some(task) = core.take_wait(key) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                core.remember_wake(task, task.home());
            } else if core.spend() {
                self.resume_unwoken(task, cx);
            } else {
                core.postpone_joiner(task);
            }
        }
    }
}

impl Core {
    /// Adds a join to the ring of its target.
    pub(in crate::core) fn join(&self, target: Task<'_>, key: WaitKey) {
        let last = target.joiners.get();
        let last = self.entries.borrow_mut().join(key, target.index(), last);
        target.joiners.set(last);
    }

    /// Takes a join out of its ring, if it is in one.
    pub(in crate::core) fn leave_ring(&self, key: WaitKey) {
        let mut entries = self.entries.borrow_mut();
        if let Some(target) = entries.joins(key) {
            let target = self.tasks.at(target);
            target.joiners.set(entries.leave(key, target.joiners.get()));
        }
    }

    /// Makes the joins of a task that has ended completions: its joiners are next.
    #[inline]
    pub(in crate::core) fn complete(&self, task: Task<'_>) {
        let last = task.joiners.replace(NO_JOINER);
        if last != NO_JOINER {
            self.runs.completions.has_ended.set(true);
            let mut ended = self.runs.completions.ended.borrow_mut();
            self.entries.borrow_mut().take_ring(last, &mut ended);
        }
    }

    /// Outside of a run, wakes the joiners of the tasks that ended as if by an
    /// event from outside.
    pub(in crate::core) fn wake_joiners(&self) {
        if self.runs.phase().is_none() && self.runs.completions.has_ended() {
            self.wake_waiting_joiners();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_waiting_joiners(&self) {
        while self.runs.completions.has_ended() {
            for key in self.runs.completions.take() {
                self.fire(key, None);
                if let Some(task) = self.take_wait(key) {
                    self.make_ready(task, task.home());
                }
            }
        }
    }
}
