//! A door opens for the hero, and shuts behind.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::{Barrier, place_in};
use crate::hero::hero_in;
use crate::layer;
use crate::level::{DOORWAY, LINTEL, Prop};

const NEAR: f32 = 110.0;
/// How much of a leaf is seen when it is open.
const OPEN: f32 = 0.12;

pub(crate) fn spawn(world: &mut World, foot: Vec2) {
    let middle = foot + Vec2::Y * LINTEL / 2.0;
    let leaf = Picture::Door.drawn();
    let hinge = Transform::from_translation(middle.extend(layer::FLAT));
    world.spawn((Prop, leaf, hinge, shut(foot), Scripts::of(open_and_shut)));
}

fn shut(foot: Vec2) -> Barrier {
    let side = vec2(DOORWAY / 2.0, 0.0);
    Barrier(Rect::from_corners(
        foot - side,
        foot + side + Vec2::Y * LINTEL,
    ))
}

/// The script of a door.
async fn open_and_shut(door: Entity) -> Result<(), Missing> {
    let hinge = door.get(|place: &Transform| place.translation)?;
    let foot = hinge.truncate() - Vec2::Y * LINTEL / 2.0;
    loop {
        wait_until_world(move |world| hero_is_near(world, foot)).await;
        turn(door, hinge, 1.0, OPEN).await;
        door.remove::<Barrier>()?;
        wait_until_world(move |world| !hero_is_near(world, foot)).await;
        wait_seconds(0.3).await;
        door.insert(shut(foot))?;
        turn(door, hinge, OPEN, 1.0).await;
    }
}

/// Turns the leaf on its hinge, which is at its left side.
async fn turn(door: Entity, hinge: Vec3, from: f32, to: f32) {
    animate(0.45, |t| {
        let width = from.lerp(to, t * t * (3.0 - 2.0 * t));
        let moved = door.get_mut(|place: &mut Transform| {
            place.scale.x = width;
            place.translation = hinge - Vec3::X * DOORWAY / 2.0 * (1.0 - width);
        });
        moved.expect("its scripts end with the door");
    })
    .await;
}

fn hero_is_near(world: &World, foot: Vec2) -> bool {
    let middle = foot + Vec2::Y * LINTEL;
    let hero = place_in(world, hero_in(world));
    hero.is_some_and(|hero| hero.distance(middle) < NEAR)
}
