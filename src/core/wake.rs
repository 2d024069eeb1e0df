//! Making coroutines ready: wakes from inside, wakes from outside.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::task::Waker;

use crate::context;
use crate::inbox::Message;
use crate::phase::PhaseIndex;
use crate::task::{Flags, Lifecycle, TaskRef};
use crate::waker::OwnWaker;

use super::Core;
use super::backlog::Backlog;

/// Messages are being taken, also if that is cut short by a panic.
struct Taking<'a>(&'a Cell<bool>);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Core {
    /// A waker of the task was called on this thread, in the poll of `current`.
    /// `true`: it is for the run under way. `false`: it is for `wake` to do.
    #[inline(always)]
    pub(crate) fn wake_soon(&self, task: TaskRef, current: TaskRef) -> bool {
        let soon = self.run.get() == Some(task.phase.get())
            && current != task
            && task.lifecycle.get() == Lifecycle::Alive
            && !task.has(Flags::QUEUED)
            && self.firing.get().is_none();
        let wakeup = self.tasks.borrow().wakeup(task);
        let soon = soon && self.soon.borrow_mut().try_push(wakeup);
        if soon {
            task.set(Flags::QUEUED);
        }
        soon
    }

    /// A waker of the task was called on this thread.
    #[inline(never)]
    pub(crate) fn wake(&self, task: TaskRef) {
        // If it is firing, it is due by the very wait whose waker is called.
        if !task.is_alive() || self.firing.get() == Some(task.key()) {
            return;
        }
        if self.run.get().is_some() {
            self.queue_ready(task);
        } else {
            // The host's waker may drop the executor.
            let core = self.rc();
            core.make_ready(task);
            core.inbox.announce();
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
        let soon = self.run.get() == Some(phase) && context::current_of(self) != Some(task);
        if task.has(Flags::QUEUED) {
            if !(soon && task.has(Flags::LATER)) {
                return;
            }
            self.unqueue(task);
        }
        if soon {
            self.enlist_soon(task);
        } else {
            self.enlist_in(task, phase);
        }
    }

    /// Puts a task that is in no list of those to poll into the one of the run
    /// under way.
    #[inline]
    pub(super) fn enlist_soon(&self, task: TaskRef) {
        let wakeup = self.tasks.borrow().wakeup(task);
        task.set(Flags::QUEUED);
        self.soon.borrow_mut().push(wakeup);
    }

    /// The same, for the next run of `phase`, its own.
    #[inline]
    pub(super) fn enlist_in(&self, task: TaskRef, phase: PhaseIndex) {
        let wakeup = self.tasks.borrow().wakeup(task);
        self.list(task, phase, |arrivals| arrivals.push(wakeup));
    }

    /// Notes that a task stands in a list for the next run of `phase`, its own, to
    /// which `add` adds it.
    #[inline]
    pub(super) fn list(&self, task: TaskRef, phase: PhaseIndex, add: impl FnOnce(&mut Backlog)) {
        debug_assert!(task.last_phase() == phase);
        let later = self.run.get() == Some(phase);
        let mut arrivals = self.phases.get(phase).arrivals.borrow_mut();
        task.set(if later { Flags::LISTED } else { Flags::QUEUED });
        if later {
            arrivals.note_later();
        }
        add(&mut arrivals);
    }

    /// The task's entry in a list of those to poll is void: it is being polled
    /// already, or it has ended.
    pub(crate) fn unqueue(&self, task: TaskRef) {
        let phase = task.last_phase();
        let in_backlog = task.has(Flags::LATER) || self.run.get() != Some(phase);
        task.clear(Flags::LISTED);
        self.tasks.borrow_mut().pass_wakeup(task);
        if in_backlog {
            let tasks = self.tasks.borrow();
            let mut arrivals = self.phases.get(phase).arrivals.borrow_mut();
            arrivals.note_stale(|wakeup| tasks.woken(wakeup).is_some());
        }
    }

    /// Takes over what came from outside, in order of arrival.
    #[inline]
    pub(crate) fn take_messages(&self) {
        if self.inbox.has_messages() && !self.taking_messages.get() {
            self.take_waiting_messages();
        }
    }

    #[cold]
    fn take_waiting_messages(&self) {
        // Once is enough: what arrives while they are looked at comes later, or
        // threads that never rest would hold this up for ever.
        self.taking_messages.set(true);
        let taking = Taking(&self.taking_messages);
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
        drop(taking);
    }

    /// A waker of the task that may leave the executor.
    #[cold]
    pub(crate) fn owned_waker(&self, task: TaskRef) -> Waker {
        let mut tasks = self.tasks.borrow_mut();
        let own = &mut tasks.extra_mut(task).waker;
        let own = own.get_or_insert_with(|| {
            task.set(Flags::OWN_WAKER);
            OwnWaker::new(self, task)
        });
        own.to_waker()
    }
}
