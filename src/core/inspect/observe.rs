//! Observed coroutines: what is noted about them, and their polls.
//!
//! A coroutine is observed if the instruments are on when it is spawned, or are turned on
//! while it is alive. A flag sends the polls of an observed coroutine along the slow path,
//! and its waits begin there. So a plain resume needs no test for it.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use crate::core::Core;
use crate::core::call;
use crate::core::cell::Restore;
use crate::core::end;
use crate::core::inspect::{awaited, trace};
use crate::core::report;
use crate::core::report::panics;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, Polled, Reference, Task, TaskKey};
use crate::inspect::{Lap, Line, Moment, Observed, PollTimes, Report, Traced};

/// Keeps the block of a task until this is dropped.
pub(crate) struct Kept<'c>(&'c Core, Option<Reference>);

impl Drop for Kept<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(reference) = self.1.take() {
            end::drop_reference(self.0, reference);
        }
    }
}

/// Keeps the block of an observed task until the result is dropped. The trace hook is
/// called before the poll, and may end the task and start another one.
#[inline]
pub(crate) fn keep<'c>(core: &'c Core, task: Task<'_>) -> Kept<'c> {
    let reference = task.has(Flags::OBSERVED).then(|| core.tasks.refer(task));
    Kept(core, reference)
}

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

fn observe(core: &Core, task: Task<'_>, observed: Observed) {
    task.set(Flags::OBSERVED);
    let observed = Some(Box::new(observed));
    core.tasks
        .cold_or_new(task, |cold| cold.observed = observed);
}

/// Whether the coroutine that `scope` polls is observed.
pub(crate) fn is_observed(scope: &Scope<'_>) -> bool {
    let task = scope.current();
    task.is_some_and(|task| task.has(Flags::OBSERVED))
}

/// Reads or changes the notes about an observed task.
pub(crate) fn notes<R>(
    core: &Core,
    task: Task<'_>,
    f: impl FnOnce(&mut Observed) -> R,
) -> Option<R> {
    let noted = core
        .tasks
        .cold(task, |cold| cold.observed.as_mut().map(|notes| f(notes)));
    noted.flatten()
}

/// Polls an observed task by calling `poll`. Calls user code.
pub(crate) fn poll(core: &Core, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
    // Waits for seconds then begin the long way, where they are noted.
    let _watched = Restore::after_setting(&core.shown.is_plain, false);
    if core.instruments.is_heard() {
        return poll_heard(core, task, poll);
    }
    note_begin(core, task);
    poll()
}

/// The same if a trace hook hears of the poll, or it is timed.
fn poll_heard(core: &Core, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
    note_resumed(core, task);
    let poll_times = core.instruments.poll_times.as_ref();
    let lap = poll_times.map(PollTimes::begin);
    // A panic is caught: the stopwatch is user code, and must not be read while the
    // stack unwinds.
    let polled = call::catch(|| {
        if task.has(Flags::PAUSED) {
            // The hook has paused it, so the poll is remembered.
            let phase = core.runs.phase().unwrap_or_else(|| task.home());
            core.pauses.remember_wake(&core.tasks, task, phase);
            Polled::Refused
        } else {
            poll()
        }
    });
    let took = lap.and_then(Lap::stop);
    if let Some(payload) = poll_times.and_then(PollTimes::take_panic) {
        panics::hook_panicked(core, "stopwatch", payload);
    }
    let polled = polled.unwrap_or_else(|payload| resume_unwind(payload));
    if polled == Polled::Pending && core.instruments.trace.is_full() {
        awaited::end_poll(core, task);
        trace::note(core, task, Traced::Suspended);
        trace::send_events(core);
    }
    if let Some(took) = took {
        note_took(core, task, took);
    }
    polled
}

/// Notes how long a poll took. Calls user code if it was slow.
fn note_took(core: &Core, task: Task<'_>, took: Duration) {
    if core.instruments.profiles {
        notes(core, task, |notes| notes.profile.add(took));
    }
    let poll_times = core.instruments.poll_times.as_ref();
    if poll_times.is_some_and(|times| times.is_slow(took)) {
        let from = awaited::resumed_from(core, task);
        let first = |notes: &mut Observed| notes.waits.iter().find_map(|wait| wait.at);
        let to = notes(core, task, first).flatten();
        report::send(
            core,
            &Report::SlowPoll {
                id: core.id_of(task),
                name: core.name_of(task),
                frame: core.clock.frame(),
                phase: core.running_phase(),
                took,
                from,
                to,
            },
        );
    }
}

/// Notes that a task was spawned at `line` of the program. Calls user code.
#[cold]
#[inline(never)]
pub(crate) fn note_spawned(core: &Core, task: Task<'_>, line: Line) {
    let parent = scope::each_current(core, |parent| Some(parent.task_key()));
    let observed = Observed {
        place: Some(line),
        parent,
        ..Observed::default()
    };
    observe(core, task, observed);
    trace::note(
        core,
        task,
        Traced::Spawned {
            at: Some(line),
            parent: parent.map(|key| crate::coroutine::CoroutineId::new(core.id, key)),
            owner: owner_of(core, task),
        },
    );
    trace::send_events(core);
}

/// The label of the owner, if the hook would hear of it.
fn owner_of(core: &Core, task: Task<'_>) -> Option<Arc<str>> {
    let owner = core.owners.of(task)?;
    let is_heard = core.instruments.trace.hook.is_listening();
    is_heard.then(|| Arc::from(core.owners.borrow().label(owner)))
}

/// Notes that an observed task is about to be polled. Returns the name of the source that
/// has woken it.
fn note_begin(core: &Core, task: Task<'_>) -> Option<Arc<str>> {
    let now = Moment {
        frame: core.clock.frame(),
        elapsed: Duration::from_nanos(core.clock.game_ns()),
    };
    let by = notes(core, task, |notes| {
        // In this poll, the next wait of the task begins.
        notes.since = Some(now);
        notes.has_begun = true;
        notes.is_sorted_out = false;
        notes.woken_by.take()
    });
    by.flatten()
}

/// The same for a trace. Calls user code.
fn note_resumed(core: &Core, task: Task<'_>) {
    let by = note_begin(core, task);
    if core.instruments.trace.is_full() {
        awaited::begin_poll(core, task);
    }
    trace::note(core, task, Traced::Resumed { by });
    trace::send_events(core);
}

/// Notes that the source called `name` is about to wake a task.
pub(crate) fn note_woken_by(core: &Core, task: TaskKey, name: Arc<str>) {
    if let Some(task) = core.tasks.get(task) {
        notes(core, task, |notes| {
            notes.wakes = Some(name.clone());
            notes.woken_by.get_or_insert(name);
        });
    }
}

/// Notes that the waker of an observed task was called.
#[cold]
#[inline(never)]
pub(crate) fn note_woken(core: &Core, task: Task<'_>) {
    let source = notes(core, task, |notes| notes.wakes.take()).flatten();
    let by = trace::polled(core);
    trace::note(core, task, Traced::Woken { by, source });
}

/// Notes that an observed task was paused, or that its last pause has ended.
pub(crate) fn note_pause(core: &Core, task: Task<'_>) {
    let what = if task.has(Flags::PAUSED) {
        Traced::Paused
    } else {
        Traced::Unpaused
    };
    trace::note(core, task, what);
}

/// Notes that an observed task has ended.
pub(crate) fn note_ended(core: &Core, task: Task<'_>) {
    let observed = core.tasks.cold(task, |cold| cold.observed.take()).flatten();
    let Some((outcome, observed)) = task.outcome().zip(observed) else {
        return;
    };
    for noted in observed.waits {
        awaited::note_ended(core, task, noted.wait, noted.at);
    }
    trace::note(core, task, Traced::Ended(outcome));
}

/// Replaces the description of the coroutine that `scope` polls. Returns the earlier one.
pub(crate) fn describe(scope: &Scope<'_>, text: String) -> Option<String> {
    let replace = |notes: &mut Observed| notes.description.replace(text);
    notes(scope.core(), scope.current()?, replace).flatten()
}
