//! Resuming one coroutine, for whatever reason its turn has come.
//!
//! The plain ones take the short way; who was woken, has a waker of its own or
//! records, is paused, or counts on another clock, is looked at twice.

#![forbid(unsafe_code)]

use std::task::Context;

use crate::pending::Pending;
use crate::task::{Flags, Primary, TaskRef};
use crate::ticket::Ticket;
use crate::waiter::{Waiter, Waiting};

use super::Core;
use super::lifecycle::poll_once;
use super::run::Run;
use super::woken::poll_with;

impl Core {
    #[inline(always)]
    pub(super) fn resume_ticket(&self, run: &Run<'_>, ticket: Ticket, cx: &mut Context<'_>) {
        if ticket.is_record() {
            self.resume_record(run, ticket);
        } else {
            self.resume(run, ticket, cx);
        }
    }

    /// Resumes the coroutine of a ticket, unless that is stale.
    #[inline(always)]
    fn resume(&self, run: &Run<'_>, ticket: Ticket, cx: &mut Context<'_>) {
        let task = self.tasks.borrow().at(ticket.index());
        if task.ticket() != ticket {
            return;
        }
        if task.has(Flags::SPECIAL) {
            self.resume_wait(run, task, ticket);
            return;
        }
        task.pass_ticket();
        task.primary.set(Primary::NONE);
        self.resume_plain(run, task, ticket, cx);
    }

    /// Polls a coroutine that has nothing special about it.
    #[inline(always)]
    pub(super) fn resume_plain(
        &self,
        run: &Run<'_>,
        task: TaskRef,
        resumed: Ticket,
        cx: &mut Context<'_>,
    ) {
        let pending = run.poll(task, resumed, cx);
        if let Some(primary) = pending.to_queue() {
            run.queue(self, task, primary);
        } else if pending != Pending::ELSEWHERE {
            self.end_turn(task, pending);
        }
    }

    /// `after_poll`, out of the way.
    #[inline(never)]
    pub(super) fn end_turn(&self, task: TaskRef, pending: Pending) {
        if pending == Pending::RETURNED {
            self.finish(task);
        } else {
            self.go_on_elsewhere(task, pending);
        }
    }

    #[inline(never)]
    fn go_on_elsewhere(&self, task: TaskRef, pending: Pending) {
        self.after_poll(task, pending);
    }

    /// Resumes whoever has left the queue of `phase`, if there is something
    /// special about it.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_queued(&self, run: &Run<'_>, waiter: Waiter) {
        run.level.current.set(None);
        let task = match waiter.get() {
            Waiting::Task(task) => task,
            Waiting::Record(index) => return self.resume_record_at(run, index),
        };
        if task.has(Flags::GHOSTS) && self.meet_ghost(task, run.phase) {
            return;
        }
        // It has left the queue.
        task.primary.set(Primary::ELSEWHERE);
        self.resume_wait(run, task, task.ticket());
    }

    /// Resumes whoever the record with a place in the queue stands for.
    fn resume_record_at(&self, run: &Run<'_>, index: u32) {
        let ticket = self.records.borrow_mut().leave_queue(index);
        match ticket {
            Some(ticket) => self.resume_record(run, ticket),
            None => run.queue.borrow_mut().let_ghost_go(),
        }
    }

    /// Resumes a coroutine for the wait that is registered with it, if there is
    /// something special about it.
    #[cold]
    #[inline(never)]
    fn resume_wait(&self, run: &Run<'_>, task: TaskRef, ticket: Ticket) {
        if task.has(Flags::PAUSED) {
            self.park_wait(task, run.phase, ticket);
            return;
        }
        task.pass_ticket();
        task.primary.set(Primary::NONE);
        self.resume_due(run, task, ticket);
    }

    /// Resumes a coroutine for a wait that fell due with the run. It is polled
    /// once for all of them.
    #[cold]
    #[inline(never)]
    fn resume_due(&self, run: &Run<'_>, task: TaskRef, resumed: Ticket) {
        let serial = self.run_serial.get();
        let polled_in = self.tasks.borrow().extra(task).map(|extra| extra.polled_in);
        if polled_in != Some(serial) {
            self.resume_special(run, task, resumed);
        }
    }

    /// Polls a coroutine that was woken, has a waker of its own, or has records.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_special(&self, run: &Run<'_>, task: TaskRef, resumed: Ticket) {
        if task.has(Flags::PAUSED) {
            self.park_ready(task, run.phase);
            return;
        }
        if task.has(Flags::QUEUED) {
            self.unqueue(task);
        }
        task.phase.set(run.phase);
        if task.has(Flags::RECORDS) {
            let serial = self.run_serial.get();
            self.tasks.borrow_mut().extra_mut(task).polled_in = serial;
        }
        let own = if task.has(Flags::OWN_WAKER) {
            self.tasks.borrow().own_waker(task)
        } else {
            None
        };
        let shown = self.show_clock_of(task);
        let pending = match own {
            Some(own) => poll_with(run.level, task, resumed, own),
            None => poll_once(run.level, task, resumed),
        };
        drop(shown);
        self.after_poll(task, pending);
    }

    /// Resumes whoever a record stands for.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_record(&self, run: &Run<'_>, ticket: Ticket) {
        let frame = self.clock.frame();
        if !self.records.borrow().is_due_in(ticket, frame) {
            // If it is there, only its place came up: from now on it comes
            // before all in the queue.
            return;
        }
        if self.has_pauses() {
            if let Some(task) = self.task_of(ticket).filter(|t| t.has(Flags::PAUSED)) {
                self.park_wait(task, run.phase, ticket);
                return;
            }
        }
        self.take_record(ticket, |task| self.resume_due(run, task, ticket));
    }

    /// Takes a record out and has whoever it stands for resumed, if that is alive.
    /// What goes with its waker comes after that.
    pub(super) fn take_record(&self, ticket: Ticket, resume: impl FnOnce(TaskRef)) {
        let record = self.records.borrow_mut().remove(ticket);
        let key = record.as_ref().and_then(|record| record.task);
        let task = key.and_then(|key| self.tasks.borrow().get(key));
        if let Some(task) = task.filter(|task| task.is_alive()) {
            resume(task);
        }
        drop(record);
    }

    /// Polls a joiner. What ends in that poll is the caller's to look after.
    #[inline(always)]
    pub(super) fn resume_joiner(
        &self,
        run: &Run<'_>,
        task: TaskRef,
        resumed: Ticket,
        cx: &mut Context<'_>,
    ) {
        if task.has(Flags::SPECIAL) {
            self.resume_special(run, task, resumed);
        } else {
            self.resume_plain(run, task, resumed, cx);
        }
    }
}
