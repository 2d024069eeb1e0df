//! From a stop to the end of a coroutine, and what it returned.

pub(crate) mod depth;
pub(crate) mod requests;

use std::mem;

use crate::core::base::call::{self, Foreign, Payload};
use crate::core::base::key::TaskKey;
use crate::core::life::end::depth::{Deeper, End};
use crate::core::life::start;
use crate::core::observe;
use crate::core::owners::OwnerKey;
use crate::core::report::{self, panics};
use crate::core::run::joins;
use crate::core::task::{Flags, NO_JOINER, Reference, State, Stop, Task, TaskHandle, TaskOf};
use crate::core::{Core, pause, scope};
use crate::inspect::Line;
use crate::task::coroutine::{JoinError, Outcome, Stopper};

/// Stops a coroutine. Returns `false` if the coroutine has ended, or will not be polled
/// any more. `place` is the call that stops it.
pub(crate) fn stop(core: &Core, key: TaskKey, place: Option<Line>) -> bool {
    stop_noting(core, key, |task| {
        // Nothing reads it without a handle.
        if task.has(Flags::HANDLE) {
            note_stopper(core, task, place);
        }
    })
}

/// Stops a coroutine whose handle is being dropped: nothing will read what has stopped it.
pub(crate) fn stop_unobserved(core: &Core, key: TaskKey) -> bool {
    stop_noting(core, key, |_| ())
}

fn stop_noting(core: &Core, key: TaskKey, note: impl FnOnce(Task<'_>)) -> bool {
    let Some(task) = core.tasks.get(key) else {
        return false;
    };
    match core.tasks.stop(task) {
        Stop::Begins => {
            note(task);
            leave_list(core, task);
            depth::carry_out(core, End::Stop(key));
            true
        }
        Stop::AfterPoll => {
            note(task);
            true
        }
        Stop::TooLate => false,
    }
}

/// Notes what stops a coroutine, for the error of its join.
#[cold]
#[inline(never)]
fn note_stopper(core: &Core, task: Task<'_>, place: Option<Line>) {
    let by = scope::with(|scope| {
        let scope = scope.filter(|scope| scope.core().id == core.id)?;
        scope.current().map(|current| core.name_of(current))
    });
    if by.is_none() && place.is_none() {
        return;
    }
    core.colds.of_or_new(task, |cold| {
        // The first stop counts.
        cold.stopper.get_or_insert(Stopper { by, place });
    });
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
    let starts = core.starts.deferred.len();
    leave_list(core, task);
    {
        let _deeper = Deeper::new(core);
        let dropped = scope::enter_task(core, task, |_| core.tasks.drop_future(task));
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
    start::start_deferred_since(core, starts);
    observe::settle(core);
}

/// Ends a task that has returned. The output is in the future's place.
#[inline(never)]
pub(crate) fn finish(core: &Core, task: Task<'_>) {
    let is_plain = !task.has(Flags::SLOW_PATH) && !task.has_cold() && task.member().is_none();
    if !is_plain {
        return finish_slowly(core, task);
    }
    if task.is_registered() {
        task.deregister();
    }
    if task.joiners.get() != NO_JOINER {
        finish_joined(core, task);
    } else if !task.has(Flags::HANDLE) {
        release_detached(core, task);
    }
}

#[inline(never)]
fn finish_slowly(core: &Core, task: Task<'_>) {
    clean_up(core, task);
    observe::send_events(core);
}

#[inline(never)]
fn finish_joined(core: &Core, task: Task<'_>) {
    core.runs.completions.complete(&core.entries, task);
    if !task.has(Flags::HANDLE) {
        release_detached(core, task);
    }
    // Comes last, because the wakers of joiners may drop the handle.
    joins::wake_joiners(core);
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
    pause::end(core, task);
    core.runs.completions.complete(&core.entries, task);
    if let Some(member) = task.take_member() {
        let mut owners = core.owners.borrow_mut();
        owners.remove_member(member);
        core.runs.completions.complete_owners(&mut owners);
    }
    if task.has(Flags::OBSERVED) {
        observe::ended(core, task);
    }
    let waker = core.colds.of(task, |cold| cold.waker.take());
    task.clear(Flags::TASK_WAKER);
    drop(waker);
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
    let may_be_read = core.unobserved.is_on.get() || task.is_in(State::Panicked);
    if may_be_read || !core.tasks.release(task) {
        release_detached_slowly(core, task);
    }
}

#[inline(never)]
fn release_detached_slowly(core: &Core, task: Task<'_>) {
    if report::hears_unobserved(core, task) {
        report::put_unobserved(core, core.tasks.refer(task));
        return;
    }
    if core.tasks.has_output_to_drop(task) {
        drop_unwanted_output(core, task);
    } else if task.is_in(State::Panicked) {
        panics::report_unobserved(core, task);
    }
    release(core, task);
}

/// Drops the output of a task. A panic of its destructor is reported.
#[inline(never)]
pub(crate) fn drop_unwanted_output(core: &Core, task: Task<'_>) {
    let _notifies = core.host.notifies();
    let dropped = scope::enter_task(core, task, |_| core.tasks.drop_output(task));
    if let Err(payload) = dropped {
        panics::output_panicked(core, task, payload);
    }
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
    let cold = core.colds.take(&core.tasks, task);
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
    if report::hears_unobserved(core, core.tasks.of(&reference)) {
        report::put_unobserved(core, reference);
        return;
    }
    depth::carry_out(core, End::Output(reference));
}

/// Drops a reference to the block of a task. Releases the block if it was the last.
pub(crate) fn drop_reference(core: &Core, reference: Reference) {
    let task = core.tasks.drop_reference(reference);
    release(core, task);
}

/// Stops all present coroutines of an owner and of the owners below it.
pub(crate) fn stop_owned(core: &Core, owner: OwnerKey, place: Option<Line>) {
    let mut tasks = core.owned.take();
    core.owners.borrow().tasks(owner, &mut tasks);
    stop_all(core, tasks, place);
}

/// Removes an owner. Stops all its coroutines, and those of the owners below it.
pub(crate) fn remove_owner(core: &Core, owner: OwnerKey) {
    let mut tasks = core.owned.take();
    core.owners.borrow_mut().remove(owner, &mut tasks);
    stop_all(core, tasks, None);
}

/// Asks all present coroutines of an owner and of the owners below it to stop, and wakes those
/// that wait for that.
pub(crate) fn request_stop(core: &Core, owner: OwnerKey) {
    let mut lists = Vec::new();
    let mut owners = core.owners.borrow_mut();
    owners.request_stop(owner, |asks| lists.push(asks));
    drop(owners);
    for asks in lists {
        asks.wake();
    }
}

/// Asks one coroutine to stop, and wakes its waits for that. Returns `false` if it has ended.
pub(crate) fn request_stop_of(core: &Core, key: TaskKey) -> bool {
    let Some(task) = core.tasks.get(key).filter(|task| task.is_alive()) else {
        return false;
    };
    core.colds.of_or_new(task, |cold| cold.is_asked = true);
    let asks = core.owners.borrow_mut().asks_of(task.member());
    asks.wake_task(key);
    true
}

fn stop_all(core: &Core, mut tasks: Vec<TaskKey>, place: Option<Line>) {
    for task in tasks.drain(..) {
        stop(core, task, place);
    }
    core.owned.replace(tasks);
}

/// Takes the output of a task. Returns the output, or an error if there is none or it
/// has been taken, and how the task ended.
#[inline]
pub(crate) fn take_result<T>(core: &Core, task: TaskOf<'_, T>) -> (Result<T, JoinError>, Outcome) {
    if let Some(output) = core.tasks.take_output(task) {
        return (Ok(output), Outcome::Finished);
    }
    let task = task.get();
    let outcome = outcome(task).unwrap_or(Outcome::Stopped);
    (Err(join_error(core, task)), outcome)
}

/// How a task ended, if it has.
#[inline]
pub(crate) fn outcome(task: Task<'_>) -> Option<Outcome> {
    match task.state() {
        State::Finished | State::Taken => Some(Outcome::Finished),
        State::Stopped => Some(Outcome::Stopped),
        State::Panicked => Some(Outcome::Panicked),
        _ => None,
    }
}

/// The error of a task that has no output. Takes the payload of its panic.
#[cold]
fn join_error(core: &Core, task: Task<'_>) -> JoinError {
    let (id, name) = (core.id_of(task), core.name_of(task));
    let panicked = core.colds.of(task, |cold| cold.panic.take()).flatten();
    if let Some(panicked) = panicked {
        return JoinError::panicked(id, name, panicked.into_payload());
    }
    let stopper = core.colds.of(task, |cold| cold.stopper.take()).flatten();
    JoinError::stopped(id, name, stopper)
}
