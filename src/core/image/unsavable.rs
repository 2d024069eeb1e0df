//! Why an executor cannot be saved.

use std::fmt;

use crate::task::coroutine::CoroutineId;

/// Why an executor cannot be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsavable {
    /// It has coroutines that the caller does not know.
    OtherCoroutines,
    /// Starts or ends beyond a limit are deferred to the next run.
    WorkLeft,
    /// This coroutine polls a wait with another waker than its own.
    ForeignWakers(Option<CoroutineId>),
    /// This coroutine has registered a wait that the caller does not know, or something keeps a
    /// waker of it.
    OtherWait(CoroutineId),
    /// A guard changes the speed of a clock.
    ClockGuards,
    /// A wait counts on a clock that the caller does not know.
    UnknownClock,
}

impl fmt::Display for Unsavable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsavable::OtherCoroutines => {
                "the executor has coroutines that are not durable scripts: run those in an \
                 executor of their own"
            }
            Unsavable::WorkLeft => {
                "starts or ends beyond the limit of a run are deferred to the next one: save after it"
            }
            Unsavable::ForeignWakers(_) => {
                "it polls a wait with another waker than its own, as `FuturesUnordered` does: use \
                 the combinators of framestep"
            }
            Unsavable::OtherWait(_) => {
                "it awaits what is not recorded, such as a signal, a watch or a semaphore of \
                 `framestep`, or a future of another crate: use the waits of `framestep_durable`"
            }
            Unsavable::ClockGuards => {
                "a guard holds a clock or scales it: use `pause` and `set_scale` on clocks that \
                 are saved"
            }
            Unsavable::UnknownClock => {
                "a wait counts on a clock that the runtime does not know: make clocks with the \
                 runtime"
            }
        })
    }
}

impl std::error::Error for Unsavable {}
