//! A bolt flies until it hits the hero or a wall.

use bevy::prelude::*;
use bevy_framestep::durable::Durable;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::Picture;
use crate::body::{Feet, Foe, Hit, place};
use crate::foe::touch;
use crate::foes::on_foes_clock;
use crate::layer;
use crate::level::{ARENA, Prop};
use crate::light::Lamp;
use crate::spark;

const COLOUR: Color = Color::srgb(1.0, 0.5, 0.35);

/// The state of its script is here, so that the script can begin again after a load.
#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
pub(crate) struct Bolt {
    speed: [f32; 2],
    /// It starts in the wall that its turret hangs on.
    has_left: bool,
}

/// Fires a bolt from `at`, with this speed.
pub(crate) fn shoot(at: Vec2, speed: Vec2) {
    let turn = Quat::from_rotation_z(speed.to_angle());
    let place = Transform::from_translation(at.extend(layer::GLOW)).with_rotation(turn);
    let bolt = Bolt {
        speed: speed.into(),
        has_left: false,
    };
    with(|world: &mut World| {
        let bolt = world.spawn((bolt, Foe, place)).id();
        dress(world, bolt);
    });
}

/// Gives a bolt, which may come from a save, what is not saved.
pub(crate) fn dress(world: &mut World, bolt: Entity) {
    let glow = Picture::Glow.tinted(64.0, COLOUR.with_alpha(0.6));
    let scripts = on_foes_clock(world).and(fly);
    world.entity_mut(bolt).insert((
        Prop,
        Picture::Bolt.tinted(48.0, Color::srgb(1.0, 0.85, 0.6)),
        Lamp {
            reach: 90.0,
            colour: Vec3::new(1.2, 0.4, 0.25),
        },
        scripts,
        children![(glow, Transform::from_xyz(0.0, 0.0, -0.1))],
    ));
}

/// The script of a bolt. The sword can parry it.
async fn fly(bolt: Entity) -> Result<(), Missing> {
    select! {
        landed = until_it_lands(bolt) => landed?,
        parried = bolt.next_event::<Hit>() => _ = parried?,
    }
    spark::burst(place(bolt)?, COLOUR, 6);
    bolt.despawn()
}

async fn until_it_lands(bolt: Entity) -> Result<(), Missing> {
    let feet = Feet::new();
    loop {
        next_frame().await;
        let seconds = delta_seconds();
        let (at, has_left) = bolt.with(|place: &mut Transform, bolt: &Bolt| {
            let step = Vec2::from(bolt.speed) * seconds;
            place.translation += step.extend(0.0);
            (place.translation.truncate(), bolt.has_left)
        })?;
        let is_free = feet.is_free(at);
        let is_over = has_left && !is_free || at.y > ARENA.y + 400.0;
        if is_over || touch(bolt, 16.0)? {
            return Ok(());
        }
        if is_free && !has_left {
            bolt.get_mut(|bolt: &mut Bolt| bolt.has_left = true)?;
        }
    }
}
