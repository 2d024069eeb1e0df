//! Waits for changes of a component.

use std::cell::Cell;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use framestep::{wait_until, with};

use crate::error::Missing;

#[track_caller]
pub(crate) fn changed<C: Component>(
    entity: Entity,
) -> impl Future<Output = Result<(), Missing>> + use<C> {
    // From here on, changes have a later tick, also in the run under way.
    let since = Cell::new(with(World::increment_change_tick));
    async move {
        let result = Cell::new(Ok(()));
        wait_until(|| {
            with(
                |world: &mut World| match has_changed::<C>(world, entity, since.get()) {
                    Ok(false) => {
                        // Ticks are compared by age, which has a bound. This one stays young.
                        since.set(world.increment_change_tick());
                        false
                    }
                    Ok(true) => true,
                    Err(missing) => {
                        result.set(Err(missing));
                        true
                    }
                },
            )
        })
        .await;
        result.get()
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
