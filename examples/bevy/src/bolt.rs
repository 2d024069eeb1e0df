//! A bolt flies until it hits the hero or a wall.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::{Feet, Foe, Hit, place};
use crate::foe::touch;
use crate::foes::on_foes_clock;
use crate::layer;
use crate::level::{ARENA, Prop};
use crate::light::Lamp;
use crate::spark;

const COLOUR: Color = Color::srgb(1.0, 0.5, 0.35);

/// Fires a bolt from `at`, with this speed.
pub(crate) fn shoot(at: Vec2, speed: Vec2) {
    with(|world: &mut World| {
        let glow = Picture::Glow.tinted(64.0, COLOUR.with_alpha(0.6));
        let turn = Quat::from_rotation_z(speed.to_angle());
        let place = Transform::from_translation(at.extend(layer::GLOW)).with_rotation(turn);
        let scripts = on_foes_clock(world).and(move |bolt| fly(bolt, speed));
        world.spawn((
            Prop,
            Foe,
            Picture::Bolt.tinted(48.0, Color::srgb(1.0, 0.85, 0.6)),
            place,
            Lamp {
                reach: 90.0,
                colour: Vec3::new(1.2, 0.4, 0.25),
            },
            scripts,
            children![(glow, Transform::from_xyz(0.0, 0.0, -0.1))],
        ));
    });
}

/// The script of a bolt. The sword can parry it.
async fn fly(bolt: Entity, speed: Vec2) -> Result<(), Missing> {
    select! {
        landed = until_it_lands(bolt, speed) => landed?,
        parried = bolt.next_event::<Hit>() => _ = parried?,
    }
    spark::burst(place(bolt)?, COLOUR, 6);
    bolt.despawn()
}

async fn until_it_lands(bolt: Entity, speed: Vec2) -> Result<(), Missing> {
    let feet = Feet::new();
    // It starts in the wall that its turret hangs on.
    let mut has_left = false;
    loop {
        next_frame().await;
        let step = speed * delta_seconds();
        bolt.get_mut(|place: &mut Transform| place.translation += step.extend(0.0))?;
        let at = place(bolt)?;
        let is_free = feet.is_free(at);
        let is_over = has_left && !is_free || at.y > ARENA.y + 400.0;
        if is_over || touch(bolt, 16.0)? {
            return Ok(());
        }
        has_left |= is_free;
    }
}
