//! Where bodies are, where they may walk, and what hits them.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::layer::standing;

/// Blocks everything that walks or flies.
#[derive(Component)]
pub(crate) struct Barrier(pub(crate) Rect);

#[derive(Component)]
pub(crate) struct Health(pub(crate) u32);

/// The hero's sword hits it.
#[derive(Component)]
pub(crate) struct Foe;

/// Something has hit the entity, from there.
#[derive(EntityEvent, Clone)]
pub(crate) struct Hit {
    pub(crate) entity: Entity,
    pub(crate) from: Vec2,
}

/// Where an entity is.
pub(crate) fn place(entity: Entity) -> Result<Vec2, Missing> {
    entity.get(|place: &Transform| place.translation.truncate())
}

/// Where an entity is, for conditions.
pub(crate) fn place_in(world: &World, entity: Entity) -> Option<Vec2> {
    let place = world.get::<Transform>(entity)?;
    Some(place.translation.truncate())
}

/// Waits until two entities are near each other.
pub(crate) async fn until_near(one: Entity, other: Entity, distance: f32) {
    wait_until_world(move |world| are_near(world, one, other, distance)).await;
}

/// Waits until two entities are not near each other.
pub(crate) async fn until_far(one: Entity, other: Entity, distance: f32) {
    wait_until_world(move |world| !are_near(world, one, other, distance)).await;
}

fn are_near(world: &World, one: Entity, other: Entity, distance: f32) -> bool {
    match (place_in(world, one), place_in(world, other)) {
        (Some(one), Some(other)) => one.distance(other) < distance,
        _ => false,
    }
}

/// The obstacles for everyone who walks.
pub(crate) struct Feet {
    barriers: ScriptQuery<&'static Barrier>,
}

impl Feet {
    /// How far the middle of a body stays away from walls.
    const ROOM: f32 = 14.0;

    pub(crate) fn new() -> Self {
        Feet { barriers: query() }
    }

    /// Goes a step, or along the wall that is in the way.
    pub(crate) fn step(&self, who: Entity, step: Vec2) -> Result<(), Missing> {
        let mut at = place(who)?;
        for part in [step * Vec2::X, step * Vec2::Y] {
            if self.is_free(at + part) {
                at += part;
            }
        }
        who.get_mut(|place: &mut Transform| place.translation = standing(at))
    }

    /// Goes a step towards a point. Returns whether it has arrived.
    pub(crate) fn approach(&self, who: Entity, goal: Vec2, speed: f32) -> Result<bool, Missing> {
        let at = place(who)?;
        let step = speed * delta_seconds();
        self.step(who, at.move_towards(goal, step) - at)?;
        Ok(at.distance(goal) <= step)
    }

    /// Whether it is neither a wall nor a shut door.
    pub(crate) fn is_free(&self, at: Vec2) -> bool {
        let mut is_free = true;
        self.barriers.for_each(|barrier| {
            is_free &= !barrier.0.inflate(Self::ROOM).contains(at);
        });
        is_free
    }
}
