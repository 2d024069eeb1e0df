//! Yields: a coroutine that continues later in the run under way.
//!
//! A coroutine that wakes itself continues in the next run of its phase, so that it
//! cannot prolong the present run. A yield is the exception: the script asks for it.
//! Polls for yields have a limit, like those for wakes by other coroutines.

use crate::core::Core;
use crate::core::pause;
use crate::core::phase::schedule;
use crate::core::registration::another_executor;
use crate::core::scope::Scope;
use crate::core::task::Flags;
use crate::core::wake;

/// The turn in which a coroutine has yielded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    executor: u32,
    number: u64,
}

impl Turn {
    /// The present one. With each run and each turn in a run, the number grows.
    fn now(core: &Core) -> Self {
        Turn {
            executor: core.id,
            number: core.runs.serial() + core.ready.turns(),
        }
    }

    /// One that is over: no turn of a run has the number zero.
    pub(crate) fn of_earlier_run(core: &Core) -> Self {
        Turn {
            executor: core.id,
            number: 0,
        }
    }
}

/// Makes the coroutine that `scope` polls ready again, later in the run under way.
/// Returns `None` outside of a run.
pub(crate) fn yield_turn(core: &Core, scope: &Scope<'_>) -> Option<Turn> {
    core.runs.phase()?;
    yield_again(core, scope);
    Some(Turn::now(core))
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
    turn.number != Turn::now(core).number
}

/// Keeps up a yield that is polled before its turn: by a combinator in the same poll, by
/// another coroutine, or in a poll that used up the readiness that the yield had caused.
pub(crate) fn yield_again(core: &Core, scope: &Scope<'_>) {
    let Some(task) = scope.current() else {
        return;
    };
    match core.runs.phase() {
        // In each case the coroutine is polled again without a wake from outside: a yield is never lost.
        Some(phase) if task.has(Flags::PAUSED) => {
            pause::remember_wake(core, task, phase);
        }
        Some(_) => schedule::yields(core, task),
        None => wake::make_ready(core, task, task.home()),
    }
}
