//! Making coroutines ready: wakes from inside, wakes from outside.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::core::task::TaskKey;
use crate::time::PhaseIndex;

use super::Core;
use super::call::Foreign;
use super::cell::Guarded;
use super::phases::PhaseState;
use super::ready::{Listing, ReadyKey, ReadyList};
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
    has_calls: Cell<bool>,
}

impl Arrivals {
    #[inline]
    pub(super) fn has_calls(&self) -> bool {
        self.has_calls.get()
    }

    fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.has_calls.set(true);
    }

    fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.has_calls.set(false);
        self.calls.take()
    }

    /// Whether messages are being taken. No user code may be called meanwhile.
    #[inline]
    pub(super) fn are_taken(&self) -> bool {
        self.are_taken.get()
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
        let soon = self.runs.phase() == Some(task.home())
            && scope.is_polling_another(task)
            && task.is_alive()
            && !task.has(Flags::READY_OR_PAUSED);
        if soon {
            self.enlist_soon(task);
        }
        soon
    }

    /// Handles the call of a waker on this thread.
    #[inline(never)]
    pub(crate) fn wake(&self, key: TaskKey) {
        if let Some(task) = self.tasks.get(key).filter(|task| task.is_alive()) {
            self.make_ready(task, task.home());
            self.tell_host_of_wake();
        }
    }

    /// Makes a task ready in `phase`: in the run under way, or in the next one.
    pub(super) fn make_ready(&self, task: Task<'_>, phase: PhaseIndex) {
        if self.runs.phase().is_none() {
            // Messages that arrived earlier come first.
            self.take_messages();
        }
        self.queue_ready(task, phase);
    }

    fn queue_ready(&self, task: Task<'_>, phase: PhaseIndex) {
        if task.has(Flags::PAUSED) {
            self.remember_wake(task, phase);
        } else if self.runs.phase() == Some(phase) && !scope::is_innermost(self, task) {
            self.make_ready_in_run(task);
        } else {
            // A task that wakes itself while it is polled continues in the next
            // run, so that it cannot prolong this one.
            self.enlist(task, phase);
        }
    }

    /// Makes a task that is not paused ready in the run under way.
    pub(super) fn make_ready_in_run(&self, task: Task<'_>) {
        if !self.is_ready_in_run(task) {
            self.enlist_soon(task);
        }
    }

    /// Whether a task is ready in the run under way, as far as its home phase
    /// decides.
    fn is_ready_in_run(&self, task: Task<'_>) -> bool {
        let home = task.home();
        task.has(Flags::READY)
            && (self.ready.is_in(task.index(), Listing::Run)
                || self.runs.phase() == Some(home)
                    && self
                        .ready
                        .is_in(task.index(), Listing::Home(self.runs_of(home))))
    }

    /// Queues a new task: for the run under way if `soon`, else for the next run of
    /// its home phase. For a task that is paused from the start, a wake is
    /// remembered.
    #[inline]
    pub(super) fn enlist_new(&self, task: Task<'_>, soon: bool) {
        if task.has(Flags::PAUSED) {
            self.remember_wake(task, task.home());
        } else if soon {
            self.enlist_soon(task);
        } else {
            let state = self.phases.get(task.home());
            self.enlist_in(state, task, true, Listing::Home(state.runs.get() + 1));
        }
    }

    /// Adds a task to the ready tasks of the run under way.
    #[inline(always)]
    pub(super) fn enlist_soon(&self, task: Task<'_>) {
        self.ready.push(task.index(), !task.has(Flags::READY));
        task.set(Flags::READY);
    }

    /// Adds a task to the ready tasks of the next run of `phase`, unless it is one
    /// of them.
    #[inline]
    pub(super) fn enlist(&self, task: Task<'_>, phase: PhaseIndex) {
        let state = self.phases.get(phase);
        let list = if phase == task.home() {
            Listing::Home(state.runs.get() + 1)
        } else {
            Listing::Away
        };
        let becomes = !task.has(Flags::READY);
        if !becomes && list != Listing::Away && self.ready.is_in(task.index(), list) {
            return;
        }
        self.enlist_in(state, task, becomes, list);
    }

    #[inline(always)]
    fn enlist_in(&self, state: &PhaseState, task: Task<'_>, becomes: bool, list: Listing) {
        task.set(Flags::READY);
        let key = self.ready.key(task.index(), becomes, list);
        self.note_due();
        if !state.ready.keys.push_in_place(key) {
            self.enlist_with_more_room(&state.ready, key);
        }
    }

    /// Adds a key to a list that has no room left.
    #[cold]
    #[inline(never)]
    fn enlist_with_more_room(&self, list: &ReadyList, key: ReadyKey) {
        // Only a list that is longer than all tasks can collect stale keys without
        // bound: that of a phase that is never run.
        if list.keys.len() > 2 * self.tasks.len() as usize {
            list.keys.retain(|&key| self.is_ready(key));
        }
        list.keys.push(key);
    }

    /// How many runs of a phase have begun.
    fn runs_of(&self, phase: PhaseIndex) -> u64 {
        self.phases.get(phase).runs.get()
    }

    /// Whether the task of `key` is ready, and has been since the key was added.
    #[inline(always)]
    pub(super) fn is_ready(&self, key: ReadyKey) -> bool {
        self.tasks.at(key.index).has(Flags::READY) && self.ready.is_current(key)
    }

    /// The task of `key`, if the key is not stale.
    #[inline(always)]
    pub(super) fn ready_task(&self, key: ReadyKey) -> Option<Task<'_>> {
        self.is_ready(key).then(|| self.tasks.at(key.index))
    }

    /// Leaves a ready task, whose key the run under way has reached, to the next
    /// run of `phase`.
    pub(super) fn enlist_again(&self, task: Task<'_>, phase: PhaseIndex) {
        self.ready.leave(task.index());
        self.enlist(task, phase);
    }

    /// Takes over messages from other threads, in order of arrival. Calls no user
    /// code: the trace hook and the host are told later, by whoever calls this.
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
                        self.queue_ready(task, task.home());
                    }
                }
                Message::Spawn(spawn) => spawn.into_inner()(self),
                Message::Call(call) => self.arrivals.add_call(call),
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
        for call in self.arrivals.take_calls() {
            if !self.is_closed() {
                call.into_inner()(self);
            }
        }
        // The calls may have caused messages, or run a phase.
        self.take_messages();
        self.outside.begin_run();
    }

    /// Calls `f` when the next run begins.
    pub(super) fn call_at_next_run(&self, f: fn(&Core)) {
        let call = Foreign::new(Box::new(f) as Order);
        self.arrivals.add_call(call);
        self.note_due();
    }

    /// Drops the calls that have not been made when the executor ends.
    pub(super) fn refuse_calls(&self) {
        drop(self.arrivals.take_calls());
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
