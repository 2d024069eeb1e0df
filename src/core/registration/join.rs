//! How a join registers: with the task or the owner that it joins, instead of a phase.

use std::panic::Location;
use std::task::{Context, Poll};

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::owners::{NextEnd, OwnerKey};
use crate::core::registration::renew::{foreign_waker, renew_entry};
use crate::core::registration::tag::Stage;
use crate::core::registration::{Registration, WaitList};
use crate::core::scope::{self, Scope};
use crate::core::task::Reference;
use crate::inspect::{Wait, awaited};
use crate::task::coroutine::CoroutineId;

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
            // Behind a combinator, too, whose waker is not that of the coroutine.
            if scope.and_then(Scope::polled) == Some(target) {
                return true;
            }
            let own = scope.and_then(|scope| scope.own_task(cx));
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

    /// Waits for an end of an owner of `core`. `function` is the call that made the wait, for
    /// messages.
    #[track_caller]
    pub(crate) fn poll_owner_end(
        &mut self,
        core: &Core,
        cx: &Context<'_>,
        owner: OwnerKey,
        end: NextEnd,
        function: &str,
    ) -> Poll<()> {
        let line = Location::caller();
        let is_over = || core.owners.borrow().has_come(owner, end);
        if is_over() {
            return self.end_without_owner();
        }
        expect_from_outside(core, owner, function);
        scope::with(|scope| {
            let scope = scope.filter(|scope| scope.core().id == core.id);
            let own = scope.and_then(|scope| scope.own_task(cx));
            let task = scope.and_then(Scope::current);
            let task = task.map_or(TaskKey::NOBODY, |task| task.task_key());
            // Cloning the waker is user code: it may have ended the coroutines.
            let waker = foreign_waker(cx, own);
            if core.waits().is_live(self.key) {
                renew_entry(core, self.key, task, waker);
            } else if !is_over() {
                self.tag.executor = core.id;
                self.tag.stage = Stage::Waiting;
                self.key = core.entries.borrow_mut().insert(task, waker, false);
                let is_live = |key| core.waits().is_live(key);
                core.owners.borrow_mut().add_end(owner, self.key, is_live);
            }
            if let Some(scope) = scope {
                awaited::note(scope, self.key_and_phase(), line, |_| Wait::Scripts {
                    owner: core.owners.borrow().label(owner).into(),
                });
            }
        });
        if is_over() {
            self.end_without_owner()
        } else {
            Poll::Pending
        }
    }

    /// Ends a wait for the end of an owner.
    pub(crate) fn end_without_owner(&mut self) -> Poll<()> {
        self.cancel(WaitList::Joins);
        self.tag.stage = Stage::Done;
        Poll::Ready(())
    }
}

/// Panics if the coroutine that is being polled is on the owner whose end it awaits, or on an
/// owner below that.
#[track_caller]
pub(crate) fn expect_from_outside(core: &Core, owner: OwnerKey, function: &str) {
    let inside = scope::with(|scope| {
        let task = scope.filter(|scope| scope.core().id == core.id)?.polled()?;
        let of_task = core.owners.of(task)?;
        let is_within = core.owners.borrow().is_within(of_task, owner);
        is_within.then(|| core.id_of(task))
    });
    if let Some(id) = inside {
        awaits_its_own_owner(core, id, owner, function);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn awaits_its_own_owner(core: &Core, id: CoroutineId, owner: OwnerKey, function: &str) -> ! {
    let label = core.owners.borrow().label(owner);
    panic!(
        "coroutine {id} awaits `{function}` of the owner `{label}`, on which it runs itself, so \
         that would never come: await it in a coroutine of another owner, or call `stop_all()` \
         to end the others"
    )
}
