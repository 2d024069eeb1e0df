//! From a stop to the end of a coroutine.
//!
//! A stop runs user code in the middle of other user code: a destructor may
//! stop another coroutine. Such stops nest to a depth of [`MAX_DEPTH`]. Deeper
//! ones go onto a list. The outermost stop works off the list before it
//! returns, and so does the end of the executor. A task on the list is not
//! polled any more.
//!
//! A destructor may spawn another coroutine and stop it, and so on without end.
//! So there is a limit on the ends inside one outermost stop: as many as there
//! are tasks, and the polls that a run may take for spawns. The next run of any
//! phase works off what is left, with a limit of its own.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;

use crate::coroutine::{JoinError, Outcome};
use crate::core::task::TaskKey;

use super::Core;
use super::call::{self, Foreign, Payload};
use super::cell::Guarded;
use super::outside::Telling;
use super::scope;
use super::task::{Flags, NO_JOINER, Reference, State, Task, TaskHandle, TaskOf};

/// The depth to which starts, and stops in one executor, nest. Deeper ones are
/// put off.
pub(super) const MAX_DEPTH: u32 = 100;

/// Ends that are under way, and those that are put off.
#[derive(Debug, Default)]
pub(super) struct Ends {
    depth: Cell<u32>,
    /// How many more ends the outermost one may cause.
    left: Cell<u64>,
    /// For the outermost end.
    put_off: Guarded<VecDeque<PutOff>>,
    /// Beyond the limit: for the next run.
    for_next_run: Guarded<VecDeque<PutOff>>,
}

#[derive(Debug)]
enum PutOff {
    /// A stopped task whose future has yet to be dropped.
    Stop(TaskKey),
    /// A task whose output has yet to be dropped, together with its last handle.
    Output(Reference),
    /// A payload that no join has returned.
    Payload(Foreign<Payload>),
}

/// Counts one more end on the stack until it is dropped, also by a panic.
pub(super) struct Deeper<'a>(&'a Core);

impl<'a> Deeper<'a> {
    pub(super) fn new(core: &'a Core) -> Self {
        let ends = &core.ends;
        let depth = ends.depth.get();
        ends.left.set(if core.is_closed() {
            // Nothing is spawned any more.
            u64::MAX
        } else if depth == 0 {
            core.most_ends()
        } else {
            ends.left.get().saturating_sub(1)
        });
        ends.depth.set(depth + 1);
        Deeper(core)
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        let ends = &self.0.ends;
        if ends.depth.get() == 1 && !ends.put_off.borrow().is_empty() {
            self.0.work_off_ends();
        }
        ends.depth.set(ends.depth.get() - 1);
    }
}

impl Core {
    /// Stops a coroutine. Returns `false` if it has ended, or will not be polled any
    /// more.
    pub(crate) fn stop(&self, key: TaskKey) -> bool {
        let Some(task) = self.tasks.get(key) else {
            return false;
        };
        if let Some(stopped) = self.tasks.stop(task) {
            return stopped;
        }
        if self.may_end_here() {
            self.end(task, None);
        } else {
            self.tasks.condemn(task);
            self.leave_list(task);
            self.put_off(PutOff::Stop(key));
        }
        true
    }

    /// Whether an end may begin inside those that are under way.
    fn may_end_here(&self) -> bool {
        let (depth, left) = (self.ends.depth.get(), self.ends.left.get());
        depth == 0 || (depth < MAX_DEPTH && left > 0)
    }

    fn put_off(&self, end: PutOff) {
        self.ends.put_off.borrow_mut().push_back(end);
    }

    /// Takes a task out of its owner's list before its future is dropped.
    fn leave_list(&self, task: Task<'_>) {
        if let Some(member) = task.member() {
            self.owners.borrow_mut().end_member(member);
        }
    }

    /// Drops the future of a task that did not return, and ends the task.
    #[cold]
    pub(super) fn end(&self, task: Task<'_>, payload: Option<Payload>) {
        let starts = self.starts_put_off();
        self.leave_list(task);
        {
            let _deeper = Deeper::new(self);
            let dropped = {
                let _shown = self.show_clock_of(task);
                scope::enter_task(self, task, |_| self.tasks.drop_future(task))
            };
            let payload = match (dropped, payload) {
                (None, payload) => {
                    // A nested call has ended it.
                    drop(payload.map(Foreign::new));
                    return;
                }
                (Some(Ok(())), payload) => payload,
                (Some(Err(payload)), None) => Some(payload),
                (Some(Err(second)), Some(first)) => {
                    call::dispose(second);
                    Some(first)
                }
            };
            self.tasks.end(task, payload.is_some());
            let heard = payload.and_then(|payload| self.keep_panic(task, payload));
            self.settle(task);
            if let Some((report, payload)) = heard {
                self.pass_on(report, payload);
            }
        }
        self.tell_trace();
        self.start_put_off_since(starts);
        self.tell_host();
    }

    /// Works off the ends that were put off, up to the limit.
    #[cold]
    fn work_off_ends(&self) {
        while self.ends.left.get() > 0 {
            let next = self.ends.put_off.borrow_mut().pop_front();
            let Some(next) = next else {
                return;
            };
            match next {
                PutOff::Stop(key) => {
                    if let Some(task) = self.tasks.get(key) {
                        self.end(task, None);
                    }
                }
                PutOff::Output(reference) => {
                    let dropped = self.drop_unread_output(reference, false);
                    debug_assert!(dropped.is_ok(), "its panic has been reported");
                }
                PutOff::Payload(payload) => {
                    let _deeper = Deeper::new(self);
                    drop(payload);
                }
            }
        }
        let mut left = self.ends.put_off.take();
        if !left.is_empty() {
            self.ends.for_next_run.borrow_mut().append(&mut left);
            self.call_at_next_run(Core::end_the_rest);
            self.report_runaway();
            self.tell_host();
        }
    }

    /// Works off all ends that were put off: the executor ends.
    pub(super) fn work_off_all_ends(&self) {
        let mut rest = self.ends.for_next_run.take();
        self.ends.put_off.borrow_mut().append(&mut rest);
        self.work_off_ends();
    }

    /// Works off what an earlier end has left to the next run.
    fn end_the_rest(&self) {
        let _deeper = Deeper::new(self);
        let mut rest = self.ends.for_next_run.take();
        self.ends.put_off.borrow_mut().append(&mut rest);
    }

    /// Drops the payload of a panic that no join has returned. It may own the handle
    /// of the next such coroutine.
    pub(super) fn drop_payload(&self, payload: Foreign<Payload>) {
        if self.may_end_here() {
            let _deeper = Deeper::new(self);
            drop(payload);
        } else {
            self.put_off(PutOff::Payload(payload));
        }
    }

    /// Ends a task that has returned. Its output is in the future's place.
    #[inline(never)]
    pub(super) fn finish(&self, task: Task<'_>) {
        if task.has(Flags::SPECIAL) || task.has_cold() || task.member().is_some() {
            // A reader, or a hook that hears of its panic, may drop the last handle.
            let kept = self.tasks.refer(task);
            self.tell_readers(task);
            self.settle(self.tasks.drop_reference(kept));
            return;
        }
        if task.is_registered() {
            task.deregister();
        }
        let is_joined = task.joiners.get() != NO_JOINER;
        if is_joined {
            self.complete(task);
        }
        if !task.has(Flags::HANDLE) {
            self.let_go(task);
        }
        // Last, because the wakers of joiners may drop the handle.
        if is_joined {
            self.wake_joiners();
        }
    }

    /// Ends a task whose future is gone: completes its joins, takes it out of its
    /// owner, and releases its block if no handle needs it.
    #[inline(never)]
    fn settle(&self, task: Task<'_>) {
        let is_detached = !task.has(Flags::HANDLE);
        let kept = self.tasks.refer(task);
        if task.is_registered() {
            // Its wait was moved to another coroutine, or leaked.
            task.deregister();
        }
        task.clear(Flags::READY);
        self.leave_shared_waits(task);
        // A timer that was forgotten, or that another coroutine shares, is not held.
        task.clear(Flags::PAUSED);
        self.complete(task);
        if let Some(member) = task.take_member() {
            self.owners.borrow_mut().remove_member(member);
        }
        if task.has(Flags::WATCHED) {
            self.note_ended(task);
        }
        let left = self.tasks.cold(task, |cold| {
            if cold.pause.take().is_some() {
                self.pauses.set(self.pauses.get() - 1);
                // A timer that it shared with another coroutine may count again.
                self.pause_changes.set(self.pause_changes.get() + 1);
            }
            (cold.waker.take(), mem::take(&mut cold.readers))
        });
        task.clear(Flags::OWN_WAKER);
        // This is user code, which may drop the handle. The reference keeps the block
        // until here.
        drop(left);
        let task = self.tasks.drop_reference(kept);
        if is_detached {
            self.let_go(task);
        } else if !task.has(Flags::HANDLE) {
            self.release(task);
        }
        self.wake_joiners();
    }

    /// Releases an ended task that has no handle for its result.
    #[inline(always)]
    fn let_go(&self, task: Task<'_>) {
        let may_be_read = self.unread.is_on() || task.is_in(State::Panicked);
        if may_be_read || !self.tasks.release(task) {
            self.let_go_slowly(task);
        }
    }

    #[inline(never)]
    fn let_go_slowly(&self, task: Task<'_>) {
        if !task.has_ended() {
            return;
        }
        if self.hears_unread(task) {
            self.put_unread(self.tasks.refer(task));
            return;
        }
        if self.tasks.has_output_to_drop(task) {
            self.drop_unwanted_output(task);
        } else if task.is_in(State::Panicked) {
            self.report_unread(task);
        }
        self.release(task);
    }

    #[inline(never)]
    pub(super) fn drop_unwanted_output(&self, task: Task<'_>) {
        if let Err(payload) = self.drop_output(task) {
            self.output_panicked(task, payload);
        }
    }

    fn drop_output(&self, task: Task<'_>) -> Result<(), Payload> {
        let _telling = Telling(self);
        let _shown = self.show_clock_of(task);
        scope::enter_task(self, task, |_| self.tasks.drop_output(task))
    }

    /// Makes the block of an ended task vacant, if nothing refers to it any more.
    #[inline]
    fn release(&self, task: Task<'_>) {
        if task.has_cold() {
            self.drop_cold(task);
        }
        self.tasks.release(task);
    }

    #[cold]
    #[inline(never)]
    fn drop_cold(&self, task: Task<'_>) {
        let cold = self.tasks.take_cold(task);
        drop(cold);
    }

    /// Drops the `Coroutine<T>` of a task. No one can take the output any more.
    #[inline]
    pub(crate) fn drop_coroutine<T>(&self, handle: TaskHandle<T>) {
        if mem::needs_drop::<T>() && self.has_output_to_drop(&handle) {
            self.drop_coroutine_with_output(handle);
        } else {
            let task = self.tasks.drop_handle(handle);
            if task.has_ended() {
                self.release_ended(task);
            }
        }
    }

    fn has_output_to_drop<T>(&self, handle: &TaskHandle<T>) -> bool {
        let task = self.tasks.of(handle.reference());
        self.tasks.has_output_to_drop(task)
    }

    // Out of line, so that the compiler can dissolve a handle that is dropped at
    // once.
    #[inline(never)]
    fn release_ended(&self, task: Task<'_>) {
        self.let_go(task);
    }

    #[inline(never)]
    fn drop_coroutine_with_output<T>(&self, handle: TaskHandle<T>) {
        let reference = self.tasks.disown(handle);
        if self.hears_unread(self.tasks.of(&reference)) {
            self.put_unread(reference);
            return;
        }
        if !self.may_end_here() {
            self.put_off(PutOff::Output(reference));
            return;
        }
        // The caller dropped the handle, and so the output: the panic is the caller's.
        let may_raise = !std::thread::panicking();
        if let Err(payload) = self.drop_unread_output(reference, may_raise) {
            std::panic::resume_unwind(payload);
        }
    }

    /// Drops the output of a task. Returns its panic if the caller may raise it;
    /// otherwise the panic is reported.
    fn drop_unread_output(&self, reference: Reference, may_raise: bool) -> Result<(), Payload> {
        let _deeper = Deeper::new(self);
        let task = self.tasks.of(&reference);
        let dropped = match self.drop_output(task) {
            Err(payload) if !may_raise => {
                self.output_panicked(task, payload);
                Ok(())
            }
            dropped => dropped,
        };
        self.drop_reference(reference);
        dropped
    }

    /// Drops one reference to the block of a task.
    pub(crate) fn drop_reference(&self, reference: Reference) {
        let task = self.tasks.drop_reference(reference);
        self.release(task);
    }

    /// The output of a task, or an error if it has none or the output has been
    /// taken; and how the task ended.
    #[inline]
    pub(crate) fn take_result<T>(&self, task: TaskOf<'_, T>) -> (Result<T, JoinError>, Outcome) {
        if let Some(output) = self.tasks.take_output(task) {
            return (Ok(output), Outcome::Finished);
        }
        let task = task.get();
        let outcome = task.outcome().unwrap_or(Outcome::Stopped);
        (Err(self.join_error(task)), outcome)
    }

    /// The error of a task that has no output.
    #[cold]
    fn join_error(&self, task: Task<'_>) -> JoinError {
        let (id, name) = (self.id_of(task), self.name_of(task));
        match self.tasks.cold(task, |cold| cold.panic.take()).flatten() {
            Some(panicked) => JoinError::panicked(id, name, panicked.into_payload()),
            None => JoinError::stopped(id, name),
        }
    }
}
