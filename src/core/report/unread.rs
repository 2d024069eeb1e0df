//! Outputs: their readers, and the host's hooks for those that nothing reads.
//!
//! A hook is user code, and may make more outputs unread. So a task with such an output
//! goes onto a list. One call at a time goes through the list. Until then the output
//! stays in the task's block. Readers that are added after the task has returned use the
//! same list.

use std::any::TypeId;
use std::cell::Cell;
use std::mem;
use std::rc::Rc;

use crate::core::Core;
use crate::core::call::Foreign;
use crate::core::cell::Restore;
use crate::core::end;
use crate::core::report;
use crate::core::report::hooks::Receive;
use crate::core::report::panics;
use crate::core::run::joins;
use crate::core::run::runaway;
use crate::core::scope;
use crate::core::start;
use crate::core::task::{Flags, Reader, Reference, Task};
use crate::inspect::{Hook, Report};

/// Adds a reader of the output of a task. The reader is called when the task returns, or
/// as soon as possible if the task has returned. Calls user code.
pub(crate) fn on_return<T: 'static>(
    core: &Core,
    task: Task<'_>,
    read: impl FnOnce(&T) -> bool + 'static,
) {
    let read = Foreign::new(read);
    let reader: Reader = Box::new(move |tasks, task| tasks.lend_output(task, read.into_inner()));
    let reader = Foreign::new(reader);
    if !task.has_ended() {
        core.tasks
            .cold_or_new(task, |cold| cold.readers.push(reader));
    } else if core.tasks.output_type(task).is_some() {
        core.tasks
            .cold_or_new(task, |cold| cold.readers.push(reader));
        read_soon(core, core.tasks.refer(task));
    }
}

/// Calls the readers of a task that has returned. Calls user code.
#[inline]
pub(crate) fn call_readers(core: &Core, task: Task<'_>) {
    if task.has_cold() {
        call_each_reader(core, task);
    }
}

#[cold]
fn call_each_reader(core: &Core, task: Task<'_>) {
    let readers = core.tasks.cold(task, |cold| mem::take(&mut cold.readers));
    for reader in readers.unwrap_or_default() {
        let _notifies = core.host.notifies();
        let read = {
            let _shown = core.shown.show_of(&core.owners, task);
            scope::enter_task(core, task, |_| reader.into_inner()(&core.tasks, task))
        };
        match read {
            Ok(false) => {}
            Ok(true) => {
                core.tasks.cold(task, |cold| cold.is_read = true);
            }
            Err(payload) => {
                let payload = Foreign::new(payload);
                let report = Report::CoroutinePanicked {
                    id: core.id_of(task),
                    name: format!("{} (on_error)", core.name_of(task)).into(),
                    frame: core.clock.frame(),
                    phase: core.running_phase(),
                    message: super::call::message(&**payload.get()),
                    from: None,
                };
                panics::pass_on(core, report, payload);
            }
        }
    }
}

/// Sets the hook for unread outputs of type `T`.
pub(crate) fn on_unread<T: 'static>(core: &Core, mut hook: impl FnMut(T) + 'static) {
    let receive = Hook::<Cell<Option<T>>>::default();
    if core.is_closed() {
        receive.close();
    }
    receive.set(Box::new(move |output| {
        if let Some(output) = output.take() {
            hook(output);
        }
    }));
    if !core.is_closed() {
        core.unread.is_on.set(true);
        let mut hooks = core.unread.hooks.borrow_mut();
        let earlier = hooks.insert(TypeId::of::<T>(), Rc::new(receive));
        drop(hooks);
        if let Some(earlier) = earlier {
            earlier.close();
        }
    }
}

/// Whether there is a hook or a reader for the output of an ended task that no handle can
/// take.
#[inline]
pub(crate) fn hears_unread(core: &Core, task: Task<'_>) -> bool {
    core.unread.is_on.get() && has_listener(core, task)
}

#[cold]
fn has_listener(core: &Core, task: Task<'_>) -> bool {
    let has_readers = core.tasks.cold(task, |cold| !cold.readers.is_empty());
    has_readers.unwrap_or(false) || hook_for(core, task).is_some()
}

/// The hook for the output of a task, if there is one and the output is there, unread.
fn hook_for(core: &Core, task: Task<'_>) -> Option<Rc<dyn Receive>> {
    let output = core.tasks.output_type(task)?;
    let is_read = core.tasks.cold(task, |cold| cold.is_read);
    if is_read.unwrap_or(false) {
        return None;
    }
    core.unread.hooks.borrow().get(&output).cloned()
}

/// Calls the readers of a task that has already returned: now, or as soon as hooks may be
/// called. Calls user code.
pub(crate) fn read_soon(core: &Core, reference: Reference) {
    core.unread.is_on.set(true);
    put_unread(core, reference);
}

/// Sends the output of a task to its hook: now, or as soon as hooks may be called. Calls
/// user code.
#[cold]
pub(crate) fn put_unread(core: &Core, reference: Reference) {
    core.unread.waiting.borrow_mut().push_back(reference);
    flush(core);
}

/// Sends the outputs on the list to their hooks. Does nothing inside another such call,
/// or inside a closure that borrows lent state. Calls user code.
#[inline]
pub(crate) fn flush(core: &Core) {
    if core.unread.is_on.get() && !core.unread.is_telling.get() && !start::holds_starts(core) {
        work_off(core);
    }
}

#[cold]
fn work_off(core: &Core) {
    let _notifies = core.host.notifies();
    let _telling = Restore::after_setting(&core.unread.is_telling, true);
    // A hook may start coroutines that fail at once, without end.
    for _ in 0..core.runs.limits.most_in_sequence(core.tasks.alive()) {
        let next = core.unread.waiting.borrow_mut().pop_front();
        let Some(reference) = next else {
            return;
        };
        let task = core.tasks.of(&reference);
        call_readers(core, task);
        // Moves joins that began while a reader had the output to the completions.
        core.runs.completions.complete(&core.entries, task);
        if !task.has(Flags::HANDLE) {
            match hook_for(core, task) {
                Some(hook) => {
                    let called = report::as_host(core, || hook.receive(&core.tasks, task));
                    if let Err(payload) = called {
                        panics::hook_panicked(core, "on_unread", payload);
                    }
                }
                None => end::drop_unwanted_output(core, task),
            }
        }
        end::drop_reference(core, reference);
        joins::wake_joiners(core);
    }
    if !core.unread.waiting.borrow().is_empty() {
        core.arrivals.note_news();
        core.host.note_due();
        runaway::report_runaway(core);
    }
}

/// Drops the hooks when the executor ends, after the last outputs have gone to
/// them.
pub(crate) fn close_unread(core: &Core) {
    flush(core);
    core.unread.is_on.set(false);
    for hook in core.unread.hooks.take().into_values() {
        hook.close();
    }
    while let Some(reference) = { core.unread.waiting.borrow_mut().pop_front() } {
        let task = core.tasks.of(&reference);
        if !task.has(Flags::HANDLE) {
            end::drop_unwanted_output(core, task);
        }
        end::drop_reference(core, reference);
    }
}
