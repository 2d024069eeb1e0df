//! How a coroutine ended, and what it returned.

use crate::core::Core;
use crate::core::task::{State, Task, TaskOf};
use crate::task::coroutine::{JoinError, Outcome};

/// Takes the output of a task. Returns the output, or an error if there is none or it
/// has been taken, and how the task ended.
#[inline]
pub(crate) fn take_result<T>(core: &Core, task: TaskOf<'_, T>) -> (Result<T, JoinError>, Outcome) {
    if let Some(output) = core.tasks.take_output(task) {
        return (Ok(output), Outcome::Finished);
    }
    let task = task.get();
    let outcome = outcome(task).unwrap_or(Outcome::Stopped);
    (Err(join_error(core, task)), outcome)
}

/// How a task ended, if it has.
#[inline]
pub(crate) fn outcome(task: Task<'_>) -> Option<Outcome> {
    match task.state() {
        State::Finished | State::Taken => Some(Outcome::Finished),
        State::Stopped => Some(Outcome::Stopped),
        State::Panicked => Some(Outcome::Panicked),
        _ => None,
    }
}

/// The error of a task that has no output. Takes the payload of its panic.
#[cold]
fn join_error(core: &Core, task: Task<'_>) -> JoinError {
    let (id, name) = (core.id_of(task), core.name_of(task));
    let panicked = core.colds.of(task, |cold| cold.panic.take()).flatten();
    if let Some(panicked) = panicked {
        return JoinError::panicked(id, name, panicked.into_payload());
    }
    let stopper = core.colds.of(task, |cold| cold.stopper.take()).flatten();
    JoinError::stopped(id, name, stopper)
}
