//! Making coroutines ready: wakes from inside, wakes from outside.

#![forbid(unsafe_code)]

use std::task::Waker;

use crate::context;
use crate::inbox::Message;
use crate::key::TaskKey;
use crate::task::{Flags, TaskRef};
use crate::ticket::Ticket;
use crate::{unwind, waker};

use super::Core;

impl Core {
    /// A waker of the task was called on this thread, while this executor is at
    /// work.
    pub(crate) fn wake(&self, key: TaskKey) {
        let task = self.tasks.borrow().get(key);
        let Some(task) = task.filter(|task| task.is_alive()) else {
            return;
        };
        if self.firing.get() == Some(key) {
            // It is due by the very wait whose waker is being called.
            return;
        }
        self.make_ready(task);
        if self.run.get().is_none() {
            self.inbox.announce();
        }
    }

    /// Queues the task for the run under way, or for the next of the phase in
    /// which it was last polled.
    pub(crate) fn make_ready(&self, task: TaskRef) {
        if self.run.get().is_none() {
            // What came from outside before this comes first.
            self.take_messages();
        }
        self.queue_ready(task);
    }

    fn queue_ready(&self, task: TaskRef) {
        let phase = task.last_phase();
        // One that wakes itself while it is polled goes on in the next run: it
        // cannot hold this one.
        let soon = self.run.get() == Some(phase) && context::current_of(self.id) != Some(task);
        if task.has(Flags::QUEUED) {
            if !soon || task.has(Flags::SOON) {
                return;
            }
            self.unqueue(task);
        }
        self.enlist(task, soon);
    }

    /// Puts a task that is in none of them into a list of those to poll.
    #[inline]
    pub(super) fn enlist(&self, task: TaskRef, soon: bool) {
        let wakeup = self.tasks.borrow().wakeup(task);
        task.set(Flags::QUEUED);
        if soon {
            task.set(Flags::SOON);
            self.soon.borrow_mut().push_back(wakeup);
        } else {
            let state = self.phases.get(task.last_phase());
            state.arrivals.borrow_mut().push(wakeup);
        }
    }

    /// The task's entry in a list of those to poll is void: it is being polled
    /// already, or it has ended.
    pub(crate) fn unqueue(&self, task: TaskRef) {
        let soon = task.has(Flags::SOON);
        task.clear(Flags::LISTED);
        self.tasks.borrow_mut().pass_wakeup(task);
        if !soon {
            let tasks = self.tasks.borrow();
            let mut arrivals = self.phases.get(task.last_phase()).arrivals.borrow_mut();
            arrivals.note_stale(|wakeup| tasks.woken(wakeup).is_some());
        }
    }

    /// Takes over what came from outside, in order of arrival.
    pub(crate) fn take_messages(&self) {
        if self.inbox.has_messages() {
            self.take_waiting_messages();
        }
    }

    #[cold]
    fn take_waiting_messages(&self) {
        let mut messages = self.messages.take();
        self.inbox.take(&mut messages);
        for message in messages.drain(..) {
            match message {
                Message::Wake(wake) => {
                    wake.taken();
                    let task = self.tasks.borrow().get(wake.key);
                    if let Some(task) = task.filter(|task| task.is_alive()) {
                        self.queue_ready(task);
                    }
                }
                Message::Spawn(spawn) => spawn(self),
            }
        }
        self.messages.replace(messages);
    }

    /// A waker of the task that may leave the executor.
    pub(crate) fn owned_waker(&self, task: TaskRef) -> Waker {
        if let Some(extra) = self.tasks.borrow().extra(task) {
            if let Some(waker) = &extra.waker {
                return waker.clone();
            }
        }
        let waker = waker::owned(self.inbox.clone(), task.key());
        self.tasks.borrow_mut().extra_mut(task).waker = Some(waker.clone());
        task.set(Flags::OWN_WAKER);
        waker
    }

    /// Calls the waker that a due wait was polled with, if it was not its
    /// coroutine's own: a combinator must hear which of its futures is ready.
    pub(crate) fn fire(&self, ticket: Ticket) {
        let (waker, task) = {
            let mut records = self.records.borrow_mut();
            let Some(record) = records.get_mut(ticket) else {
                return;
            };
            (record.waker.take(), record.task)
        };
        let Some(waker) = waker else {
            return;
        };
        let outer = self.firing.replace(task);
        let woken = unwind::catch(|| waker.wake());
        self.firing.set(outer);
        if let Err(payload) = woken {
            unwind::dispose(payload);
        }
    }
}
