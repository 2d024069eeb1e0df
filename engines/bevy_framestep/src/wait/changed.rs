//! Waits for changes of a component.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use framestep::{Phase, with};
use futures::FutureExt;
use futures::future::FusedFuture;

use super::{WaitUntilWorld, wait_until_world};
use crate::error::Missing;

/// The future of [`ScriptEntity::changed`](crate::ScriptEntity::changed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct ComponentChanged<C> {
    wait: WaitUntilWorld,
    /// Why the wait ends.
    result: Rc<Cell<Result<(), Missing>>>,
    component: PhantomData<fn() -> C>,
}

impl<C: Component> ComponentChanged<C> {
    #[track_caller]
    pub(crate) fn new(entity: Entity) -> Self {
        let result = Rc::new(Cell::new(Ok(())));
        let end = result.clone();
        // From here on, changes have a later tick, even in the current run.
        let mut since = with(World::increment_change_tick);
        let wait = wait_until_world(move |world| match has_changed::<C>(world, entity, since) {
            Ok(false) => {
                // Ticks are compared by age, which is bounded, so the tick is kept recent. A
                // later change can have the present tick.
                let now = world.read_change_tick();
                if now != since {
                    since = Tick::new(now.get().wrapping_sub(1));
                }
                false
            }
            Ok(true) => true,
            Err(missing) => {
                end.set(Err(missing));
                true
            }
        });
        ComponentChanged {
            wait,
            result,
            component: PhantomData,
        }
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

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait.poll_unpin(cx).map(|()| self.result.get())
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

fn has_changed<C: Component>(world: &World, entity: Entity, since: Tick) -> Result<bool, Missing> {
    let found = world
        .get_entity(entity)
        .map_err(|_| Missing::entity(entity))?;
    match found.get_change_ticks::<C>() {
        Some(ticks) => Ok(ticks.is_changed(since, world.read_change_tick())),
        None => Err(Missing::component::<C>(entity)),
    }
}
