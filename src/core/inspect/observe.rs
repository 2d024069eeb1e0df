//! Polls of observed coroutines, and what user code hears of them: the trace hook, the
//! stopwatch and the reports of slow polls.
//!
//! A flag sends the polls of an observed coroutine along the slow path, and its waits begin
//! there. So a plain resume needs no test for it.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use crate::core::base::call;
use crate::core::inspect::{awaited, notes};
use crate::core::life::end;
use crate::core::report::{self, panics};
use crate::core::task::{Flags, Polled, Reference, Task};
use crate::core::{Core, pause, scope};
use crate::inspect::{Lap, Line, Moment, Observed, PollTimes, Report, TraceClosure, TraceKind};
use crate::task::coroutine::CoroutineId;

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

/// Polls an observed task by calling `poll`. Calls user code.
pub(crate) fn poll(core: &Core, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
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
            pause::remember_wake(core, task, phase);
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
        let waits = awaited::after_poll(core, task);
        notes::note(core, task, TraceKind::Suspended { waits });
        send_events(core);
    }
    if let Some(took) = took {
        note_took(core, task, took);
    }
    polled
}

/// Notes how long a poll took. Calls user code if it was slow.
fn note_took(core: &Core, task: Task<'_>, took: Duration) {
    if core.instruments.profiles {
        notes::with(core, task, |notes| notes.profile.add(took));
    }
    let poll_times = core.instruments.poll_times.as_ref();
    if poll_times.is_some_and(|times| times.is_slow(took)) {
        let from = awaited::resumed_from(core, task);
        let first = |notes: &mut Observed| notes.waits.iter().find_map(|wait| wait.at);
        let to = notes::with(core, task, first).flatten();
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
    notes::observe(core, task, observed);
    notes::note(
        core,
        task,
        TraceKind::Spawned {
            at: Some(line),
            parent: parent.map(|key| CoroutineId::new(core.id, key)),
            owner: owner_of(core, task),
        },
    );
    send_events(core);
}

/// The label of the owner, if the hook would hear of it.
fn owner_of(core: &Core, task: Task<'_>) -> Option<Arc<str>> {
    let owner = core.owners.of(task)?;
    let is_heard = core.instruments.trace.is_listening();
    is_heard.then(|| Arc::from(core.owners.borrow().label(owner)))
}

/// Notes that an observed task is about to be polled. Returns the name of the source that
/// has woken it.
fn note_begin(core: &Core, task: Task<'_>) -> Option<Arc<str>> {
    let now = Moment {
        frame: core.clock.frame(),
        elapsed: Duration::from_nanos(core.clock.game_ns()),
    };
    let by = notes::with(core, task, |notes| {
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
    if core.instruments.trace.is_listening() {
        let from = awaited::resumed_from(core, task);
        notes::note(core, task, TraceKind::Resumed { by, from });
        send_events(core);
    }
}

/// Adds a trace hook, and returns its number. From now on all coroutines are observed.
pub(crate) fn add_trace(core: &Core, hook: TraceClosure, is_full: bool) -> u64 {
    if !core.is_closed() {
        notes::observe_all(core);
    }
    let begin = is_full.then(|| notes::frame_under_way(core)).flatten();
    core.instruments.trace.add(hook, is_full, begin)
}

/// Removes a trace hook. Returns `false` if there is no such hook. Calls user code: the
/// destructor of the hook.
pub(crate) fn remove_trace(core: &Core, id: u64) -> bool {
    let Some(removed) = core.instruments.trace.remove(id) else {
        return false;
    };
    notes::observe_none(core);
    call::in_drop(|| drop(removed));
    true
}

/// Ends a call that may have been made between two runs: the trace hooks hear of its
/// events, and the host of what has become due. Calls user code.
pub(crate) fn settle(core: &Core) {
    send_events(core);
    core.host.notify();
}

/// Sends the stored events to the trace hooks. Calls user code.
#[inline]
pub(crate) fn send_events(core: &Core) {
    if core.instruments.is_on() && !core.host.is_silenced() {
        send_waiting_events(core);
    }
}

#[cold]
fn send_waiting_events(core: &Core) {
    let _notifies = core.host.notifies();
    let trace = &core.instruments.trace;
    while let Some((number, event)) = trace.next() {
        // Not as part of the coroutine being polled: a coroutine that a hook spawns
        // has no owner.
        for payload in report::as_host(core, || trace.call(number, &event)) {
            panics::hook_panicked(core, "on_trace", payload);
        }
    }
}
