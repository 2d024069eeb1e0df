//! Waits for the end of an entity.

use std::convert::Infallible;

use bevy_ecs::prelude::*;
use framestep::with;
use futures::channel::oneshot::{self, Receiver, Sender};

/// Who waits for the end of the entity: dropping the component tells them, on whichever
/// thread that is.
#[derive(Component, Default)]
struct Ends(Vec<Sender<Infallible>>);

#[track_caller]
pub(crate) fn despawned(entity: Entity) -> impl Future<Output = ()> + use<> {
    let mut end = with(|world: &mut World| end_of(world, entity));
    async move {
        while let Some(wait) = end {
            let Err(oneshot::Canceled) = wait.await;
            // Only the component may be gone.
            end = with(|world: &mut World| end_of(world, entity));
        }
    }
}

/// `None`: the entity is not there.
fn end_of(world: &mut World, entity: Entity) -> Option<Receiver<Infallible>> {
    let mut entity = world.get_entity_mut(entity).ok()?;
    let (sender, receiver) = oneshot::channel();
    if let Some(mut ends) = entity.get_mut::<Ends>() {
        ends.0.retain(|sender| !sender.is_canceled());
        ends.0.push(sender);
    } else {
        entity.insert(Ends(vec![sender]));
    }
    Some(receiver)
}
