//! The events of a trace: storing them, and sending them to the hook.
//!
//! What happens to coroutines is noted where no user code may run. So events are stored,
//! and sent when the next poll begins or has ended, and when a run ends.

use std::borrow::Cow;
use std::time::Duration;

use crate::core::Core;
use crate::core::inspect::named::Source;
use crate::core::inspect::observe;
use crate::core::report;
use crate::core::report::panics;
use crate::core::scope;
use crate::core::task::Task;
use crate::coroutine::CoroutineId;
use crate::inspect::{TraceEvent, Traced};
use crate::time::PhaseIndex;

/// Sets the trace hook. From now on all coroutines are observed.
pub(crate) fn set(core: &Core, hook: Box<dyn FnMut(&TraceEvent)>, is_full: bool) {
    observe::observe_all(core);
    core.instruments.trace.set(hook, is_full);
}

/// Stores an event about a coroutine.
pub(crate) fn note(core: &Core, task: Task<'_>, what: Traced) {
    note_frame(core);
    core.instruments.trace.note(|| TraceEvent {
        frame: core.clock.frame(),
        phase: core.running_phase(),
        id: Some(core.id_of(task)),
        name: core.name_of(task),
        what,
    });
}

/// Stores an event about no coroutine, in a full trace.
fn note_general(core: &Core, phase: Option<PhaseIndex>, what: Traced) {
    core.instruments.trace.note(|| TraceEvent {
        frame: core.clock.frame(),
        phase: phase.map(PhaseIndex::phase),
        id: None,
        name: Cow::Borrowed(""),
        what,
    });
}

/// Stores the event that a frame has begun, before the first other event of that frame.
pub(crate) fn note_frame(core: &Core) {
    let trace = &core.instruments.trace;
    if trace.is_full() && trace.enters(core.clock.frame()) {
        let elapsed = Duration::from_nanos(core.clock.game_ns());
        note_general(core, None, Traced::FrameBegan { elapsed });
    }
}

pub(crate) fn note_phase_began(core: &Core, phase: PhaseIndex) {
    note_general(core, Some(phase), Traced::PhaseBegan);
}

pub(crate) fn note_phase_ended(core: &Core, phase: PhaseIndex) {
    note_general(core, Some(phase), Traced::PhaseEnded);
}

/// Notes that a source sends an event, if it has a name. Only code that an executor calls
/// belongs to a trace.
#[inline]
pub(crate) fn note_emitted(source: impl FnOnce() -> Option<Source>) {
    scope::with(|scope| {
        let Some(scope) = scope.filter(|scope| scope.core().instruments.trace.is_full()) else {
            return;
        };
        let Some(source) = source() else {
            return;
        };
        let (core, name) = (scope.core(), source.into_name());
        match scope.current() {
            Some(task) => note(core, task, Traced::Emitted { name }),
            None => note_general(core, core.runs.phase(), Traced::Emitted { name }),
        }
    });
}

/// The coroutine of `core` that is being polled.
pub(crate) fn polled(core: &Core) -> Option<CoroutineId> {
    scope::each_current(core, |task| Some(core.id_of(task)))
}

/// Sends the stored events to the trace hook. Calls user code.
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
