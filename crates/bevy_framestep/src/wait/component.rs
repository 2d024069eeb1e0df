//! Waits for conditions on a component.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use framestep::Phase;
use futures::future::FusedFuture;

use super::WaitUntilWorld;
use super::conditions::Ask;
use crate::error::Missing;
use crate::name::{NameOf, short_name};

/// The future of [`ScriptEntity::wait_until`](crate::ScriptEntity::wait_until) and
/// [`ScriptEntity::removed`](crate::ScriptEntity::removed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct ComponentUntil {
    wait: WaitUntilWorld,
    result: Outcome,
}

/// Why a wait ended. It is ready once that is known.
pub(super) type Outcome = Rc<Cell<Result<(), Missing>>>;

/// Writes what is checked, of this entity.
type WriteName = fn(&mut fmt::Formatter<'_>, NameOf) -> fmt::Result;

/// A condition on an entity.
struct OfEntity<P> {
    entity: Entity,
    /// `None` once the future has ended. It returns `None` without the component.
    holds: Option<P>,
    component: Missing,
    name: WriteName,
    outcome: Outcome,
}

impl<P: FnMut(EntityRef<'_>) -> Option<bool> + 'static> Ask for OfEntity<P> {
    #[inline]
    fn holds(&mut self, world: &World) -> bool {
        let Some(holds) = &mut self.holds else {
            return false;
        };
        let missing = match world.get_entity(self.entity) {
            Ok(found) => match holds(found) {
                Some(holds) => return holds,
                None => self.component,
            },
            Err(_) => self.component.without_entity(),
        };
        self.outcome.set(Err(missing));
        true
    }

    fn forget(&mut self) {
        self.holds = None;
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.name)(f, NameOf(self.entity))
    }
}

/// Waits until `holds` is true of an entity, or fails.
fn wait_until_entity(
    entity: Entity,
    component: Missing,
    name: WriteName,
    holds: impl FnMut(EntityRef<'_>) -> Option<bool> + 'static,
) -> (WaitUntilWorld, Outcome) {
    let outcome = Rc::new(Cell::new(Ok(())));
    let wait = WaitUntilWorld::of(OfEntity {
        entity,
        holds: Some(holds),
        component,
        name,
        outcome: outcome.clone(),
    });
    (wait, outcome)
}

impl ComponentUntil {
    #[track_caller]
    pub(crate) fn new<C: Component>(
        entity: Entity,
        condition: impl FnMut(&C) -> bool + 'static,
    ) -> Self {
        Self::named(entity, condition, |f, of| {
            write!(f, "a condition on {} of {of}", short_name::<C>())
        })
    }

    #[track_caller]
    pub(super) fn named<C: Component>(
        entity: Entity,
        mut condition: impl FnMut(&C) -> bool + 'static,
        name: WriteName,
    ) -> Self {
        let missing = Missing::component::<C>(entity);
        let (wait, result) = wait_until_entity(entity, missing, name, move |found| {
            found.get::<C>().map(&mut condition)
        });
        ComponentUntil { wait, result }
    }

    #[track_caller]
    pub(crate) fn removed<C: Component>(entity: Entity) -> Self {
        let name: WriteName = |f, of| write!(f, "the removal of {} from {of}", short_name::<C>());
        let missing = Missing::component::<C>(entity);
        let (wait, result) =
            wait_until_entity(entity, missing, name, |found| Some(!found.contains::<C>()));
        ComponentUntil { wait, result }
    }

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

impl Future for ComponentUntil {
    type Output = Result<(), Missing>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.wait)
            .poll(cx)
            .map(|()| self.result.get())
    }
}

impl FusedFuture for ComponentUntil {
    fn is_terminated(&self) -> bool {
        self.wait.is_terminated()
    }
}

impl fmt::Debug for ComponentUntil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentUntil")
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
