//! The waits of observed coroutines: what for, at which line, and when they are over.
//!
//! A wait is noted where it registers. Nothing tells when it is over: a wait is served and
//! dropped on the fastest ways of the core. So that is found out before and after each
//! poll of its coroutine, by its key.

use std::mem;
use std::time::Duration;

use crate::core::Core;
use crate::core::inspect::observe;
use crate::core::inspect::snapshot::clock_of_index;
use crate::core::inspect::trace;
use crate::core::registration::Registration;
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task, stage};
use crate::inspect::{Line, NotedWait, Traced, Wait, WaitId};
use crate::time::{ClockRef, Phase, PhaseIndex};

/// Notes a registered wait of the coroutine that `scope` polls, if it is observed. `line`
/// is that of the `.await`.
#[inline(always)]
pub(crate) fn note(
    scope: &Scope<'_>,
    registration: &Registration,
    line: Line,
    wait: impl FnOnce(Phase) -> Wait,
) {
    if scope.core().instruments.is_on() {
        let wait = wait(registration.phase().phase());
        note_wait(scope, WaitId::Registered(registration.key()), line, wait);
    }
}

/// The same for any wait.
#[cold]
#[inline(never)]
pub(crate) fn note_wait(scope: &Scope<'_>, id: WaitId, line: Line, wait: Wait) {
    let core = scope.core();
    let Some(task) = scope.current().filter(|task| task.has(Flags::OBSERVED)) else {
        return;
    };
    let begins = observe::notes(core, task, |notes| {
        let at = match line.file() {
            // The wait is the future of the coroutine itself.
            stage::FILE => notes.place,
            _ => Some(line),
        };
        let is_next = |noted: &NotedWait| {
            // A condition that did not hold is checked again in the next run, by a new
            // registration. It is one wait all the same.
            let asks_again = matches!(wait, Wait::Condition { .. })
                && noted.at == at
                && noted.wait == wait
                && !is_under_way(core, task, noted.id);
            noted.id == id && id != WaitId::Unknown || asks_again
        };
        if let Some(noted) = notes.waits.iter_mut().find(|noted| is_next(noted)) {
            (noted.id, noted.at) = (id, at);
            return None;
        }
        notes.waits.push(NotedWait {
            id,
            wait: wait.clone(),
            at,
        });
        Some(at)
    });
    if let Some(at) = begins
        .flatten()
        .filter(|_| core.instruments.trace.is_full())
    {
        trace::note(core, task, Traced::WaitBegan { wait, at });
    }
}

/// A wait for a deadline on a clock, as it begins.
pub(crate) fn timer(core: &Core, phase: PhaseIndex, clock: ClockRef<'_>, deadline_ns: u64) -> Wait {
    let state = core.phases.get(phase);
    let left_ns = deadline_ns.saturating_sub(state.reached_ns(&core.clock, clock));
    Wait::Timer {
        phase: phase.phase(),
        clock: clock_of_index(state.measure(clock.index())),
        deadline: Duration::from_nanos(deadline_ns),
        left: Duration::from_nanos(left_ns),
    }
}

/// Whether a noted wait still waits for its coroutine.
fn is_under_way(core: &Core, task: Task<'_>, id: WaitId) -> bool {
    match id {
        WaitId::Registered(key) => core.waits().is_of(key, Some(task)),
        WaitId::Event(index, serial) => core.event_waits.borrow().is_live(index, serial),
        WaitId::Unknown => false,
    }
}

/// Ends the waits that are over when a poll begins: one of them has resumed the coroutine.
pub(crate) fn begin_poll(core: &Core, task: Task<'_>) {
    let waits = observe::notes(core, task, |notes| {
        notes.resumed_from = notes.waits.first().and_then(|wait| wait.at);
        mem::take(&mut notes.waits)
    });
    let waits = waits.unwrap_or_default();
    let over = |noted: &NotedWait| !is_under_way(core, task, noted.id);
    let served = waits.iter().find(|noted| over(noted));
    let resumed_from = served.and_then(|noted| noted.at);
    // The poll may show that a condition goes on waiting.
    let ends = |noted: &NotedWait| !matches!(noted.wait, Wait::Condition { .. }) && over(noted);
    let (ended, rest): (Vec<_>, Vec<_>) = waits.into_iter().partition(ends);
    observe::notes(core, task, |notes| {
        notes.waits = rest;
        notes.resumed_from = resumed_from.or(notes.resumed_from);
    });
    for noted in ended {
        note_ended(core, task, noted);
    }
}

/// Ends the waits that are over after a poll. If nothing is left, the coroutine waits for
/// something of another crate, or for nothing.
pub(crate) fn end_poll(core: &Core, task: Task<'_>) {
    let waits = observe::notes(core, task, |notes| mem::take(&mut notes.waits));
    let over =
        |noted: &NotedWait| noted.id != WaitId::Unknown && !is_under_way(core, task, noted.id);
    let (ended, mut rest): (Vec<_>, Vec<_>) = waits.unwrap_or_default().into_iter().partition(over);
    for noted in ended {
        note_ended(core, task, noted);
    }
    if rest.is_empty() && !task.has(Flags::READY) && core.instruments.trace.is_full() {
        let phase = task.home().phase();
        let wait = if task.has(Flags::TASK_WAKER) {
            Wait::Wake { phase }
        } else {
            Wait::Never
        };
        rest.push(NotedWait {
            id: WaitId::Unknown,
            wait: wait.clone(),
            at: None,
        });
        trace::note(core, task, Traced::WaitBegan { wait, at: None });
    }
    observe::notes(core, task, |notes| notes.waits = rest);
}

/// Notes that a wait is over.
pub(crate) fn note_ended(core: &Core, task: Task<'_>, noted: NotedWait) {
    let NotedWait { wait, at, .. } = noted;
    trace::note(core, task, Traced::WaitEnded { wait, at });
}

/// The line of a wait, if it was noted.
pub(crate) fn line_of(core: &Core, task: Task<'_>, id: WaitId) -> Option<Line> {
    if !task.has(Flags::OBSERVED) {
        return None;
    }
    let find = |notes: &mut crate::inspect::Observed| {
        let noted = notes.waits.iter().find(|noted| noted.id == id);
        noted.and_then(|noted| noted.at)
    };
    observe::notes(core, task, find).flatten()
}
