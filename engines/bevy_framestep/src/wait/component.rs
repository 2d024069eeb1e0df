//! Waits for conditions on a component.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use framestep::Phase;
use futures::FutureExt;
use futures::future::FusedFuture;

use super::{WaitUntilWorld, wait_until_world};
use crate::error::Missing;

/// The future of [`ScriptEntity::wait_until`](crate::ScriptEntity::wait_until) and
/// [`ScriptEntity::removed`](crate::ScriptEntity::removed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct ComponentUntil {
    wait: WaitUntilWorld,
    /// Why the wait ends.
    result: Rc<Cell<Result<(), Missing>>>,
}

impl ComponentUntil {
    pub(crate) fn new<C: Component>(
        entity: Entity,
        mut condition: impl FnMut(&C) -> bool + 'static,
    ) -> Self {
        Self::of(move |world| {
            let found = world.get_entity(entity);
            let found = found.map_err(|_| Missing::entity(entity))?;
            let component = found.get::<C>();
            Ok(condition(component.ok_or(Missing::component::<C>(entity))?))
        })
    }

    pub(crate) fn removed<C: Component>(entity: Entity) -> Self {
        Self::of(move |world| {
            let found = world.get_entity(entity);
            let found = found.map_err(|_| Missing::entity(entity))?;
            Ok(!found.contains::<C>())
        })
    }

    fn of(mut condition: impl FnMut(&World) -> Result<bool, Missing> + 'static) -> Self {
        let result = Rc::new(Cell::new(Ok(())));
        let end = result.clone();
        ComponentUntil {
            wait: wait_until_world(move |world| match condition(world) {
                Ok(holds) => holds,
                Err(missing) => {
                    end.set(Err(missing));
                    true
                }
            }),
            result,
        }
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

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait.poll_unpin(cx).map(|()| self.result.get())
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
