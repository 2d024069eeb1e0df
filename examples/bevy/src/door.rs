//! A door opens for the walker, and shuts behind it.

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::scene::Walker;

pub(crate) const COLOUR: Color = Color::srgb(0.85, 0.6, 0.25);
pub(crate) const SIZE: [f32; 2] = [10.0, 80.0];

const NEAR: f32 = 75.0;

/// The script of a door.
pub(crate) async fn open_and_shut(door: Entity) -> Result<(), Missing> {
    let shut = door.get(|place: &Transform| place.translation.y)?;
    let open = shut + SIZE[1];
    loop {
        wait_until_world(move |world| walker_is_near(world, door)).await;
        slide(door, shut, open).await;
        wait_until_world(move |world| !walker_is_near(world, door)).await;
        wait_seconds(0.25).await;
        slide(door, open, shut).await;
    }
}

async fn slide(door: Entity, from: f32, to: f32) {
    animate(0.4, |t| {
        let y = from.lerp(to, t);
        let moved = door.get_mut(|place: &mut Transform| place.translation.y = y);
        moved.expect("its scripts end with the door");
    })
    .await;
}

fn walker_is_near(world: &World, door: Entity) -> bool {
    let x = |entity: Entity| {
        let place = world.get::<Transform>(entity)?;
        Some(place.translation.x)
    };
    let walker = world.resource::<Walker>().0;
    match (x(walker), x(door)) {
        (Some(walker), Some(door)) => (walker - door).abs() < NEAR,
        _ => false,
    }
}
