//! Events of observed coroutines.
//!
//! A coroutine is observed if a trace is on when it is spawned, or begins while it is
//! alive. A flag sends the polls of an observed coroutine along the slow path. So a plain
//! resume needs no test for it.

use std::panic::{Location, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::core::Core;
use crate::core::call;
use crate::core::end;
use crate::core::report;
use crate::core::report::panics;
use crate::core::scope;
use crate::core::task::{Flags, Polled, Reference, Task, TaskKey};
use crate::inspect::{Lap, Moment, Observed, Report, SlowPolls, TraceEvent, Traced};

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

/// Polls an observed task by calling `poll`. Calls user code.
pub(crate) fn observed(core: &Core, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
    note_resumed(core, task);
    let slow_polls = core.instruments.slow_polls.as_ref();
    let lap = slow_polls.map(SlowPolls::begin);
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
    if let Some(payload) = slow_polls.and_then(SlowPolls::take_panic) {
        panics::hook_panicked(core, "stopwatch", payload);
    }
    match (polled, took) {
        (Err(payload), _) => resume_unwind(payload),
        (Ok(polled), None) => polled,
        (Ok(polled), Some(took)) => {
            report::send(
                core,
                &Report::SlowPoll {
                    id: core.id_of(task),
                    name: core.name_of(task),
                    frame: core.clock.frame(),
                    phase: core.running_phase(),
                    took,
                },
            );
            polled
        }
    }
}

/// Keeps the block of an observed task until the result is dropped. The trace hook is
/// called before the poll, and may end the task and start another one.
#[inline]
pub(crate) fn keep_observed<'c>(core: &'c Core, task: Task<'_>) -> Kept<'c> {
    let reference = task.has(Flags::OBSERVED).then(|| core.tasks.refer(task));
    Kept(core, reference)
}

/// Sets the trace hook. From now on all coroutines are observed.
pub(crate) fn trace(core: &Core, hook: Box<dyn FnMut(&TraceEvent)>) {
    if core.instruments.turn_on() {
        for index in 0..core.tasks.len() {
            let task = core.tasks.at(index);
            if task.is_alive() {
                let nothing_known = Observed {
                    place: None,
                    parent: None,
                    since: None,
                    has_begun: true,
                    woken_by: None,
                };
                observe(core, task, nothing_known);
            }
        }
    }
    core.instruments.trace.hook.set(hook);
}

fn observe(core: &Core, task: Task<'_>, observed: Observed) {
    task.set(Flags::OBSERVED);
    let observed = Some(Box::new(observed));
    core.tasks
        .cold_or_new(task, |cold| cold.observed = observed);
}

/// Notes that a task was spawned at `place` of the program. Calls user code.
#[cold]
#[inline(never)]
pub(crate) fn note_spawned(core: &Core, task: Task<'_>, place: &'static Location<'static>) {
    let parent = scope::each_current(core, |parent| Some(parent.task_key()));
    let observed = Observed {
        place: Some(place),
        parent,
        since: None,
        has_begun: false,
        woken_by: None,
    };
    observe(core, task, observed);
    note_event(core, task, Traced::Spawned, None);
    send_events(core);
}

/// Notes that an observed task is about to be polled. Calls user code.
fn note_resumed(core: &Core, task: Task<'_>) {
    let now = Moment {
        frame: core.clock.frame(),
        elapsed: Duration::from_nanos(core.clock.game_ns()),
    };
    let by = core.tasks.cold(task, |cold| {
        let observed = cold.observed.as_mut()?;
        // In this poll, the next wait of the task begins.
        observed.since = Some(now);
        observed.has_begun = true;
        observed.woken_by.take()
    });
    note_event(core, task, Traced::Resumed, by.flatten());
    send_events(core);
}

/// Notes that the signal or watch called `name` is about to wake a task.
pub(crate) fn note_woken_by(core: &Core, task: TaskKey, name: Arc<str>) {
    if let Some(task) = core.tasks.get(task) {
        core.tasks.cold(task, |cold| {
            if let Some(observed) = &mut cold.observed {
                observed.woken_by.get_or_insert(name);
            }
        });
    }
}

/// Notes that an observed task has ended.
pub(crate) fn note_ended(core: &Core, task: Task<'_>) {
    let observed = core.tasks.cold(task, |cold| cold.observed.take());
    if let Some(outcome) = task.outcome().filter(|_| observed.flatten().is_some()) {
        note_event(core, task, Traced::Ended(outcome), None);
    }
}

fn note_event(core: &Core, task: Task<'_>, what: Traced, by: Option<Arc<str>>) {
    core.instruments.trace.note(|| TraceEvent {
        frame: core.clock.frame(),
        phase: core.running_phase(),
        id: core.id_of(task),
        name: core.name_of(task),
        what,
        by,
    });
}

/// Sends the noted events to the trace hook. Calls user code.
#[inline]
pub(crate) fn send_events(core: &Core) {
    if core.instruments.is_on() && !core.host.is_silenced() {
        send_waiting_events(core);
    }
}

#[cold]
fn send_waiting_events(core: &Core) {
    let _notifies = core.host.notifies();
    while let Some(event) = core.instruments.trace.next() {
        // Not as part of the coroutine being polled: a coroutine that the hook spawns
        // has no owner.
        if let Err(payload) = report::as_host(core, || core.instruments.trace.hook.call(&event)) {
            panics::hook_panicked(core, "on_trace", payload);
        }
    }
}
