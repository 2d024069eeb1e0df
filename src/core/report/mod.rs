//! Calling the host's hooks: for reports, and for outputs that no join returns.
//!
//! A hook for outputs may make more outputs unobserved. So a task with such an output goes onto a list.
//! One call at a time goes through the list. Until then the output stays in the task's block.

pub(crate) mod panics;

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::rc::Rc;

use crate::core::base::call;
use crate::core::base::cell::{Guarded, Restore};
use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::run::limits::{self, Reached};
use crate::core::scope::recording;
use crate::core::task::{Reference, Task};
use crate::core::{Core, scope};
use crate::inspect::{Hook, Report, Reports};
use crate::task::coroutine::{CoroutineId, OutputSource};

/// The hooks for unobserved outputs, and a list of tasks with outputs for the hooks.
#[derive(Default)]
pub(crate) struct Unobserved {
    /// By the type of the output. A hook takes the output of the task that it is called
    /// with.
    hooks: Guarded<HashMap<TypeId, Rc<Hook<TaskKey>>>>,
    /// Whether there is a hook.
    pub(crate) is_on: Cell<bool>,
    /// The list.
    waiting: Guarded<VecDeque<Reference>>,
    /// Whether a call is going through the list.
    is_telling: Cell<bool>,
}

/// Calls a hook of the host, maybe in the middle of a poll. The hook runs outside of any
/// coroutine, without an owner, on the game clock, and nothing that it does is recorded.
pub(crate) fn as_host<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    recording::outside(|| scope::enter(core, |_| call::out(f)))
}

/// Sends a report to the host's hook. Calls user code, but not as part of the coroutine
/// being polled: a coroutine that the hook spawns has no owner.
#[cold]
pub(crate) fn send(core: &Core, report: &Report) {
    if let Err(payload) = as_host(core, || core.reports.send(report)) {
        panics::report_hook_panicked(core, payload);
    }
}

/// Reports a call that is allowed, and probably not meant: to the executor that runs the caller,
/// or else prints the report. Calls user code.
#[cold]
pub(crate) fn suspicious(place: &'static Location<'static>, text: String) {
    refused(None, &Report::SuspiciousCall { place, text });
}

/// Reports that the reader of a signal has lost events. The caller is the `.await`. Calls user
/// code.
#[cold]
#[track_caller]
pub(crate) fn events_missed(signal: Option<String>, missed: u64, limit: usize) {
    let place = Location::caller();
    let (id, name) = script_of_caller();
    refused(
        None,
        &Report::EventsMissed {
            id,
            name,
            signal,
            place,
            missed,
            limit,
        },
    );
}

/// Reports that no coroutine has taken an event of `emit_one`, unless that is because the
/// executor ends. Calls user code.
#[cold]
pub(crate) fn event_untaken(signal: Option<String>, place: &'static Location<'static>) {
    let ends = scope::with(|scope| scope.is_some_and(|scope| scope.core().is_closed()));
    if !ends {
        refused(None, &Report::EventUntaken { signal, place });
    }
}

/// Reports that many ticks of the interval made at `place` are due. Calls user code.
#[cold]
pub(crate) fn ticks_owed(place: &'static Location<'static>, owed: u64) {
    let (id, name) = script_of_caller();
    refused(
        None,
        &Report::TicksOwed {
            id,
            name,
            place,
            owed,
        },
    );
}

/// The coroutine that is being polled.
fn script_of_caller() -> (Option<CoroutineId>, Option<Cow<'static, str>>) {
    scope::with(|scope| {
        let polled = scope.and_then(|scope| Some((scope.core(), scope.current()?)));
        polled.map(|(core, task)| (core.id_of(task), core.name_of(task)))
    })
    .unzip()
}

/// Reports that a coroutine was refused: to the executor that refuses it, or else to the
/// executor that runs the caller. If neither exists or listens, prints the report. Calls
/// user code.
#[cold]
pub(crate) fn refused(refuses: Option<&Core>, report: &Report) {
    let hears = |core: &Core| !core.is_closed() || core.reports.hook.is_set();
    if let Some(core) = refuses.filter(|core| hears(core)) {
        send(core, report);
        return;
    }
    let runs = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    match runs.filter(|core| hears(core)) {
        Some(core) => send(&core, report),
        None => Reports::print_without_executor(report),
    }
}

/// Sets the hook for unobserved outputs of type `T`.
pub(crate) fn on_unobserved<T: 'static>(
    core: &Core,
    mut hook: impl FnMut(T, OutputSource) + 'static,
) {
    let receive = Hook::default();
    if core.is_closed() {
        receive.close();
    }
    let this = Rc::downgrade(&core.rc());
    receive.set(Box::new(move |&key: &TaskKey| {
        let core = this.upgrade().expect("it calls its hook");
        let Some(task) = core.tasks.get(key) else {
            return;
        };
        let by = output_source(&core, task);
        if let Some(output) = core.tasks.take_unobserved::<T>(task) {
            hook(output, by);
        }
    }));
    if !core.is_closed() {
        core.unobserved.is_on.set(true);
        let mut hooks = core.unobserved.hooks.borrow_mut();
        let earlier = hooks.insert(TypeId::of::<T>(), Rc::new(receive));
        drop(hooks);
        if let Some(earlier) = earlier {
            earlier.close();
        }
    }
}

fn output_source(core: &Core, task: Task<'_>) -> OutputSource {
    OutputSource {
        id: core.id_of(task),
        name: core.name_of(task),
    }
}

/// Whether there is a hook for the output of an ended task that no handle can take.
#[inline]
pub(crate) fn hears_unobserved(core: &Core, task: Task<'_>) -> bool {
    core.unobserved.is_on.get() && hook_for(core, task).is_some()
}

/// The hook for the output of a task, if there is one and the output is there.
#[cold]
fn hook_for(core: &Core, task: Task<'_>) -> Option<Rc<Hook<TaskKey>>> {
    let output = core.tasks.output_type(task)?;
    core.unobserved.hooks.borrow().get(&output).cloned()
}

/// Sends the output of a task to its hook: now, or as soon as hooks may be called. Calls
/// user code.
#[cold]
pub(crate) fn put_unobserved(core: &Core, reference: Reference) {
    core.unobserved.waiting.borrow_mut().push_back(reference);
    flush_unobserved(core);
}

/// Sends the outputs on the list to their hooks. Does nothing inside another such call,
/// or inside a closure that borrows lent state. Calls user code.
#[inline]
pub(crate) fn flush_unobserved(core: &Core) {
    let unobserved = &core.unobserved;
    // After each borrow of lent state there is nearly always nothing.
    if unobserved.is_on.get()
        && !unobserved.waiting.borrow().is_empty()
        && !unobserved.is_telling.get()
        && !core.starts.are_held()
    {
        work_off(core);
    }
}

#[cold]
fn work_off(core: &Core) {
    let _notifies = core.host.notifies();
    let _telling = Restore::after_setting(&core.unobserved.is_telling, true);
    // A hook may start coroutines that fail at once, without end.
    for _ in 0..core.runs.limits.most_in_sequence(core.tasks.alive()) {
        let next = core.unobserved.waiting.borrow_mut().pop_front();
        let Some(reference) = next else {
            return;
        };
        let task = core.tasks.of(&reference);
        let hook = hook_for(core, task);
        let call = |hook: Rc<Hook<_>>| as_host(core, || hook.call(&task.task_key()));
        match hook.map_or(Ok(false), call) {
            Ok(true) => {}
            // The hook has been replaced, or dropped.
            Ok(false) => end::drop_unwanted_output(core, task),
            Err(payload) => panics::hook_panicked(core, "on_unobserved", payload),
        }
        end::drop_reference(core, reference);
    }
    if !core.unobserved.waiting.borrow().is_empty() {
        limits::leave_to_next_run(core, Reached::Polls);
    }
}

/// Drops the hooks when the executor ends, after the last outputs have gone to
/// them.
pub(crate) fn close_unobserved(core: &Core) {
    flush_unobserved(core);
    core.unobserved.is_on.set(false);
    for hook in core.unobserved.hooks.take().into_values() {
        hook.close();
    }
    while let Some(reference) = { core.unobserved.waiting.borrow_mut().pop_front() } {
        end::drop_unwanted_output(core, core.tasks.of(&reference));
        end::drop_reference(core, reference);
    }
}
