//! The waits of observed coroutines: what for, and at which line.
//!
//! A wait is noted where it registers. Nothing tells when it is over: a wait is served and
//! dropped on the fastest ways of the core. So that is found out by its key, once for each
//! poll of its coroutine, and when that poll has ended.

use std::mem::replace;
use std::time::Duration;

use crate::core::Core;
use crate::core::base::cell::Restore;
use crate::core::base::key::WaitKey;
use crate::core::inspect::notes;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, Task, block};
use crate::inspect::{CallChain, Line, NotedWait, Observed, TimerClock, Wait, WaitId, Waiting};
use crate::time::{ClockRef, Phase, PhaseIndex};

/// Notes a wait, by its key and phase, of the coroutine that `scope` polls, if it is
/// observed. `line` is that of the `.await`.
#[inline(always)]
pub(crate) fn note(
    scope: &Scope<'_>,
    (key, phase): (WaitKey, PhaseIndex),
    line: Line,
    wait: impl FnOnce(Phase) -> Wait,
) {
    if scope.core().instruments.is_on() {
        note_wait(scope, WaitId::Registered(key), line, || wait(phase.phase()));
    }
}

/// The same for any wait.
#[cold]
#[inline(never)]
pub(crate) fn note_wait(scope: &Scope<'_>, id: WaitId, line: Line, wait: impl FnOnce() -> Wait) {
    let core = scope.core();
    let Some(task) = scope.current().filter(|task| task.has(Flags::OBSERVED)) else {
        return;
    };
    let wait = core.instruments.trace.is_full().then(wait);
    let outer = core.instruments.line.get();
    let line = match outer.filter(|(of, _)| *of == task.task_key()) {
        Some((_, outer)) => outer,
        None => line,
    };
    let chain = chain_of(core, task, id);
    notes::with(core, task, |notes| {
        sort_out(core, task, notes);
        let at = match line.file() {
            // The wait is the future of the coroutine itself.
            block::FILE => notes.place,
            _ => Some(line),
        };
        let known = notes.waits.iter_mut().find(|noted| noted.id == id);
        match known.filter(|_| id != WaitId::Unknown) {
            Some(noted) => noted.at = at,
            None => notes.waits.push(NotedWait {
                id,
                at,
                wait,
                is_new: true,
                chain,
            }),
        }
    });
}

/// The call chain of a wait that begins, if the executor notes them. The functions are on the stack: they
/// are being polled.
fn chain_of(core: &Core, task: Task<'_>, id: WaitId) -> Option<CallChain> {
    let is_noted = |notes: &mut Observed| notes.waits.iter().any(|noted| noted.id == id);
    let begins = id == WaitId::Unknown || notes::with(core, task, is_noted) == Some(false);
    let captures = core.instruments.call_chains && begins;
    captures.then(CallChain::capture).flatten()
}

/// Calls `f`, in which the current coroutine polls the wait of an `.await` in `line`. For a wait
/// that is polled in a closure, which does not know the line of its caller.
pub(crate) fn in_line<R>(line: Line, f: impl FnOnce() -> R) -> R {
    scope::with(|scope| {
        let scope = scope.filter(|scope| scope.core().instruments.is_on());
        let _restored = scope.and_then(|scope| {
            let here = Some((scope.current()?.task_key(), line));
            let cell = &scope.core().instruments.line;
            Some(Restore::after_setting(cell, here))
        });
        f()
    })
}

/// Removes the waits that were over when the poll under way began, unless that has been
/// done. One of them has resumed the coroutine.
fn sort_out(core: &Core, task: Task<'_>, notes: &mut Observed) {
    if replace(&mut notes.is_sorted_out, true) {
        return;
    }
    let first = notes.waits.first().and_then(|noted| noted.at);
    notes.resumed_from = None;
    notes.waits.retain_mut(|noted| {
        noted.is_new = false;
        let goes_on = is_under_way(core, task, noted.id);
        if !goes_on {
            notes.resumed_from = notes.resumed_from.or(noted.at);
        }
        goes_on
    });
    notes.resumed_from = notes.resumed_from.or(first);
}

/// The line from which an observed coroutine has continued in the poll under way.
pub(crate) fn resumed_from(core: &Core, task: Task<'_>) -> Option<Line> {
    let find = |notes: &mut Observed| {
        sort_out(core, task, notes);
        notes.resumed_from
    };
    notes::with(core, task, find).flatten()
}

/// A wait for a deadline on a clock, as it begins.
pub(crate) fn timer(core: &Core, phase: PhaseIndex, clock: ClockRef<'_>, deadline_ns: u64) -> Wait {
    let state = core.phases.get(phase);
    let left_ns = deadline_ns.saturating_sub(state.reached_ns(&core.clock, clock));
    Wait::Timer {
        phase: phase.phase(),
        clock: TimerClock::of(state.measure(clock.index())),
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

/// What a coroutine waits for after a poll of a full trace. If it is nothing of this crate,
/// it waits for something of another one, or for nothing.
pub(crate) fn after_poll(core: &Core, task: Task<'_>) -> Vec<Waiting> {
    let left = notes::with(core, task, |notes| {
        sort_out(core, task, notes);
        let goes_on = |id| id == WaitId::Unknown || is_under_way(core, task, id);
        notes.waits.retain(|noted| goes_on(noted.id));
        notes.waits.iter().filter_map(NotedWait::shown).collect()
    });
    let mut waits: Vec<Waiting> = left.unwrap_or_default();
    if waits.is_empty() && !task.has(Flags::READY) {
        let phase = task.home().phase();
        let wait = if task.has(Flags::TASK_WAKER) {
            Wait::Wake { phase }
        } else {
            Wait::Never
        };
        waits.push(Waiting {
            wait,
            at: None,
            is_new: true,
        });
    }
    waits
}

/// The line of a wait of `task`, if it was noted.
pub(crate) fn line_of(core: &Core, task: Task<'_>, id: WaitId) -> Option<Line> {
    let find = |notes: &mut Observed| {
        let noted = notes.waits.iter().find(|noted| noted.id == id);
        noted.and_then(|noted| noted.at)
    };
    notes::with(core, task, find).flatten()
}
