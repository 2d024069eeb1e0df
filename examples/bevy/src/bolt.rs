//! A bolt flies until it hits the walker or a wall.

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::scene::{Walker, is_solid, place};
use crate::walker::Hit;

pub(crate) const COLOUR: Color = Color::srgb(1.0, 0.85, 0.4);
pub(crate) const LENGTH: f32 = 16.0;

const SPEED: f32 = 280.0;

/// How large it is drawn.
pub(crate) fn size(towards: Vec2) -> Vec2 {
    Vec2::splat(5.0) + towards.abs() * (LENGTH - 5.0)
}

/// The script of a bolt.
pub(crate) async fn fly(bolt: Entity, towards: Vec2) -> Result<(), Missing> {
    while !is_solid(place(bolt)?) {
        let walker = resource(|walker: &Walker| walker.0);
        if place(walker)?.distance(place(bolt)?) < 18.0 {
            trigger(Hit(walker));
            break;
        }
        next_frame().await;
        let step = towards * SPEED * delta_seconds();
        bolt.get_mut(|place: &mut Transform| place.translation += step.extend(0.0))?;
    }
    bolt.despawn()
}
