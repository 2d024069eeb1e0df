//! What is noted about observed coroutines. Nothing here calls user code.
//!
//! A coroutine is observed if the instruments are on when it is spawned, or are turned on
//! while it is alive. It is observed no longer if they are turned off.

use std::sync::Arc;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::inspect::trace;
use crate::core::life::end::result::outcome;
use crate::core::task::{Flags, Task};
use crate::inspect::{Observed, TraceKind};
use crate::task::coroutine::CoroutineId;

/// Turns the instruments on: from now on all coroutines are observed.
pub(crate) fn observe_all(core: &Core) {
    if core.instruments.turn_on() {
        for index in 0..core.tasks.len() {
            let task = core.tasks.at(index);
            if task.is_alive() {
                let nothing_known = Observed {
                    has_begun: true,
                    ..Observed::default()
                };
                observe(core, task, nothing_known);
            }
        }
    }
}

/// Turns the instruments off if nothing needs them any more: no coroutine is observed, and
/// the notes are dropped.
pub(crate) fn observe_none(core: &Core) {
    if core.instruments.turn_off() {
        for index in 0..core.tasks.len() {
            let task = core.tasks.at(index);
            if task.is_alive() {
                task.clear(Flags::OBSERVED);
                core.colds.of(task, |cold| cold.observed = None);
            }
        }
    }
}

pub(crate) fn observe(core: &Core, task: Task<'_>, observed: Observed) {
    task.set(Flags::OBSERVED);
    let observed = Some(Box::new(observed));
    core.colds.of_or_new(task, |cold| cold.observed = observed);
}

/// Whether a coroutine, if there is one, is observed.
pub(crate) fn is_observed(task: Option<Task<'_>>) -> bool {
    task.is_some_and(|task| task.has(Flags::OBSERVED))
}

/// Reads or changes the notes about an observed task.
pub(crate) fn with<R>(
    core: &Core,
    task: Task<'_>,
    f: impl FnOnce(&mut Observed) -> R,
) -> Option<R> {
    let noted = core
        .colds
        .of(task, |cold| cold.observed.as_mut().map(|notes| f(notes)));
    noted.flatten()
}

/// Notes that the source called `name` is about to wake a task.
pub(crate) fn note_woken_by(core: &Core, task: TaskKey, name: Arc<str>) {
    if let Some(task) = core.tasks.get(task) {
        with(core, task, |notes| {
            notes.wakes = Some(name.clone());
            notes.woken_by.get_or_insert(name);
        });
    }
}

/// Notes that `by` called the waker of an observed task.
#[cold]
#[inline(never)]
pub(crate) fn note_woken(core: &Core, task: Task<'_>, by: Option<CoroutineId>) {
    let source = with(core, task, |notes| notes.wakes.take()).flatten();
    trace::note(core, task, TraceKind::Woken { by, source });
}

/// Notes that an observed task was paused, or that its last pause has ended.
pub(crate) fn note_pause(core: &Core, task: Task<'_>) {
    let what = if task.has(Flags::PAUSED) {
        TraceKind::Paused
    } else {
        TraceKind::Unpaused
    };
    trace::note(core, task, what);
}

/// Notes that an observed task has ended.
pub(crate) fn note_ended(core: &Core, task: Task<'_>) {
    core.colds.of(task, |cold| cold.observed = None);
    if let Some(outcome) = outcome(task) {
        trace::note(core, task, TraceKind::Ended(outcome));
    }
}

/// Replaces the description of a coroutine. Returns the earlier one.
pub(crate) fn describe(core: &Core, task: Task<'_>, text: String) -> Option<String> {
    with(core, task, |notes| notes.description.replace(text)).flatten()
}
