//! From a stop to the end of a coroutine.
//!
//! A stop runs user code in the middle of other user code: a destructor may
//! stop another coroutine. Such stops nest to a depth of
//! [`MAX_DEPTH`](deferred::MAX_DEPTH). Deeper stops are deferred. The outermost stop
//! carries them out before it returns, and so does the end of the executor. A task with
//! a deferred stop is not polled any more.
//!
//! A destructor may spawn another coroutine and stop it, and so on without end.
//! So the ends inside one outermost stop have a limit: the number of tasks, plus the
//! polls that a run may take for spawns. The next run of any phase carries out the
//! rest, with a limit of its own.

pub(crate) mod close;
pub(crate) mod deferred;
pub(crate) mod owned;
pub(crate) mod result;

use std::mem;

use crate::core::Core;
use crate::core::call::{self, Foreign, Payload};
use crate::core::end::deferred::DeferredEnd;
use crate::core::inspect::{notes, observe};
use crate::core::report::panics;
use crate::core::report::unread;
use crate::core::run::joins;
use crate::core::run::runaway;
use crate::core::scope;
use crate::core::start;
use crate::core::task::{Flags, NO_JOINER, Reference, State, Task, TaskHandle, TaskKey};

/// Counts a nested end; undone on drop, even when unwinding. The outermost one carries
/// out the deferred ends.
pub(crate) struct Deeper<'a>(&'a Core);

impl<'a> Deeper<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        let most = || core.runs.limits.most_in_sequence(core.tasks.len() as usize);
        core.ends.enter(most);
        if core.is_closed() {
            // No task is spawned any more, so no limit is needed.
            core.ends.lift_limit();
        }
        Deeper(core)
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        if self.0.ends.must_work_off() {
            work_off_ends(self.0);
        }
        self.0.ends.leave();
    }
}

/// Stops a coroutine. Returns `false` if the coroutine has ended, or will not be polled
/// any more.
pub(crate) fn stop(core: &Core, key: TaskKey) -> bool {
    let Some(task) = core.tasks.get(key) else {
        return false;
    };
    if let Some(stopped) = core.tasks.stop(task) {
        return stopped;
    }
    if core.ends.may_begin() {
        end(core, task, None);
    } else {
        core.tasks.defer_stop(task);
        leave_list(core, task);
        core.ends.defer(DeferredEnd::Stop(key));
    }
    true
}

/// Takes a task out of its owner's list before its future is dropped.
fn leave_list(core: &Core, task: Task<'_>) {
    if let Some(member) = task.member() {
        core.owners.borrow_mut().end_member(member);
    }
}

/// Drops the future of a task that did not return, and ends the task. `payload` is that
/// of its panic.
#[cold]
pub(crate) fn end(core: &Core, task: Task<'_>, payload: Option<Payload>) {
    let starts = start::deferred_starts(core);
    leave_list(core, task);
    {
        let _deeper = Deeper::new(core);
        let dropped = {
            let _shown = core.shown.show_of(&core.owners, task);
            scope::enter_task(core, task, |_| core.tasks.drop_future(task))
        };
        let payload = match (dropped, payload) {
            (None, payload) => {
                // A nested call has ended the task.
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
        core.tasks.end(task, payload.is_some());
        let heard = payload.and_then(|payload| panics::keep_panic(core, task, payload));
        clean_up(core, task);
        if let Some((report, payload)) = heard {
            panics::pass_on(core, report, payload);
        }
    }
    observe::send_events(core);
    start::start_deferred_since(core, starts);
    core.host.notify();
}

/// Carries out the deferred ends, up to the limit.
#[cold]
fn work_off_ends(core: &Core) {
    while let Some(next) = core.ends.next() {
        match next {
            DeferredEnd::Stop(key) => {
                if let Some(task) = core.tasks.get(key) {
                    end(core, task, None);
                }
            }
            DeferredEnd::Output(reference) => {
                let dropped = drop_unread_output(core, reference, false);
                debug_assert!(dropped.is_ok(), "its panic has been reported");
            }
            DeferredEnd::Payload(payload) => {
                let _deeper = Deeper::new(core);
                drop(payload);
            }
        }
    }
    if core.ends.leave_rest() {
        core.arrivals.note_news();
        core.host.note_due();
        runaway::report_runaway(core);
        core.host.notify();
    }
}

/// Carries out all deferred ends, because the executor ends.
pub(crate) fn work_off_all_ends(core: &Core) {
    core.ends.take_rest();
    work_off_ends(core);
}

/// Carries out what earlier ends have left to the next run.
pub(crate) fn work_off_rest(core: &Core) {
    if core.ends.take_rest() {
        drop(Deeper::new(core));
    }
}

/// Drops the payload of a panic that no join has returned. The payload may own the
/// handle of another such coroutine, so this is an end, too.
pub(crate) fn drop_payload(core: &Core, payload: Foreign<Payload>) {
    if core.ends.may_begin() {
        let _deeper = Deeper::new(core);
        drop(payload);
    } else {
        core.ends.defer(DeferredEnd::Payload(payload));
    }
}

/// Ends a task that has returned. The output is in the future's place.
#[inline(never)]
pub(crate) fn finish(core: &Core, task: Task<'_>) {
    if task.has(Flags::SLOW_PATH) || task.has_cold() || task.member().is_some() {
        // A reader, or a hook that hears of the reader's panic, may drop the last
        // handle.
        let kept = core.tasks.refer(task);
        unread::call_readers(core, task);
        clean_up(core, core.tasks.drop_reference(kept));
        return;
    }
    if task.is_registered() {
        task.deregister();
    }
    let is_joined = task.joiners.get() != NO_JOINER;
    if is_joined {
        core.runs.completions.complete(&core.entries, task);
    }
    if !task.has(Flags::HANDLE) {
        release_detached(core, task);
    }
    // Comes last, because the wakers of joiners may drop the handle.
    if is_joined {
        joins::wake_joiners(core);
    }
}

/// Completes the end of a task, once its future is gone: completes its joins, takes it
/// out of its owner, and releases its block if no handle needs the block.
#[inline(never)]
fn clean_up(core: &Core, task: Task<'_>) {
    let is_detached = !task.has(Flags::HANDLE);
    let kept = core.tasks.refer(task);
    if task.is_registered() {
        // Its wait was moved to another coroutine, or leaked.
        task.deregister();
    }
    task.clear(Flags::READY);
    core.sharing().leave(task);
    // A timer that was leaked, or that another coroutine shares, is not held any more.
    task.clear(Flags::PAUSED);
    core.runs.completions.complete(&core.entries, task);
    if let Some(member) = task.take_member() {
        core.owners.borrow_mut().remove_member(member);
    }
    if task.has(Flags::OBSERVED) {
        notes::note_ended(core, task);
    }
    let left = core.tasks.cold(task, |cold| {
        if cold.pause.take().is_some() {
            core.pauses.note_ended();
        }
        (cold.waker.take(), mem::take(&mut cold.readers))
    });
    task.clear(Flags::TASK_WAKER);
    // This is user code, which may drop the handle. Until here, `kept` keeps the block.
    drop(left);
    let task = core.tasks.drop_reference(kept);
    if is_detached {
        release_detached(core, task);
    } else if !task.has(Flags::HANDLE) {
        release(core, task);
    }
    joins::wake_joiners(core);
}

/// Releases an ended task without a handle for its result.
#[inline(always)]
fn release_detached(core: &Core, task: Task<'_>) {
    let may_be_read = core.unread.is_on() || task.is_in(State::Panicked);
    if may_be_read || !core.tasks.release(task) {
        release_detached_slowly(core, task);
    }
}

#[inline(never)]
fn release_detached_slowly(core: &Core, task: Task<'_>) {
    if !task.has_ended() {
        return;
    }
    if unread::hears_unread(core, task) {
        unread::put_unread(core, core.tasks.refer(task));
        return;
    }
    if core.tasks.has_output_to_drop(task) {
        drop_unwanted_output(core, task);
    } else if task.is_in(State::Panicked) {
        panics::report_unread(core, task);
    }
    release(core, task);
}

/// Drops the output of a task. A panic of its destructor is reported.
#[inline(never)]
pub(crate) fn drop_unwanted_output(core: &Core, task: Task<'_>) {
    if let Err(payload) = drop_output(core, task) {
        panics::output_panicked(core, task, payload);
    }
}

fn drop_output(core: &Core, task: Task<'_>) -> Result<(), Payload> {
    let _notifies = core.host.notifies();
    let _shown = core.shown.show_of(&core.owners, task);
    scope::enter_task(core, task, |_| core.tasks.drop_output(task))
}

/// Makes the block of an ended task vacant, if nothing needs the block any more.
#[inline]
fn release(core: &Core, task: Task<'_>) {
    if task.has_cold() {
        drop_cold(core, task);
    }
    core.tasks.release(task);
}

#[cold]
#[inline(never)]
fn drop_cold(core: &Core, task: Task<'_>) {
    let cold = core.tasks.take_cold(task);
    drop(cold);
}

/// Drops the `Coroutine<T>` of a task. No one can take the output any more.
#[inline]
pub(crate) fn drop_coroutine<T>(core: &Core, handle: TaskHandle<T>) {
    if mem::needs_drop::<T>() && has_output_to_drop(core, &handle) {
        drop_coroutine_with_output(core, handle);
    } else {
        let task = core.tasks.drop_handle(handle);
        if task.has_ended() {
            release_ended(core, task);
        }
    }
}

fn has_output_to_drop<T>(core: &Core, handle: &TaskHandle<T>) -> bool {
    let task = core.tasks.of(handle.reference());
    core.tasks.has_output_to_drop(task)
}

// Out of line, so that the compiler can optimise away a handle that is dropped at
// once.
#[inline(never)]
fn release_ended(core: &Core, task: Task<'_>) {
    release_detached(core, task);
}

#[inline(never)]
fn drop_coroutine_with_output<T>(core: &Core, handle: TaskHandle<T>) {
    let reference = core.tasks.give_up_output(handle);
    if unread::hears_unread(core, core.tasks.of(&reference)) {
        unread::put_unread(core, reference);
        return;
    }
    if !core.ends.may_begin() {
        core.ends.defer(DeferredEnd::Output(reference));
        return;
    }
    // The caller dropped the handle and thereby the output: the panic is the caller's.
    let may_raise = !std::thread::panicking();
    if let Err(payload) = drop_unread_output(core, reference, may_raise) {
        std::panic::resume_unwind(payload);
    }
}

/// Drops the output of a task, then the reference. If the destructor panics, returns
/// the payload if the caller may raise it. Otherwise the panic is reported.
fn drop_unread_output(core: &Core, reference: Reference, may_raise: bool) -> Result<(), Payload> {
    let _deeper = Deeper::new(core);
    let task = core.tasks.of(&reference);
    let dropped = match drop_output(core, task) {
        Err(payload) if !may_raise => {
            panics::output_panicked(core, task, payload);
            Ok(())
        }
        dropped => dropped,
    };
    drop_reference(core, reference);
    dropped
}

/// Drops a reference to the block of a task. Releases the block if it was the last.
pub(crate) fn drop_reference(core: &Core, reference: Reference) {
    let task = core.tasks.drop_reference(reference);
    release(core, task);
}
