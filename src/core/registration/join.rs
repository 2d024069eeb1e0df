//! How a join registers: with the task that it joins, instead of a phase.

use std::panic::Location;
use std::task::Context;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::inspect::awaited;
use crate::core::registration::renew::{foreign_waker, renew_entry};
use crate::core::registration::tag::Stage;
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::{self, Scope};
use crate::core::task::Reference;
use crate::inspect::Wait;

impl Registration {
    /// Waits for the end of a task of `core`.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self, core: &Core, cx: &Context<'_>, target: &Reference) {
        let line = Location::caller();
        let awaits_itself = scope::with(|scope| {
            // If no coroutine of this executor polls the join, only its waker is called
            // at the end of the task.
            let scope = scope.filter(|scope| scope.core().id == core.id);
            let target = core.tasks.of(target);
            let own = scope.and_then(|scope| scope.own_task(cx));
            if own == Some(target) {
                return true;
            }
            let task = scope.and_then(Scope::current);
            let key = task.map_or(TaskKey::NOBODY, |task| task.task_key());
            let waker = foreign_waker(cx, own);
            if core.waits().is_live(self.key) {
                renew_entry(core, self.key, key, waker);
            } else if !target.has_ended() {
                self.cancel(WaitList::Joins);
                // A join has no phase: the joiner continues at once.
                self.tag.executor = core.id;
                self.tag.stage = Stage::Waiting;
                self.key = core.entries.borrow_mut().insert(key, waker, false);
                core.waits().join(target, self.key);
            }
            if let Some(scope) = scope {
                awaited::note(scope, self.key_and_phase(), line, |_| Wait::Join {
                    id: core.id_of(target),
                });
            }
            false
        });
        assert!(
            !awaits_itself,
            "coroutine {} awaits its own end, which would never come: return from it, or call \
             `stop(current())`",
            core.id_of(core.tasks.of(target))
        );
    }
}
