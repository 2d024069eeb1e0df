//! Making coroutines ready: wakes from inside, wakes from outside.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::coroutine::TaskKey;
use crate::time::PhaseIndex;

use super::Core;
use super::call::Foreign;
use super::cell::Guarded;
use super::ready::{List, ReadyKey, ReadyList};
use super::scope::{self, Scope};
use super::task::{Flags, Task};
use super::waker::{Message, Order, OwnWaker};

/// Messages from other threads that are being taken over.
#[derive(Default)]
pub(super) struct Arrivals {
    /// Kept to reuse its memory.
    messages: RefCell<Vec<Message>>,
    are_taken: Cell<bool>,
    /// The calls to make when the next run begins.
    calls: Guarded<Vec<Foreign<Order>>>,
}

impl Arrivals {
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.borrow().is_empty()
    }
}

/// Marks that messages are being taken, until it is dropped, also by a panic.
struct Taking<'a>(&'a Cell<bool>);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Core {
    /// Handles the call of a waker on this thread, in `scope`, if the task can be
    /// polled later in the run under way. Returns `false` if `wake` has to handle
    /// the call.
    #[inline(always)]
    pub(crate) fn wake_soon(&self, key: TaskKey, scope: &Scope<'_>) -> bool {
        let Some(task) = self.tasks.get(key) else {
            return false;
        };
        let soon = self.runs.phase() == Some(task.phase())
            && scope.is_polling_another(key)
            && task.is_alive()
            && !task.has(Flags::READY_OR_PAUSED)
            && !self.runs.is_firing();
        if soon {
            self.enlist_soon(task);
        }
        soon
    }

    /// Handles the call of a waker on this thread.
    #[inline(never)]
    pub(crate) fn wake(&self, key: TaskKey) {
        let Some(task) = self.tasks.get(key).filter(|task| task.is_alive()) else {
            return;
        };
        if self.runs.is_firing_for(key) {
            // The task is due already: by the wait whose waker is being called.
            return;
        }
        self.make_ready(task);
        self.tell_host_of_wake();
    }

    /// Makes a task ready: for the run under way, or for the next of the phase in
    /// which it was last polled.
    pub(super) fn make_ready(&self, task: Task<'_>) {
        if self.runs.phase().is_none() {
            // Messages that arrived earlier come first. They may call the trace
            // hook, which may end the task.
            let key = task.task_key();
            self.take_messages();
            if !self.is_alive(key) {
                return;
            }
        }
        self.queue_ready(task);
    }

    fn queue_ready(&self, task: Task<'_>) {
        let phase = task.phase();
        if task.has(Flags::PAUSED) {
            self.remember_wake(task, phase);
            return;
        }
        // A task that wakes itself while it is polled continues in the next run, so
        // that it cannot prolong this one.
        let soon = self.runs.phase() == Some(phase) && !scope::is_innermost(self, task);
        if task.has(Flags::READY) {
            let later = || self.ready.is_for(task.index(), self.next_run(phase));
            if !(soon && later()) {
                return;
            }
        }
        if soon {
            self.enlist_soon(task);
        } else {
            self.enlist(task, phase);
        }
    }

    /// Queues a new task: for the run under way if `soon`, else for the next run of
    /// its phase. For a task that is paused from the start, a wake is remembered.
    #[inline]
    pub(super) fn enlist_new(&self, task: Task<'_>, soon: bool) {
        if task.has(Flags::PAUSED) {
            self.remember_wake(task, task.phase());
        } else if soon {
            self.enlist_soon(task);
        } else {
            self.enlist(task, task.phase());
        }
    }

    /// Adds a task to the ready tasks of the run under way.
    #[inline]
    pub(super) fn enlist_soon(&self, task: Task<'_>) {
        task.set(Flags::READY);
        self.ready.push(task.index());
    }

    /// Adds a task to the ready tasks of the next run of `phase`, which becomes the
    /// phase of the task.
    #[inline]
    pub(super) fn enlist(&self, task: Task<'_>, phase: PhaseIndex) {
        if task.phase() != phase {
            task.set_phase(phase);
        }
        task.set(Flags::READY);
        let state = self.phases.get(phase);
        let list = List::Next(state.runs.get() + 1);
        let key = self.ready.key(task.index(), list);
        self.note_due();
        let mut ready = state.ready.borrow_mut();
        ready.keys.push(key);
        // Only a list that is longer than all tasks can collect stale keys without
        // bound: that of a phase that is never run.
        if ready.keys.len() > 64 && ready.keys.len() > 2 * self.tasks.len() as usize {
            self.sweep_ready(&mut ready);
        }
    }

    /// The number of the next run of a phase.
    fn next_run(&self, phase: PhaseIndex) -> u64 {
        self.phases.get(phase).runs.get() + 1
    }

    #[cold]
    fn sweep_ready(&self, list: &mut ReadyList) {
        list.keys.retain(|&key| self.is_ready(key));
    }

    /// Whether `key` is the latest key of a task that is ready.
    #[inline(always)]
    pub(super) fn is_ready(&self, key: ReadyKey) -> bool {
        self.tasks.at(key.index).has(Flags::READY) && self.ready.is_latest(key)
    }

    /// Takes a ready task by its key, if that is the latest one.
    #[inline(always)]
    pub(super) fn take_ready(&self, key: ReadyKey) -> Option<Task<'_>> {
        if !self.is_ready(key) {
            return None;
        }
        let task = self.tasks.at(key.index);
        task.clear(Flags::READY);
        Some(task)
    }

    /// Takes over messages from other threads, in order of arrival.
    #[inline]
    pub(super) fn take_messages(&self) {
        if self.inbox.has_messages() && !self.arrivals.are_taken.get() {
            self.take_waiting_messages();
        }
    }

    #[cold]
    fn take_waiting_messages(&self) {
        // One batch is enough. Later messages are left to the next call, since
        // threads that send without pause would keep this one from returning.
        self.arrivals.are_taken.set(true);
        let _taking = Taking(&self.arrivals.are_taken);
        let mut messages = self.arrivals.messages.take();
        self.inbox.take(&mut messages);
        for message in messages.drain(..) {
            match message {
                Message::Wake(wake) => {
                    wake.taken();
                    if let Some(task) = self.tasks.get(wake.key).filter(|task| task.is_alive()) {
                        self.queue_ready(task);
                    }
                }
                Message::Spawn(spawn) => spawn.into_inner()(self),
                Message::Call(call) => self.arrivals.calls.borrow_mut().push(call),
            }
        }
        self.arrivals.messages.replace(messages);
    }

    /// Makes the calls that other threads have sent, before a run begins. Calls
    /// user code.
    #[inline]
    pub(super) fn make_calls(&self) {
        if self.arrivals.has_calls() {
            self.make_waiting_calls();
        }
    }

    #[cold]
    fn make_waiting_calls(&self) {
        for call in self.arrivals.calls.take() {
            if !self.is_closed() {
                call.into_inner()(self);
            }
        }
        // The calls may have caused messages, or run a phase.
        self.take_messages();
        self.outside.begin_run();
    }

    /// Drops the calls that have not been made when the executor ends.
    pub(super) fn refuse_calls(&self) {
        drop(self.arrivals.calls.take());
    }

    /// Clones the own waker of a task, for use beyond its poll.
    #[cold]
    pub(crate) fn owned_waker(&self, task: Task<'_>) -> Waker {
        self.tasks.cold_or_new(task, |cold| {
            let own = cold.waker.get_or_insert_with(|| {
                task.set(Flags::OWN_WAKER);
                OwnWaker::new(self.id, task.task_key(), self.inbox.clone())
            });
            own.to_waker()
        })
    }
}
