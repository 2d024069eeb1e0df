//! The host's hooks for outputs that no join returns.
//!
//! A hook is user code, and may make more outputs unobserved. So a task with such an output
//! goes onto a list. One call at a time goes through the list. Until then the output
//! stays in the task's block.

use std::any::TypeId;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::cell::{Guarded, Restore};
use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::report;
use crate::core::report::panics;
use crate::core::run::runaway::{self, Reached};
use crate::core::task::{Reference, Task};
use crate::inspect::Hook;
use crate::task::coroutine::OutputSource;

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
    flush(core);
}

/// Sends the outputs on the list to their hooks. Does nothing inside another such call,
/// or inside a closure that borrows lent state. Calls user code.
#[inline]
pub(crate) fn flush(core: &Core) {
    if core.unobserved.is_on.get() && !core.unobserved.is_telling.get() && !core.starts.are_held() {
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
        let call = |hook: Rc<Hook<_>>| report::as_host(core, || hook.call(&task.task_key()));
        match hook.map_or(Ok(false), call) {
            Ok(true) => {}
            // The hook has been replaced, or dropped.
            Ok(false) => end::drop_unwanted_output(core, task),
            Err(payload) => panics::hook_panicked(core, "on_unobserved", payload),
        }
        end::drop_reference(core, reference);
    }
    if !core.unobserved.waiting.borrow().is_empty() {
        runaway::leave_to_next_run(core, Reached::Polls);
    }
}

/// Drops the hooks when the executor ends, after the last outputs have gone to
/// them.
pub(crate) fn close_unobserved(core: &Core) {
    flush(core);
    core.unobserved.is_on.set(false);
    for hook in core.unobserved.hooks.take().into_values() {
        hook.close();
    }
    while let Some(reference) = { core.unobserved.waiting.borrow_mut().pop_front() } {
        end::drop_unwanted_output(core, core.tasks.of(&reference));
        end::drop_reference(core, reference);
    }
}
