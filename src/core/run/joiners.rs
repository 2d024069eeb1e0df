//! Polling joiners: right after the poll that ended the joined coroutine, depth first.

use std::task::Context;

use crate::core::pause;
use crate::core::run::joins;
use crate::core::run::runaway;
use crate::core::task::Flags;

use super::resume::Resumer;

impl<'s> Resumer<'_, 's> {
    /// Polls the joiners of the tasks that ended in the last poll. Continues with the
    /// joiners of tasks that end in these polls.
    #[inline(always)]
    pub(super) fn poll_joiners(self, cx: &mut Context<'s>) {
        if self.core.runs.completions.has_ended() {
            self.poll_waiting_joiners(cx);
        }
    }

    #[inline(never)]
    pub(super) fn poll_waiting_joiners(self, cx: &mut Context<'s>) {
        let core = self.core;
        while let Some(key) = {
            self.scope.clear_current();
            joins::next(core)
        } {
            let Some(task) = core.waits().take(key) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                pause::remember_wake(core, task, task.home());
            } else if core.runs.limits.spend() {
                self.resume_unwoken(task, cx);
            } else {
                runaway::postpone(core, task, task.home());
            }
        }
    }
}
