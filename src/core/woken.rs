//! Polling those who stand in a list: who is new, and who was woken.

#![forbid(unsafe_code)]

use std::task::{Context, Waker};

use crate::context::Level;
use crate::pending::Pending;
use crate::task::{Flags, TaskRef, Wakeup};
use crate::ticket::Ticket;
use crate::waker::OwnWaker;

use super::Core;
use super::lifecycle::poll_once;
use super::lists::next;
use super::run::Run;

impl Core {
    /// Polls those who became ready before the run.
    #[inline(never)]
    pub(super) fn poll_arrivals(&self, run: &Run<'_>) {
        let mut cx = run.level.context();
        while let Some(wakeup) = next(&self.lists.arrivals, &self.lists.next_arrival) {
            let woken = self.tasks.borrow().woken(wakeup);
            let Some(task) = woken else {
                continue;
            };
            if task.has(Flags::OWN_WAKER) {
                self.resume_called_before_run(run, task, wakeup);
            } else {
                self.resume_uncalled(run, task, &mut cx);
            }
            self.poll_joiners(run);
        }
    }

    /// Polls those who became ready during the run, and whoever they wake.
    #[inline(never)]
    pub(super) fn poll_soon(&self, run: &Run<'_>) {
        let mut cx = run.level.context();
        while let Some(wakeup) = { self.soon.borrow_mut().pop() } {
            let woken = self.tasks.borrow().woken(wakeup);
            let Some(task) = woken else {
                continue;
            };
            if task.has(Flags::OWN_WAKER) {
                // Those who were woken have a limit of their own.
                self.resume_called(run, task, wakeup);
            } else if self.spend() {
                self.resume_uncalled(run, task, &mut cx);
            } else {
                self.postpone(wakeup);
            }
            self.poll_joiners(run);
        }
    }

    #[inline(never)]
    fn resume_called_before_run(&self, run: &Run<'_>, task: TaskRef, wakeup: Wakeup) {
        self.resume_called(run, task, wakeup);
    }

    /// One that is new, woke itself, or joined what was stopped from outside: it
    /// has no waker that others could call, so nobody can wake it without end.
    #[inline(always)]
    fn resume_uncalled(&self, run: &Run<'_>, task: TaskRef, cx: &mut Context<'_>) {
        task.clear(Flags::LISTED);
        if task.has(Flags::SPECIAL) {
            self.resume_special(run, task, Ticket::VOID);
        } else {
            self.resume_plain(run, task, Ticket::VOID, cx);
        }
    }

    /// One that has a waker of its own, and may have been woken through that.
    #[inline(always)]
    fn resume_called(&self, run: &Run<'_>, task: TaskRef, wakeup: Wakeup) {
        let (calls, own) = self.count_call(task);
        let Some(own) = own else {
            self.resume_called_special(run, task, wakeup);
            return;
        };
        if calls > self.max_polls_per_run {
            self.put_off_greedy(task, wakeup, calls);
            return;
        }
        task.clear(Flags::LISTED);
        task.phase.set(run.phase);
        let pending = poll_with(run.level, task, Ticket::VOID, own);
        if pending != Pending::free(own) {
            self.end_turn(task, pending);
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
    fn resume_called_special(&self, run: &Run<'_>, task: TaskRef, wakeup: Wakeup) {
        if !task.has(Flags::PAUSED) {
            let serial = self.run_serial.get();
            let calls = self.tasks.borrow_mut().extra_mut(task).count_call(serial);
            if calls > self.max_polls_per_run {
                self.put_off_greedy(task, wakeup, calls);
                return;
            }
        }
        task.clear(Flags::LISTED);
        self.resume_special(run, task, Ticket::VOID);
    }
}

/// Polls a task with its own waker.
#[inline]
pub(super) fn poll_with(
    level: &Level,
    task: TaskRef,
    resumed: Ticket,
    own: *const Waker,
) -> Pending {
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
