//! Waits for the end of an entity.

use std::convert::Infallible;

use bevy_ecs::prelude::*;
use framestep::with;
use futures::channel::oneshot::{self, Receiver, Sender};

/// Who waits for the end of the entity: dropping the component tells them, on whichever
/// thread that is.
#[derive(Component, Default)]
struct Ends(Vec<Sender<Infallible>>);

impl Ends {
    /// Adds one. The work is constant on average: those that do not wait any more are
    /// looked for when the list has doubled.
    fn add(&mut self, sender: Sender<Infallible>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|sender| !sender.is_canceled());
            self.0.reserve(self.0.len() + 1);
        }
        self.0.push(sender);
    }
}

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
        ends.add(sender);
    } else {
        entity.insert(Ends(vec![sender]));
    }
    Some(receiver)
}

#[cfg(test)]
mod tests {
    use super::{Ends, oneshot};

    #[test]
    fn the_list_holds_those_that_wait() {
        let mut ends = Ends::default();
        let mut waiting = Vec::new();
        for _ in 0..100 {
            let (sender, receiver) = oneshot::channel();
            ends.add(sender);
            waiting.push(receiver);
            for _ in 0..100 {
                ends.add(oneshot::channel().0);
            }
        }
        assert!(ends.0.len() <= 500, "{}", ends.0.len());
        assert_eq!(ends.0.iter().filter(|of| !of.is_canceled()).count(), 100);
    }
}
