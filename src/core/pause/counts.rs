//! Counts of pauses.

use std::cell::Cell;

use crate::core::base::cell::Guarded;
use crate::core::cold::Colds;
use crate::core::pause::state::Pause;
use crate::core::task::Task;
use crate::time::ClockIndex;

/// Counts of the pauses in one executor. The pause of a task is in its cold data.
#[derive(Default)]
pub(crate) struct Pauses {
    /// How many live coroutines are paused or have been paused.
    live: Cell<usize>,
    /// How often a coroutine was paused or resumed, or ended after a pause.
    changes: Cell<u64>,
    /// A buffer for the readings of one coroutine's clocks, kept to reuse its memory.
    pub(crate) readings: Guarded<Vec<(ClockIndex, u64)>>,
}

impl Pauses {
    /// Whether any live coroutine is paused or has ever been paused.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.live.get() > 0
    }

    /// A number that changes whenever a pause may have made a timer due earlier.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.get()
    }

    pub(crate) fn note_change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// Notes that a coroutine that had a pause has ended.
    pub(crate) fn note_ended(&self) {
        self.live.set(self.live.get() - 1);
        // A timer that it shared with another coroutine may count again.
        self.note_change();
    }

    /// Calls `f` with the pause of a task. Makes the pause if there is none.
    pub(crate) fn edit<R>(
        &self,
        colds: &Colds,
        task: Task<'_>,
        f: impl FnOnce(&mut Pause) -> R,
    ) -> R {
        colds.of_or_new(task, |cold| {
            if cold.pause.is_none() {
                self.live.set(self.live.get() + 1);
            }
            f(cold.pause.get_or_insert_default())
        })
    }
}
