//! What is noted about observed coroutines, and the events of a trace. Nothing here calls user code:
//! `observe` sends the events to the hook, when the next poll begins or has ended, when a coroutine
//! ends, and when a run ends.
//!
//! A coroutine is observed if the instruments are on when it is spawned, or are turned on
//! while it is alive. It is observed no longer if they are turned off.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::life::end::outcome;
use crate::core::task::{Flags, Task};
use crate::inspect::{Observed, TraceEvent, TraceKind};
use crate::task::coroutine::CoroutineId;
use crate::time::PhaseIndex;

/// Turns the instruments on: from now on all coroutines are observed.
pub(crate) fn observe_all(core: &Core) {
    if core.instruments.turn_on() {
        core.arrivals.note_observed(true);
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
    note(core, task, TraceKind::Woken { by, source });
}

/// Notes that an observed task was paused, or that its last pause has ended.
pub(crate) fn note_pause(core: &Core, task: Task<'_>) {
    let what = if task.has(Flags::PAUSED) {
        TraceKind::Paused
    } else {
        TraceKind::Unpaused
    };
    note(core, task, what);
}

/// Notes that an observed task has ended.
pub(crate) fn note_ended(core: &Core, task: Task<'_>) {
    core.colds.of(task, |cold| cold.observed = None);
    if let Some(outcome) = outcome(task) {
        note(core, task, TraceKind::Ended(outcome));
    }
}

/// Replaces the description of a coroutine. Returns the earlier one.
pub(crate) fn describe(core: &Core, task: Task<'_>, text: String) -> Option<String> {
    with(core, task, |notes| notes.description.replace(text)).flatten()
}

/// Stores an event about a coroutine.
pub(crate) fn note(core: &Core, task: Task<'_>, kind: TraceKind) {
    note_frame(core);
    core.instruments.trace.note(|| TraceEvent {
        frame: core.clock.frame(),
        phase: core.running_phase(),
        id: Some(core.id_of(task)),
        name: core.name_of(task),
        kind,
    });
}

/// Stores an event about no coroutine, in a full trace.
pub(crate) fn note_general(core: &Core, phase: Option<PhaseIndex>, kind: TraceKind) {
    let trace = &core.instruments.trace;
    trace.note(|| general(core, phase, kind));
}

/// An event about no coroutine.
fn general(core: &Core, phase: Option<PhaseIndex>, kind: TraceKind) -> TraceEvent {
    TraceEvent {
        frame: core.clock.frame(),
        phase: phase.map(PhaseIndex::phase),
        id: None,
        name: Cow::Borrowed(""),
        kind,
    }
}

/// Stores the event that a frame has begun, before the first other event of that frame.
pub(crate) fn note_frame(core: &Core) {
    let trace = &core.instruments.trace;
    if trace.is_full() && trace.enters(core.clock.frame()) {
        note_general(core, None, frame_began(core));
    }
}

/// The event that the frame under way has begun, if it has been stored before.
pub(crate) fn frame_under_way(core: &Core) -> Option<TraceEvent> {
    let has_begun = core.instruments.trace.has_entered(core.clock.frame());
    has_begun.then(|| general(core, None, frame_began(core)))
}

fn frame_began(core: &Core) -> TraceKind {
    TraceKind::FrameBegan {
        elapsed: Duration::from_nanos(core.clock.game_ns()),
    }
}

pub(crate) fn note_phase_began(core: &Core, phase: PhaseIndex) {
    note_general(core, Some(phase), TraceKind::PhaseBegan);
}

pub(crate) fn note_phase_ended(core: &Core, phase: PhaseIndex) {
    note_general(core, Some(phase), TraceKind::PhaseEnded);
}
