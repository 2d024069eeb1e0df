//! No run without end: how much of what happens during it a run still polls.

#![forbid(unsafe_code)]

use crate::report::Report;
use crate::task::{Flags, TaskRef, Wakeup};
use crate::ticket::Ticket;

use super::Core;

/// Polls that a run may owe to spawns and joins during it, per poll that one
/// coroutine may owe to wakes, on top of one for every coroutine there is.
const BUDGET_FACTOR: u64 = 100;

impl Core {
    /// For a run that begins now.
    pub(super) fn grant_budget(&self) {
        let alive = self.tasks.borrow().alive() as u64;
        let extra = BUDGET_FACTOR * u64::from(self.max_polls_per_run);
        self.budget.set(alive.saturating_add(extra));
    }

    /// Leaves a coroutine to the next run that was called more often in this one
    /// than is good.
    #[cold]
    pub(super) fn put_off_greedy(&self, task: TaskRef, wakeup: Wakeup, calls: u32) {
        // Once in a run.
        if calls == self.max_polls_per_run + 1 {
            self.report_greedy(task, self.max_polls_per_run);
        }
        self.postpone(wakeup);
    }

    /// Takes one poll from the run's budget. `false`: there is none left.
    pub(super) fn spend(&self) -> bool {
        let budget = self.budget.get();
        self.budget.set(budget.saturating_sub(1));
        budget > 0
    }

    /// Leaves a coroutine that is ready to the next run of the phase.
    #[cold]
    pub(super) fn postpone(&self, wakeup: Wakeup) {
        let task = self.tasks.borrow().woken(wakeup);
        let Some(task) = task else {
            return;
        };
        self.list(task, task.last_phase(), |arrivals| arrivals.push(wakeup));
        self.report_runaway();
    }

    #[cold]
    pub(super) fn postpone_joiner(&self, ticket: Ticket) {
        if let Some(task) = self.task_of(ticket).filter(|task| task.is_alive()) {
            if !task.has(Flags::QUEUED) {
                self.enlist_in(task, task.last_phase());
            }
        }
        self.report_runaway();
    }

    fn report_runaway(&self) {
        // The budget is spent for good: of the many this holds up, one reports.
        let phase = self.run.get();
        if let Some(phase) = phase.filter(|_| self.budget.get() == 0) {
            if self.runaway_in.replace(self.run_serial.get()) != self.run_serial.get() {
                self.reports.send(&Report::Runaway {
                    frame: self.clock.frame(),
                    phase: phase.phase(),
                });
            }
        }
    }

    #[cold]
    fn report_greedy(&self, task: TaskRef, polls: u32) {
        let report = Report::Greedy {
            id: self.id_of(task),
            name: self.name_of(task),
            frame: self.clock.frame(),
            phase: task.last_phase().phase(),
            polls,
        };
        self.reports.send(&report);
    }
}
