//! The waits of observed coroutines: what for, and at which line.
//!
//! A wait is noted where it registers. Nothing tells when it is over: a wait is served and
//! dropped on the fastest ways of the core. So that is found out by its key, once for each
//! poll of its coroutine, and when that poll has ended.

use std::mem::replace;
use std::time::Duration;

use crate::core::base::cell::Restore;
use crate::core::base::key::WaitKey;
use crate::core::scope::{self, Scope};
use crate::core::task::block;
use crate::core::view::{Script, View};
use crate::time::{ClockRef, Phase, PhaseIndex};

use super::call_chain::CallChain;
use super::observed::{Line, NotedWait, Observed, WaitId};
use super::trace::Waiting;
use super::wait::{TimerClock, Wait};

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
    let (view, script) = View::of(scope);
    let Some(script) = script.filter(|script| script.is_observed()) else {
        return;
    };
    let instruments = view.instruments();
    let wait = instruments.trace.is_full().then(wait);
    let outer = instruments.line.get();
    let line = match outer.filter(|(of, _)| *of == script.key()) {
        Some((_, outer)) => outer,
        None => line,
    };
    let chain = chain_of(view, script, id);
    script.notes(|notes| {
        sort_out(view, script, notes);
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
fn chain_of(view: View<'_>, script: Script<'_>, id: WaitId) -> Option<CallChain> {
    let is_noted = |notes: &mut Observed| notes.waits.iter().any(|noted| noted.id == id);
    let begins = || id == WaitId::Unknown || script.notes(is_noted) == Some(false);
    let captures = view.has_call_chains() && begins();
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
fn sort_out(view: View<'_>, script: Script<'_>, notes: &mut Observed) {
    if replace(&mut notes.is_sorted_out, true) {
        return;
    }
    let first = notes.waits.first().and_then(|noted| noted.at);
    notes.resumed_from = None;
    notes.waits.retain_mut(|noted| {
        noted.is_new = false;
        let goes_on = is_under_way(view, script, noted.id);
        if !goes_on {
            notes.resumed_from = notes.resumed_from.or(noted.at);
        }
        goes_on
    });
    notes.resumed_from = notes.resumed_from.or(first);
}

/// The line from which an observed coroutine has continued in the poll under way.
pub(crate) fn resumed_from(view: View<'_>, script: Script<'_>) -> Option<Line> {
    let find = |notes: &mut Observed| {
        sort_out(view, script, notes);
        notes.resumed_from
    };
    script.notes(find).flatten()
}

/// A wait for a deadline on a clock, as it begins.
pub(crate) fn timer(
    view: View<'_>,
    phase: PhaseIndex,
    clock: ClockRef<'_>,
    deadline_ns: u64,
) -> Wait {
    let (clock, reached_ns) = view.reading(phase, clock);
    Wait::Timer {
        phase: phase.phase(),
        clock: TimerClock::of(clock),
        deadline: Duration::from_nanos(deadline_ns),
        left: Duration::from_nanos(deadline_ns.saturating_sub(reached_ns)),
    }
}

/// Whether a noted wait still waits for its coroutine.
fn is_under_way(view: View<'_>, script: Script<'_>, id: WaitId) -> bool {
    match id {
        WaitId::Registered(key) => script.has_wait(key),
        WaitId::Event(index, serial) => view.instruments().event_waits.is_live(index, serial),
        WaitId::Unknown => false,
    }
}

/// What a coroutine waits for after a poll of a full trace. If it is nothing of this crate,
/// it waits for something of another one, or for nothing.
pub(super) fn after_poll(view: View<'_>, script: Script<'_>) -> Vec<Waiting> {
    let left = script.notes(|notes| {
        sort_out(view, script, notes);
        let goes_on = |id| id == WaitId::Unknown || is_under_way(view, script, id);
        notes.waits.retain(|noted| goes_on(noted.id));
        notes.waits.iter().filter_map(NotedWait::shown).collect()
    });
    let mut waits: Vec<Waiting> = left.unwrap_or_default();
    if waits.is_empty() && !script.is_ready() {
        let phase = script.home().phase();
        let wait = if script.has_given_waker() {
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
