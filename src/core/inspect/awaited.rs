//! The waits of observed coroutines: what for, at which line, and when they are over.
//!
//! A wait is noted where it registers. Nothing tells when it is over: a wait is served and
//! dropped on the fastest ways of the core. So that is found out before and after each
//! poll of its coroutine, by its key.

use std::time::Duration;

use crate::core::Core;
use crate::core::inspect::{notes, trace};
use crate::core::registration::key::WaitKey;
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task, block};
use crate::inspect::{Line, NotedWait, Observed, TimerClock, Traced, Wait, WaitId};
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
    let begins = notes::with(core, task, |notes| {
        sort_out(core, task, notes, |_| true);
        let at = match line.file() {
            // The wait is the future of the coroutine itself.
            block::FILE => notes.place,
            _ => Some(line),
        };
        let is_next = |noted: &NotedWait| {
            // A condition that did not hold is checked again in the next run, by a new
            // registration. It is one wait all the same.
            let asks_again = matches!(wait, Some(Wait::Condition { .. }))
                && (noted.at, &noted.wait) == (at, &wait)
                && !is_under_way(core, task, noted.id);
            noted.id == id && id != WaitId::Unknown || asks_again
        };
        if let Some(noted) = notes.waits.iter_mut().find(|noted| is_next(noted)) {
            (noted.id, noted.at) = (id, at);
            return None;
        }
        notes.waits.push(NotedWait {
            id,
            at,
            wait: wait.clone(),
        });
        Some(at)
    });
    if let (Some(Some(at)), Some(wait)) = (begins, wait) {
        trace::note(core, task, Traced::WaitBegan { wait, at });
    }
}

/// Removes the waits that were over when the poll under way began, unless that has been
/// done. One of them has resumed the coroutine. `ends` is called with each, and says whether
/// it is removed now.
fn sort_out(
    core: &Core,
    task: Task<'_>,
    notes: &mut Observed,
    mut ends: impl FnMut(&mut NotedWait) -> bool,
) {
    if notes.is_sorted_out {
        return;
    }
    notes.is_sorted_out = true;
    notes.resumed_from = None;
    let first = notes.waits.first().and_then(|noted| noted.at);
    notes.waits.retain_mut(|noted| {
        if is_under_way(core, task, noted.id) {
            return true;
        }
        notes.resumed_from = notes.resumed_from.or(noted.at);
        !ends(noted)
    });
    notes.resumed_from = notes.resumed_from.or(first);
}

/// The line from which an observed coroutine has continued in the poll under way.
pub(crate) fn resumed_from(core: &Core, task: Task<'_>) -> Option<Line> {
    let find = |notes: &mut Observed| {
        sort_out(core, task, notes, |_| true);
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

/// Ends the waits that are over when a poll of a full trace begins.
pub(crate) fn begin_poll(core: &Core, task: Task<'_>) {
    let mut ended = Vec::new();
    notes::with(core, task, |notes| {
        sort_out(core, task, notes, |noted| {
            // The poll may show that a condition goes on waiting.
            let may_go_on = matches!(noted.wait, Some(Wait::Condition { .. }));
            if !may_go_on {
                ended.push((noted.wait.take(), noted.at));
            }
            !may_go_on
        });
    });
    note_all_ended(core, task, ended);
}

/// Ends the waits that are over after a poll of a full trace. If nothing is left, the
/// coroutine waits for something of another crate, or for nothing.
pub(crate) fn end_poll(core: &Core, task: Task<'_>) {
    let mut ended = Vec::new();
    let is_left = notes::with(core, task, |notes| {
        notes.waits.retain_mut(|noted| {
            let goes_on = noted.id == WaitId::Unknown || is_under_way(core, task, noted.id);
            if !goes_on {
                ended.push((noted.wait.take(), noted.at));
            }
            goes_on
        });
        !notes.waits.is_empty()
    });
    note_all_ended(core, task, ended);
    if is_left == Some(false) && !task.has(Flags::READY) {
        let phase = task.home().phase();
        let wait = if task.has(Flags::TASK_WAKER) {
            Wait::Wake { phase }
        } else {
            Wait::Never
        };
        notes::with(core, task, |notes| {
            notes.waits.push(NotedWait {
                id: WaitId::Unknown,
                at: None,
                wait: Some(wait.clone()),
            });
        });
        trace::note(core, task, Traced::WaitBegan { wait, at: None });
    }
}

fn note_all_ended(core: &Core, task: Task<'_>, ended: Vec<(Option<Wait>, Option<Line>)>) {
    for (wait, at) in ended {
        notes::note_wait_ended(core, task, wait, at);
    }
}

/// The lines of a coroutine's noted waits, for a snapshot. Most coroutines have one: it is
/// copied while the notes are at hand, because to find them again takes longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NotedLines {
    first: Option<(WaitId, Option<Line>)>,
    has_more: bool,
}

impl NotedLines {
    pub(crate) fn of(notes: &Observed) -> Self {
        NotedLines {
            first: notes.waits.first().map(|noted| (noted.id, noted.at)),
            has_more: notes.waits.len() > 1,
        }
    }

    /// The line of a wait of `task`, if it was noted.
    pub(crate) fn line_of(self, core: &Core, task: Task<'_>, id: WaitId) -> Option<Line> {
        match self.first {
            Some((first, at)) if first == id => at,
            _ if self.has_more => line_of(core, task, id),
            _ => None,
        }
    }
}

fn line_of(core: &Core, task: Task<'_>, id: WaitId) -> Option<Line> {
    let find = |notes: &mut Observed| {
        let noted = notes.waits.iter().find(|noted| noted.id == id);
        noted.and_then(|noted| noted.at)
    };
    notes::with(core, task, find).flatten()
}
