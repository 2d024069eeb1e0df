//! Waits for changes of a component.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use framestep::Phase;
use futures::future::FusedFuture;

use super::WaitUntilWorld;
use super::component::Outcome;
use super::conditions::{Ask, Gate, Run};
use super::scan::Scan;
use crate::borrow::{Call, with};
use crate::error::Missing;
use crate::executor::Shared;
use crate::name::{NameOf, short_name};

const CHANGED: Call = Call::new("changed", "use a `Query<&C, Changed<C>>`");

/// The future of [`ScriptEntity::changed`](crate::ScriptEntity::changed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct ComponentChanged<C> {
    wait: WaitUntilWorld,
    outcome: Outcome,
    component: PhantomData<fn() -> C>,
}

impl<C: Component> ComponentChanged<C> {
    #[track_caller]
    pub(crate) fn new(entity: Entity) -> Self {
        let outcome = Outcome::new(Cell::new(Ok(())));
        let missing = Missing::component::<C>(entity);
        // From here on, changes have a later tick, even in the current run.
        let (since, scan) = with(CHANGED, |world| {
            (world.increment_change_tick(), Shared::of(world).scan(world))
        });
        scan.waits.set(scan.waits.get() + 1);
        let wait = WaitUntilWorld::of(Changed::<C> {
            entity,
            missing,
            since,
            scan,
            outcome: outcome.clone(),
        });
        ComponentChanged {
            wait,
            outcome,
            component: PhantomData,
        }
    }
}

/// A change of a component, or its end.
struct Changed<C: Component> {
    entity: Entity,
    /// The error if the entity has no such component.
    missing: Missing,
    since: Tick,
    scan: Rc<Scan<C>>,
    outcome: Outcome,
}

impl<C: Component> Ask for Changed<C> {
    fn holds(&mut self, world: &World) -> bool {
        let found = world.get_entity(self.entity);
        let found = found.map_err(|_| self.missing.without_entity());
        let ticks = found.and_then(|found| {
            let ticks = found.get_change_ticks::<C>();
            ticks.ok_or(self.missing)
        });
        let now = world.read_change_tick();
        match ticks {
            Ok(ticks) if !ticks.is_changed(self.since, now) => {
                self.is_unchanged(now);
                false
            }
            ended => {
                self.outcome.set(ended.map(drop));
                true
            }
        }
    }

    fn holds_in(&mut self, world: &World, run: &Run<'_>) -> bool {
        if run.is_known && !self.scan.may_have_changed(run, self.entity) {
            self.is_unchanged(world.read_change_tick());
            return false;
        }
        self.holds(world)
    }

    fn gate(&self) -> Option<Rc<dyn Gate>> {
        Some(self.scan.clone())
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (component, of) = (short_name::<C>(), NameOf(self.entity));
        write!(f, "a change of {component} of {of}")
    }
}

impl<C: Component> Changed<C> {
    /// Ticks are compared by age, which is bounded, so the tick is kept recent. A later
    /// change can have the present tick.
    fn is_unchanged(&mut self, now: Tick) {
        if now != self.since {
            self.since = Tick::new(now.get().wrapping_sub(1));
        }
    }
}

impl<C: Component> Drop for Changed<C> {
    fn drop(&mut self) {
        self.scan.waits.set(self.scan.waits.get() - 1);
    }
}

impl<C> ComponentChanged<C> {
    /// Checks in the runs of `phase`, and resumes there.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.wait = self.wait.in_phase(phase);
        self
    }
}

impl<C> Future for ComponentChanged<C> {
    type Output = Result<(), Missing>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.wait)
            .poll(cx)
            .map(|()| self.outcome.get())
    }
}

impl<C> FusedFuture for ComponentChanged<C> {
    fn is_terminated(&self) -> bool {
        self.wait.is_terminated()
    }
}

impl<C> fmt::Debug for ComponentChanged<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentChanged")
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
