//! The client of the core that hears of [events](ScriptEvent): it keeps notes of observed coroutines, and
//! stores the events of a trace. Nothing here calls user code: `observe` sends the events to the hooks.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::core::base::key::TaskKey;
use crate::core::observe::{RunEvent, ScriptEvent};
use crate::core::view::{Script, View};
use crate::time::PhaseIndex;

use super::awaited;
use super::coroutine::Moment;
use super::observed::{Line, Observed};
use super::poll_times::PollTimes;
use super::report::Report;
use super::trace::{TraceEvent, TraceKind};

/// Hears of an event of an observed script.
pub(crate) fn hear(view: View<'_>, script: Script<'_>, event: ScriptEvent) {
    let kind = match event {
        ScriptEvent::Spawned { at, parent } => note_spawned(view, script, at, parent),
        ScriptEvent::Resumed => {
            let by = note_resumed(view, script);
            if !view.instruments().trace.is_listening() {
                return;
            }
            let from = awaited::resumed_from(view, script);
            TraceKind::Resumed { by, from }
        }
        ScriptEvent::Suspended => {
            let waits = awaited::after_poll(view, script);
            TraceKind::Suspended { waits }
        }
        ScriptEvent::Woken { by } => {
            let source = script.notes(|notes| notes.wakes.take()).flatten();
            TraceKind::Woken { by, source }
        }
        ScriptEvent::Paused => TraceKind::Paused,
        ScriptEvent::Unpaused => TraceKind::Unpaused,
        ScriptEvent::Ended(outcome) => TraceKind::Ended(outcome),
    };
    note(view, script, kind);
}

/// Hears of an event of an executor.
pub(crate) fn hear_of_run(view: View<'_>, event: RunEvent) {
    match event {
        RunEvent::Near => note_frame(view),
        RunEvent::PhaseBegan(phase) => note_general(view, Some(phase), TraceKind::PhaseBegan),
        RunEvent::PhaseEnded(phase) => note_general(view, Some(phase), TraceKind::PhaseEnded),
    }
}

fn note_spawned(
    view: View<'_>,
    script: Script<'_>,
    at: Line,
    parent: Option<TaskKey>,
) -> TraceKind {
    script.notes(|notes| {
        notes.place = Some(at);
        notes.parent = parent;
    });
    let is_heard = view.instruments().trace.is_listening();
    let owner = script.owner().filter(|_| is_heard);
    TraceKind::Spawned {
        at: Some(at),
        parent: parent.map(|key| view.id(key)),
        owner: owner.map(|owner| Arc::from(view.owner_label(owner))),
    }
}

/// Notes that a script is about to be polled. Returns the name of the source that has woken it.
fn note_resumed(view: View<'_>, script: Script<'_>) -> Option<Arc<str>> {
    let now = Moment {
        frame: view.frame(),
        elapsed: view.elapsed(),
    };
    let by = script.notes(|notes| {
        // In this poll, the next wait of the script begins.
        notes.since = Some(now);
        notes.has_begun = true;
        notes.is_sorted_out = false;
        notes.woken_by.take()
    });
    by.flatten()
}

/// Notes how long a poll took. Returns the report of a slow one.
pub(crate) fn note_took(view: View<'_>, script: Script<'_>, took: Duration) -> Option<Report> {
    let instruments = view.instruments();
    if instruments.profiles {
        script.notes(|notes| notes.profile.add(took));
    }
    let is_slow = |times: &PollTimes| times.is_slow(took);
    if !instruments.poll_times.as_ref().is_some_and(is_slow) {
        return None;
    }
    let from = awaited::resumed_from(view, script);
    let first = |notes: &mut Observed| notes.waits.iter().find_map(|wait| wait.at);
    Some(Report::SlowPoll {
        id: script.id(),
        name: script.name(),
        frame: view.frame(),
        phase: view.running().map(PhaseIndex::phase),
        took,
        from,
        to: script.notes(first).flatten(),
    })
}

/// Notes that the source called `name` is about to wake a script.
pub(super) fn note_woken_by(view: View<'_>, script: TaskKey, name: Arc<str>) {
    if let Some(script) = view.get(script) {
        script.notes(|notes| {
            notes.wakes = Some(name.clone());
            notes.woken_by.get_or_insert(name);
        });
    }
}

/// Stores an event about a script.
pub(super) fn note(view: View<'_>, script: Script<'_>, kind: TraceKind) {
    note_frame(view);
    view.instruments().trace.note(|| TraceEvent {
        id: Some(script.id()),
        name: script.name(),
        ..general(view, view.running(), kind)
    });
}

/// Stores an event about no script, in a full trace.
pub(super) fn note_general(view: View<'_>, phase: Option<PhaseIndex>, kind: TraceKind) {
    let trace = &view.instruments().trace;
    trace.note(|| general(view, phase, kind));
}

/// An event about no script.
fn general(view: View<'_>, phase: Option<PhaseIndex>, kind: TraceKind) -> TraceEvent {
    TraceEvent {
        frame: view.frame(),
        phase: phase.map(PhaseIndex::phase),
        id: None,
        name: Cow::Borrowed(""),
        kind,
    }
}

/// Stores the event that a frame has begun, before the first other event of that frame.
fn note_frame(view: View<'_>) {
    let trace = &view.instruments().trace;
    if trace.is_full() && trace.enters(view.frame()) {
        note_general(view, None, frame_began(view));
    }
}

/// The event that the frame under way has begun, if it has been stored before.
pub(crate) fn frame_under_way(view: View<'_>) -> Option<TraceEvent> {
    let has_begun = view.instruments().trace.has_entered(view.frame());
    has_begun.then(|| general(view, None, frame_began(view)))
}

fn frame_began(view: View<'_>) -> TraceKind {
    TraceKind::FrameBegan {
        elapsed: view.elapsed(),
    }
}
