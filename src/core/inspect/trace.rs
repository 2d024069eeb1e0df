//! Storing the events of a trace. `observe` sends them to the hook, which is user code:
//! when the next poll begins or has ended, when a coroutine ends, and when a run ends.

use std::borrow::Cow;
use std::time::Duration;

use crate::core::Core;
use crate::core::task::Task;
use crate::inspect::{TraceEvent, TraceKind};
use crate::time::PhaseIndex;

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
    core.instruments.trace.note(|| TraceEvent {
        frame: core.clock.frame(),
        phase: phase.map(PhaseIndex::phase),
        id: None,
        name: Cow::Borrowed(""),
        kind,
    });
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
    let frame = core.clock.frame();
    let has_begun = core.instruments.trace.has_entered(frame);
    has_begun.then(|| TraceEvent {
        frame,
        phase: None,
        id: None,
        name: Cow::Borrowed(""),
        kind: frame_began(core),
    })
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
