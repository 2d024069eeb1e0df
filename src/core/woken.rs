//! Polling those who stand in a list: who is new, and who was woken.

#![forbid(unsafe_code)]

use std::task::Waker;

use crate::context::Level;
use crate::pending::Pending;
use crate::task::{Flags, TaskRef, Wakeup};
use crate::ticket::Ticket;
use crate::waker::OwnWaker;

use super::Core;
use super::lifecycle::{Polled, poll_once};

impl Core {
    /// Polls those who became ready during the run, and whoever they wake.
    #[inline(never)]
    pub(super) fn poll_soon(&self, level: &Level) {
        while let Some(wakeup) = { self.soon.borrow_mut().pop() } {
            let woken = self.tasks.borrow().woken(wakeup);
            let Some(task) = woken else {
                continue;
            };
            if task.has(Flags::OWN_WAKER) {
                // Those who were woken have a limit of their own.
                self.resume_called(level, task, wakeup);
            } else if self.spend() {
                self.resume_uncalled(level, task);
            } else {
                self.postpone(wakeup);
            }
            self.poll_joiners(level);
        }
    }

    /// Resumes a coroutine that stands in a list of those to poll.
    #[inline(always)]
    pub(super) fn resume_woken(&self, level: &Level, wakeup: Wakeup) {
        let woken = self.tasks.borrow().woken(wakeup);
        let Some(task) = woken else {
            return;
        };
        if task.has(Flags::OWN_WAKER) {
            self.resume_called_before_run(level, task, wakeup);
        } else {
            self.resume_uncalled(level, task);
        }
    }

    #[inline(never)]
    fn resume_called_before_run(&self, level: &Level, task: TaskRef, wakeup: Wakeup) {
        self.resume_called(level, task, wakeup);
    }

    /// One that is new, woke itself, or joined what was stopped from outside: it
    /// has no waker that others could call, so nobody can wake it without end.
    #[inline(always)]
    fn resume_uncalled(&self, level: &Level, task: TaskRef) {
        task.clear(Flags::LISTED);
        if task.has(Flags::SPECIAL) {
            self.resume_special(level, task, Ticket::VOID);
        } else {
            self.resume_plain(level, task, Ticket::VOID);
        }
    }

    /// One that has a waker of its own, and may have been woken through that.
    #[inline(always)]
    fn resume_called(&self, level: &Level, task: TaskRef, wakeup: Wakeup) {
        let (calls, own) = self.count_call(task);
        let (Some(own), Some(phase)) = (own, level.phase) else {
            self.resume_called_special(level, task, wakeup);
            return;
        };
        if calls > self.max_polls_per_run {
            self.put_off_greedy(task, wakeup, calls);
            return;
        }
        task.clear(Flags::LISTED);
        task.phase.set(phase);
        let (polled, pending) = poll_with(level, task, Ticket::VOID, own);
        if !matches!(polled, Polled::Pending) || pending != Pending::free(own) {
            self.after_poll(task, polled, pending);
        }
    }

    /// How often the task has been called in this run, and the waker to poll it
    /// with, if there is nothing else about it.
    #[inline(always)]
    fn count_call(&self, task: TaskRef) -> (u32, Option<*const Waker>) {
        if task.has(Flags::MORE_THAN_CALLED) {
            return (0, None);
        }
        let tasks = self.tasks.borrow();
        tasks.extra(task).map_or((0, None), |extra| {
            let own = extra.waker.as_ref().map(OwnWaker::lent);
            (extra.count_call(self.run_serial.get()), own)
        })
    }

    #[cold]
    #[inline(never)]
    fn resume_called_special(&self, level: &Level, task: TaskRef, wakeup: Wakeup) {
        if !task.has(Flags::PAUSED) {
            let serial = self.run_serial.get();
            let calls = self.tasks.borrow_mut().extra_mut(task).count_call(serial);
            if calls > self.max_polls_per_run {
                self.put_off_greedy(task, wakeup, calls);
                return;
            }
        }
        task.clear(Flags::LISTED);
        self.resume_special(level, task, Ticket::VOID);
    }
}

/// Polls a task with its own waker.
#[inline]
pub(super) fn poll_with(
    level: &Level,
    task: TaskRef,
    resumed: Ticket,
    own: *const Waker,
) -> (Polled, Pending) {
    let borrowed = level.waker.replace(own);
    // Also when the poll panics: the level goes on without this waker.
    let _restore = Restore { level, borrowed };
    poll_once(level, task, resumed)
}

/// Puts the level's own waker back.
struct Restore<'a> {
    level: &'a Level,
    borrowed: *const Waker,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.level.waker.set(self.borrowed);
    }
}
