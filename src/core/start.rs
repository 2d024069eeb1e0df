//! Spawning and starting coroutines.
//!
//! A start polls user code in the middle of other user code. It is put off when
//! the stack is too deep, and inside closures that borrow lent state.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;

use crate::coroutine::TaskKey;
use crate::owner::OwnerIndex;
use crate::time::PhaseIndex;

use super::Core;
use super::call;
use super::cell::Guarded;
use super::end::MAX_DEPTH;
use super::outside::Telling;
use super::scope;
use super::task::{Flags, Task, TaskHandle};

/// Starts that are put off.
#[derive(Debug, Default)]
pub(super) struct Starts {
    put_off: Guarded<Vec<TaskKey>>,
    /// How many calls of `hold_starts` are under way.
    holds: Cell<u32>,
    /// Where the host called `start`, while that call polls its coroutine outside
    /// of a run.
    from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Calls `f` with each task whose start is put off.
    pub(super) fn each(&self, f: impl FnMut(TaskKey)) {
        self.put_off.borrow().iter().copied().for_each(f);
    }
}

impl Core {
    /// Stores a future that is to be polled in the next run of `phase`. Without a
    /// phase, it is polled in the run under way or, outside of a run, in the next
    /// run of Update. The caller must have called
    /// [`accepts_spawn`](Core::accepts_spawn) just before, and it must have
    /// returned `true`.
    #[inline]
    pub(crate) fn spawn<F: Future + 'static>(
        &self,
        future: F,
        phase: Option<PhaseIndex>,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        let future = ManuallyDrop::new(future);
        let run = self.runs.phase();
        let soon = phase.is_none() && run.is_some();
        let phase = phase.or(run).unwrap_or(PhaseIndex::UPDATE);
        let (task, handle) = self.tasks.insert(future, phase);
        if let Some(owner) = owner {
            self.adopt(task, owner);
        }
        self.enlist_new(task, soon);
        if self.watch.is_on() {
            self.watch_spawned(task, place);
        }
        self.tell_host();
        handle
    }

    /// Stores a future and polls it up to its first wait. On a paused owner, the
    /// future is queued as by `spawn`. [`accepts`](Core::accepts) must have
    /// returned `true`.
    #[inline]
    pub(crate) fn start<F: Future + 'static>(
        &self,
        future: F,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        // No user code is called before the future is stored, so a panic cannot
        // leave it undropped. The compiler can then build it in its block, and not
        // on the stack first.
        let future = ManuallyDrop::new(future);
        let phase = self.runs.phase().unwrap_or(PhaseIndex::UPDATE);
        let (task, handle) = self.tasks.insert(future, phase);
        if let Some(owner) = owner {
            self.adopt(task, owner);
        }
        let key = handle.key();
        if self.watch.is_on() {
            self.watch_spawned(task, place);
        }
        if task.has(Flags::PAUSED) {
            // Queued like a spawn, after the messages that arrived before it.
            self.take_messages();
            // A message may have ended the task.
            if task.is_alive() {
                self.remember_wake(task, phase);
            }
        } else if self.starts.holds.get() > 0 || scope::depth() >= MAX_DEPTH {
            self.starts.put_off.borrow_mut().push(key);
        } else {
            let put_off = self.starts.put_off.borrow().len();
            self.start_now(task);
            self.start_put_off_since(put_off);
            self.tell_host_of_start(key);
        }
        handle
    }

    /// Starts a coroutine for a host. Outside of a run, notes where the host
    /// called: the coroutine does not find what is lent later. The outermost such
    /// call counts.
    #[inline]
    pub(crate) fn start_by_host<F: Future + 'static>(
        &self,
        future: F,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        struct Restore<'a>(&'a Starts, Option<&'static Location<'static>>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.from_host.set(self.1);
            }
        }
        let outer = self.starts.from_host.get();
        let _restore = Restore(&self.starts, outer);
        if self.runs.phase().is_none() {
            self.starts.from_host.set(outer.or(Some(place)));
        }
        self.start(future, owner, place)
    }

    /// Whether a spawn is accepted. Outside of a run, takes over the messages that
    /// arrived before it.
    #[inline]
    pub(crate) fn accepts_spawn(&self, owner: Option<OwnerIndex>) -> bool {
        if self.runs.phase().is_none() {
            // This may call the trace hook, which is user code, so `accepts` comes
            // after.
            self.take_messages();
        }
        self.accepts(owner)
    }

    /// Whether a new coroutine is accepted: the executor is not closed, and neither
    /// is `owner`.
    #[inline]
    pub(crate) fn accepts(&self, owner: Option<OwnerIndex>) -> bool {
        !self.is_closed() && owner.is_none_or(|owner| self.owners.borrow().is_open(owner))
    }

    /// Calls `f`, which borrows something that coroutines may also borrow.
    /// Coroutines that `f` starts begin when the outermost such call returns.
    pub(crate) fn hold_starts<R>(&self, f: impl FnOnce() -> R) -> R {
        struct LetGo<'a> {
            core: &'a Core,
            put_off: usize,
        }

        impl Drop for LetGo<'_> {
            fn drop(&mut self) {
                let holds = &self.core.starts.holds;
                holds.set(holds.get() - 1);
                self.core.start_put_off_since(self.put_off);
            }
        }

        let holds = &self.starts.holds;
        holds.set(holds.get() + 1);
        let _let_go = LetGo {
            core: self,
            put_off: self.starts.put_off.borrow().len(),
        };
        call::out(f)
    }

    /// Whether a call of [`hold_starts`](Core::hold_starts) is under way.
    pub(crate) fn holds_starts(&self) -> bool {
        self.starts.holds.get() > 0
    }

    /// How many starts are put off now, for
    /// [`start_put_off_since`](Core::start_put_off_since).
    pub(super) fn starts_put_off(&self) -> usize {
        self.starts.put_off.borrow().len()
    }

    /// Begins the starts that were put off since there were `put_off` of them,
    /// unless they have to be put off here too. Earlier ones are left to a caller
    /// further up the stack. Here, they would begin inside a poll that has not
    /// started them.
    #[inline]
    pub(super) fn start_put_off_since(&self, put_off: usize) {
        if self.starts.put_off.borrow().len() > put_off {
            self.start_put_off(put_off);
        }
    }

    /// Begins each of them as if it were started here: the starts that it puts off
    /// in turn come before the next one.
    #[cold]
    fn start_put_off(&self, from: usize) {
        let _telling = Telling(self);
        if self.starts.holds.get() > 0 || scope::depth() >= MAX_DEPTH {
            return;
        }
        let mut left = self.most_starts();
        // New starts are in order from this index on. Below it the order is
        // reversed: the last one is next.
        let mut in_order = from;
        loop {
            let key = {
                let mut put_off = self.starts.put_off.borrow_mut();
                let len = put_off.len();
                put_off[in_order.min(len)..].reverse();
                if len <= from {
                    return;
                }
                in_order = len - 1;
                put_off.pop()
            };
            let task = key.and_then(|key| self.tasks.get(key));
            let Some(task) = task.filter(|task| task.is_alive()) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                self.remember_wake(task, task.phase());
            } else if left > 0 {
                left -= 1;
                let key = task.task_key();
                self.start_now(task);
                self.note_start(key);
            } else {
                // The limit is reached: a script starts others without end.
                self.enlist(task, task.phase());
                self.report_runaway();
            }
        }
    }

    /// Where the host called `start`, if that call polls a coroutine now.
    pub(crate) fn started_from_host(&self) -> Option<&'static Location<'static>> {
        self.starts.from_host.get()
    }

    #[inline]
    fn start_now(&self, task: Task<'_>) {
        let _kept = self.keep_watched(task);
        let polled = scope::enter_task(self, task, |scope| {
            let poll = || self.poll_with_extras(scope, task, task.phase());
            self.runs.count_start(|| call::catch(poll))
        });
        match polled {
            Ok(polled) => self.after_poll(task, polled),
            Err(payload) => self.end(task, Some(payload)),
        }
    }
}

/// Drops a future that no executor accepts. If its destructor spawns another
/// future, and so on without end, the one at depth [`MAX_DEPTH`] leaks instead.
pub(crate) fn refuse<F>(future: F) {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    if DEPTH.get() == MAX_DEPTH {
        mem::forget(future);
        return;
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    call::out(|| drop(future));
}
