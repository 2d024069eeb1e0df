//! Where coroutines come from: spawned for later, or started at once.
//!
//! A start runs user code in the middle of user code. Beyond a certain depth,
//! and inside closures that something is lent to, it is put off.

#![forbid(unsafe_code)]

use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;

use crate::context;
use crate::owner::OwnerIndex;
use crate::phase::PhaseIndex;
use crate::task::{Flags, TaskRef};
use crate::{Outcome, unwind};

use super::Core;
use super::lifecycle::{MAX_DEPTH, poll_first};

impl Core {
    /// Stores a future to be polled in the run under way, or in the next one of
    /// `phase`, or of Update. Only if [`accepts`](Core::accepts) says so.
    #[inline]
    pub(crate) fn spawn<F: Future + 'static>(
        &self,
        future: F,
        phase: Option<PhaseIndex>,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskRef {
        debug_assert!(self.accepts(owner));
        let future = keep(future);
        let run = self.run.get();
        if run.is_none() {
            // What came from outside before this comes first.
            self.take_messages();
        }
        let soon = phase.is_none() && run.is_some();
        let phase = phase.or(run).unwrap_or(PhaseIndex::UPDATE);
        let task = self.insert(future, phase, owner);
        if soon {
            self.enlist_soon(task);
        } else {
            self.enlist_in(task, phase);
        }
        if self.watch.is_on() {
            self.watch_spawned(task, place);
        }
        task
    }

    /// Stores a future and polls it, up to its first wait; on an owner that is
    /// paused, like `spawn`. Only if [`accepts`](Core::accepts) says so.
    #[inline]
    pub(crate) fn start<F: Future + 'static>(
        &self,
        future: F,
        owner: Option<OwnerIndex>,
        place: &'static Location<'static>,
    ) -> TaskRef {
        debug_assert!(self.accepts(owner));
        let future = keep(future);
        let phase = self.run.get().unwrap_or(PhaseIndex::UPDATE);
        let task = self.insert(future, phase, owner);
        if self.watch.is_on() {
            self.watch_spawned(task, place);
            if !task.is_alive() {
                return task;
            }
        }
        if task.has(Flags::PAUSED) {
            self.make_ready(task);
            return task;
        }
        if self.starts_held.get() > 0 || context::depth() >= MAX_DEPTH {
            self.deferred_starts.borrow_mut().push(task.key());
            return task;
        }
        let deferred = self.deferred_starts.borrow().len();
        self.start_now(task);
        self.start_deferred_since(deferred);
        task
    }

    /// Whether there may be new coroutines: not if the executor is gone, or
    /// `owner` takes nothing.
    #[inline]
    pub(crate) fn accepts(&self, owner: Option<OwnerIndex>) -> bool {
        !self.is_closed() && owner.is_none_or(|owner| self.owners.borrow().is_open(owner))
    }

    #[inline]
    fn insert<F: Future + 'static>(
        &self,
        future: ManuallyDrop<F>,
        phase: PhaseIndex,
        owner: Option<OwnerIndex>,
    ) -> TaskRef {
        let task = self.tasks.borrow_mut().insert(future, phase);
        if let Some(owner) = owner {
            self.adopt(task, owner);
        }
        task
    }

    /// Calls `f` with something that coroutines may also want to borrow: those
    /// that it starts begin when the outermost such call is over.
    pub(crate) fn hold_starts<R>(&self, f: impl FnOnce() -> R) -> R {
        struct LetGo<'a> {
            core: &'a Core,
            deferred: usize,
        }

        impl Drop for LetGo<'_> {
            fn drop(&mut self) {
                let held = &self.core.starts_held;
                held.set(held.get() - 1);
                self.core.start_deferred_since(self.deferred);
            }
        }

        self.starts_held.set(self.starts_held.get() + 1);
        let _let_go = LetGo {
            core: self,
            deferred: self.deferred_starts.borrow().len(),
        };
        f()
    }

    /// Whether a call of [`hold_starts`](Core::hold_starts) is under way.
    pub(crate) fn holds_starts(&self) -> bool {
        self.starts_held.get() > 0
    }

    /// Starts those whose start was put off since there were `deferred` of them,
    /// if this is a place for it. The others are for whoever is further up the
    /// stack: they would begin in the middle of a poll that has not started
    /// them.
    #[inline]
    pub(super) fn start_deferred_since(&self, deferred: usize) {
        if self.deferred_starts.borrow().len() > deferred {
            self.start_deferred(deferred);
        }
    }

    /// Each of them as if it was started here: before the next one come those
    /// that it has started and left here.
    #[cold]
    fn start_deferred(&self, from: usize) {
        if self.starts_held.get() > 0 || context::depth() >= MAX_DEPTH {
            return;
        }
        // From here on they stand in order, below it the next one is the last.
        let mut in_order = from;
        loop {
            let key = {
                let mut deferred = self.deferred_starts.borrow_mut();
                let len = deferred.len();
                deferred[in_order.min(len)..].reverse();
                if len <= from {
                    return;
                }
                in_order = len - 1;
                deferred.pop()
            };
            let task = key.and_then(|key| self.tasks.borrow().get(key));
            match task.filter(|task| task.is_alive()) {
                Some(task) if task.has(Flags::PAUSED) => self.make_ready(task),
                Some(task) => self.start_now(task),
                None => {}
            }
        }
    }

    #[inline]
    fn start_now(&self, task: TaskRef) {
        let _shown = self.show_clock_of(task);
        let pending = context::enter(self, Some(task), |level| {
            unwind::catch(|| poll_first(level, task))
        });
        match pending {
            Ok(pending) => self.after_poll(task, pending),
            Err(payload) => self.end(task, Outcome::Panicked, Some(payload)),
        }
    }
}

/// A future on its way into its block. Nothing of the user's is called before it
/// is there, so that nobody need drop it if that panics: then it can be built in
/// the block, and not on the stack first, to be copied while it is still being
/// stored.
#[inline]
fn keep<F>(future: F) -> ManuallyDrop<F> {
    ManuallyDrop::new(future)
}

/// Drops a future that no executor takes. One whose destructor spawns another,
/// and so on without end, leaks instead.
pub(crate) fn refuse<F>(future: F) {
    thread_local! {
        static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
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
    drop(future);
}
