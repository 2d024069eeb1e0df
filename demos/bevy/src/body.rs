//! Where bodies are, where they may walk, and what hits them.

use bevy::prelude::*;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::Drawn;
use crate::layer::standing;

/// Blocks everything that walks or flies.
#[derive(Component)]
pub(crate) struct Barrier(pub(crate) Rect);

#[derive(Component, Serialize, Deserialize)]
pub(crate) struct Health(pub(crate) u32);

/// The hero's sword hits it.
#[derive(Component, Serialize, Deserialize)]
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

/// Waits until two entities are near each other. No `async fn`: so tools name the line
/// of the script that awaits it.
pub(crate) fn until_near(one: Entity, other: Entity, distance: f32) -> impl Future<Output = ()> {
    wait_until_world(move |world| are_near(world, one, other, distance))
}

/// Waits until two entities are not near each other.
pub(crate) fn until_far(one: Entity, other: Entity, distance: f32) -> impl Future<Output = ()> {
    wait_until_world(move |world| !are_near(world, one, other, distance))
}

fn are_near(world: &World, one: Entity, other: Entity, distance: f32) -> bool {
    match (place_in(world, one), place_in(world, other)) {
        (Some(one), Some(other)) => one.distance(other) < distance,
        _ => false,
    }
}

/// A pose other than those of a walk, for a moment.
#[derive(Component, Default)]
pub(crate) struct Pose(pub(crate) Option<u16>);

/// A script of everyone who walks: the pose follows the way. The first pose stands, the others
/// are a walk.
pub(crate) async fn stride(who: Entity, walk: u16) -> Result<(), Missing> {
    /// The length of a step, in pixels.
    const STEP: f32 = 9.0;
    let (mut last, mut way) = (place(who)?, 0.0);
    let mut walked = 0;
    loop {
        next_frame().await;
        let at = place(who)?;
        let step = at.distance(last);
        last = at;
        way += step;
        if way > STEP {
            way = 0.0;
            walked = (walked + 1) % walk;
        }
        let walks = if step > 0.1 { 1 + walked } else { 0 };
        let pose = who.with(|pose: Option<&Pose>| pose.and_then(|pose| pose.0))?;
        let pose = pose.unwrap_or(walks);
        if !who.get(|drawn: &Drawn| drawn.has_pose(pose))? {
            who.get_mut(|drawn: &mut Drawn| drawn.set_pose(pose))?;
        }
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

    /// Goes towards a point, with this speed. Returns whether it has arrived.
    pub(crate) fn approach(&self, who: Entity, goal: Vec2, speed: f32) -> Result<bool, Missing> {
        self.approach_by(who, goal, speed * delta_seconds())
    }

    /// Goes a step of this length towards a point. Returns whether it has arrived.
    pub(crate) fn approach_by(&self, who: Entity, goal: Vec2, step: f32) -> Result<bool, Missing> {
        let at = place(who)?;
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
