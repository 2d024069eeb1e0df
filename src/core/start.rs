//! Where coroutines come from: spawned for later, or started at once.
//!
//! A start runs user code in the middle of user code. Beyond a certain depth,
//! and inside closures that something is lent to, it is put off.

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
    /// How many closures of the user's are under way in which starts wait.
    holds: Cell<u32>,
    /// Where the host has started the coroutine that is being polled outside of a
    /// run, if one is.
    from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Shows those that are put off to `f`.
    pub(super) fn each(&self, f: impl FnMut(TaskKey)) {
        self.put_off.borrow().iter().copied().for_each(f);
    }
}

impl Core {
    /// Stores a future to be polled in the run under way, or in the next one of
    /// `phase`, or of Update. Only if [`accepts_spawn`](Core::accepts_spawn) has
    /// just said so.
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

    /// Stores a future and polls it, up to its first wait; on an owner that is
    /// paused, like `spawn`. Only if [`accepts`](Core::accepts) says so.
    #[inline]
    pub(crate) fn start<F: Future + 'static>(
        &self,
        future: F,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        // Nothing of the user's is called before it is stored, so nothing need drop
        // it if that panics: it can be built in its block, not on the stack first.
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
            // Queued like a spawn, behind what came from outside before it.
            self.take_messages();
            // Those may have ended it.
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

    /// The same for a host, whose call is remembered outside of a run: the coroutine
    /// finds nothing that is lent later. The outermost such call counts.
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

    /// Whether a spawn is accepted, before which comes what came from outside before
    /// it.
    #[inline]
    pub(crate) fn accepts_spawn(&self, owner: Option<OwnerIndex>) -> bool {
        if self.runs.phase().is_none() {
            // Other coroutines may be told of in there, which is user code.
            self.take_messages();
        }
        self.accepts(owner)
    }

    /// Whether there may be new coroutines: not if the executor is gone, or
    /// `owner` takes nothing.
    #[inline]
    pub(crate) fn accepts(&self, owner: Option<OwnerIndex>) -> bool {
        !self.is_closed() && owner.is_none_or(|owner| self.owners.borrow().is_open(owner))
    }

    /// Calls `f` with something that coroutines may also want to borrow: those
    /// that it starts begin when the outermost such call is over.
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

    /// Starts those that have been put off since there were `put_off` of them,
    /// if this is a place for it. The others are for a caller further up the
    /// stack: they would begin in the middle of a poll that has not started
    /// them.
    #[inline]
    pub(super) fn start_put_off_since(&self, put_off: usize) {
        if self.starts.put_off.borrow().len() > put_off {
            self.start_put_off(put_off);
        }
    }

    /// Each of them as if it was started here: before the next one come those
    /// that it has started and left here.
    #[cold]
    fn start_put_off(&self, from: usize) {
        let _telling = Telling(self);
        if self.starts.holds.get() > 0 || scope::depth() >= MAX_DEPTH {
            return;
        }
        let mut left = self.most_starts();
        // From here on they stand in order, below it the next one is the last.
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
                // A script starts others without end.
                self.enlist(task, task.phase());
                self.report_runaway();
            }
        }
    }

    /// Where the host has called `start`, if a coroutine is being polled in it.
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

/// Drops a future that no executor takes. One whose destructor spawns another,
/// and so on without end, leaks instead.
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
