//! Yields: a coroutine that continues later in the run under way.
//!
//! A coroutine that wakes itself continues in the next run of its phase, so that it
//! cannot prolong the present run. A yield is the exception: the script asks for it.
//! Yields have a limit, like wakes by other coroutines.

use crate::core::Core;
use crate::core::phase::schedule;
use crate::core::registration::another_executor;
use crate::core::run::runaway;
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task};
use crate::core::wake;
use crate::time::PhaseIndex;

/// The moment at which a coroutine has yielded: a turn of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    executor: u32,
    /// The number of the run, among those of all phases.
    run: u64,
    /// See [`Ready::turns`](crate::core::phase::ready::Ready::turns).
    turns: u64,
}

/// Makes the coroutine that `scope` polls ready again, later in the run under way. If it
/// has yielded too often in this run, makes it ready in the next run of the same phase.
/// Returns `None` outside of a run.
pub(crate) fn yield_turn(core: &Core, scope: &Scope<'_>) -> Option<Turn> {
    let phase = core.runs.phase()?;
    if let Some(task) = scope.current() {
        if runaway::may_yield(core, task, phase) {
            go_on_later(core, task, phase);
        } else {
            wake::make_ready(core, task, phase);
        }
    }
    Some(Turn {
        executor: core.id,
        run: core.runs.serial(),
        turns: core.ready.turns(),
    })
}

/// Whether it is the turn of the coroutine that yielded: since then, another coroutine
/// has had a turn, or another run has begun.
///
/// # Panics
///
/// If the coroutine yielded in another executor.
pub(crate) fn has_turn(core: &Core, turn: &Turn) -> bool {
    if turn.executor != core.id {
        another_executor();
    }
    (turn.run, turn.turns) != (core.runs.serial(), core.ready.turns())
}

/// Keeps up a yield that is polled again before its turn: by a combinator in the same
/// poll, by another coroutine, or in a poll that used up the readiness that the yield had caused.
pub(crate) fn yield_again(core: &Core, scope: &Scope<'_>) {
    if let Some(task) = scope.current() {
        match core.runs.phase() {
            Some(phase) => go_on_later(core, task, phase),
            None => wake::make_ready(core, task, task.home()),
        }
    }
}

fn go_on_later(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    if task.has(Flags::PAUSED) {
        core.pauses.remember_wake(&core.tasks, task, phase);
    } else {
        schedule::soon_once(core, task);
    }
}
