//! What the acts tell to clients outside of the core, and the polls of observed coroutines.
//!
//! A [view](super::view) shows where a coroutine is; an event says that it got there. The acts tell
//! events at two doors, [`tell`] and [`tell_of_run`], and do not know who hears of them. A client that hears is
//! named in these two functions and nowhere else in the core. It gets the view and the script of the
//! event, and may keep [notes](super::view::Script::notes) of it.
//!
//! The acts tell where they may hold borrows, so a client calls no user code: it stores what the host
//! shall hear. The acts send that, with [`send_events`], once nothing is borrowed: when the next poll
//! begins or has ended, when a coroutine ends, and when a run ends. [`poll`] is where user code hears
//! of polls: the trace hooks, the stopwatch and the reports of slow polls.
//!
//! A coroutine is observed if the instruments are on when it is spawned, or are turned on while it is
//! alive. It is observed no longer if they are turned off. Acts tell of observed coroutines only. A flag
//! sends their polls along the slow path, and their waits begin there, so a plain resume needs no
//! test for it: as long as nobody observes, none of this costs anything.

use std::panic::resume_unwind;

use crate::core::base::call;
use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::report::{self, panics};
use crate::core::task::{Flags, Polled, Reference, Task};
use crate::core::view::{Script, View};
use crate::core::{Core, pause, scope};
use crate::inspect::{Lap, Line, Observed, PollTimes, TraceClosure, notes};
use crate::task::coroutine::{CoroutineId, Outcome};
use crate::time::PhaseIndex;

/// An event of an observed coroutine.
#[derive(Clone, Copy)]
pub(crate) enum ScriptEvent {
    /// It was spawned at a line of the program, in a poll of this coroutine.
    Spawned { at: Line, parent: Option<TaskKey> },
    /// It is about to be polled.
    Resumed,
    /// Its poll has returned `Pending`. Only told for a full trace.
    Suspended,
    /// Its waker was called, in a poll of this coroutine.
    Woken { by: Option<CoroutineId> },
    /// It was paused, itself or through an owner.
    Paused,
    /// Its last pause has ended.
    Unpaused,
    /// It has ended. Its notes are gone.
    Ended(Outcome),
}

/// An event of an executor whose coroutines are observed.
#[derive(Clone, Copy)]
pub(crate) enum RunEvent {
    /// A run is about to begin, and may be the first of its frame.
    Near,
    /// A phase has something to run, and begins.
    PhaseBegan(PhaseIndex),
    /// It has ended.
    PhaseEnded(PhaseIndex),
}

/// Tells an event of an observed task. Calls no user code.
#[cold]
#[inline(never)]
pub(crate) fn tell(core: &Core, task: Task<'_>, event: ScriptEvent) {
    notes::hear(View::new(core), Script::new(core, task), event);
}

/// Tells an event of an executor whose coroutines are observed. Calls no user code.
#[cold]
#[inline(never)]
pub(crate) fn tell_of_run(core: &Core, event: RunEvent) {
    notes::hear_of_run(View::new(core), event);
}

/// Turns the instruments on: from now on all coroutines are observed.
fn observe_all(core: &Core) {
    if core.instruments.turn_on() {
        core.arrivals.note_observed(true);
        for index in 0..core.tasks.len() {
            let task = core.tasks.at(index);
            if task.is_alive() {
                observe(core, task, Observed::unknown());
            }
        }
    }
}

/// Turns the instruments off if nothing needs them any more: no coroutine is observed, and
/// the notes are dropped.
fn observe_none(core: &Core) {
    if core.instruments.turn_off() {
        core.arrivals.note_observed(false);
        for index in 0..core.tasks.len() {
            let task = core.tasks.at(index);
            if task.is_alive() {
                task.clear(Flags::OBSERVED);
                core.colds.of(task, |cold| cold.observed = None);
            }
        }
    }
}

fn observe(core: &Core, task: Task<'_>, notes: Observed) {
    task.set(Flags::OBSERVED);
    let notes = Some(Box::new(notes));
    core.colds.of_or_new(task, |cold| cold.observed = notes);
}

/// Observes a task that was spawned at this line of the program. Calls user code.
#[cold]
#[inline(never)]
pub(crate) fn spawned(core: &Core, task: Task<'_>, at: Line) {
    observe(core, task, Observed::default());
    let parent = scope::each_current(core, |parent| Some(parent.task_key()));
    tell(core, task, ScriptEvent::Spawned { at, parent });
    send_events(core);
}

/// Ends the notes of an observed task that has ended.
#[cold]
#[inline(never)]
pub(crate) fn ended(core: &Core, task: Task<'_>) {
    core.colds.of(task, |cold| cold.observed = None);
    if let Some(outcome) = end::outcome(task) {
        tell(core, task, ScriptEvent::Ended(outcome));
    }
}

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
    tell(core, task, ScriptEvent::Resumed);
    if core.instruments.is_heard() {
        poll_heard(core, task, poll)
    } else {
        poll()
    }
}

/// The same if a trace hook hears of the poll, or it is timed.
fn poll_heard(core: &Core, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
    send_events(core);
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
        tell(core, task, ScriptEvent::Suspended);
        send_events(core);
    }
    let slow = took.and_then(|took| {
        let script = Script::new(core, task);
        notes::note_took(View::new(core), script, took)
    });
    if let Some(slow) = slow {
        report::send(core, &slow);
    }
    polled
}

/// Adds a trace hook, and returns its number. From now on all coroutines are observed.
pub(crate) fn add_trace(core: &Core, hook: TraceClosure, is_full: bool) -> u64 {
    if !core.is_closed() {
        observe_all(core);
    }
    let under_way = || notes::frame_under_way(View::new(core));
    let begin = is_full.then(under_way).flatten();
    core.instruments.trace.add(hook, is_full, begin)
}

/// Removes a trace hook. Returns `false` if there is no such hook. Calls user code: the
/// destructor of the hook.
pub(crate) fn remove_trace(core: &Core, id: u64) -> bool {
    let Some(removed) = core.instruments.trace.remove(id) else {
        return false;
    };
    observe_none(core);
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
    let trace = &core.instruments.trace;
    if !trace.is_listening() {
        return;
    }
    let _notifies = core.host.notifies();
    while let Some((number, event)) = trace.next() {
        // Not as part of the coroutine being polled: a coroutine that a hook spawns
        // has no owner.
        for payload in report::as_host(core, || trace.call(number, &event)) {
            panics::hook_panicked(core, "on_trace", payload);
        }
    }
}
