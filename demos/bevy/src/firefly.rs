//! Fireflies fly about, and glow now and then.

use std::f32::consts::PI;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::body::place;
use crate::dice::{any_way, roll};
use crate::layer;
use crate::level::Prop;
use crate::light::Lamp;

const COLOUR: Vec3 = Vec3::new(0.35, 0.6, 0.2);

pub(crate) fn spawn(world: &mut World, at: Vec2) {
    world.spawn((
        Prop,
        Picture::Glow.tinted(26.0, Color::srgb(0.85, 1.0, 0.5)),
        Transform::from_translation(at.extend(layer::GLOW)),
        Lamp {
            reach: 80.0,
            colour: COLOUR,
        },
        Scripts::of(wander).and(pulse),
    ));
}

/// A script of a firefly: never far from where it began.
async fn wander(firefly: Entity) -> Result<(), Missing> {
    let home = place(firefly)?;
    loop {
        let from = place(firefly)?;
        let goal = home + any_way() * roll(10.0..60.0);
        animate(roll(1.2..2.6), |t| {
            let at = from.lerp(goal, t * t * (3.0 - 2.0 * t));
            let moved = firefly.get_mut(|place: &mut Transform| {
                place.translation = at.extend(layer::GLOW);
            });
            moved.expect("its scripts end with the firefly");
        })
        .await;
    }
}

/// Another script of a firefly.
async fn pulse(firefly: Entity) {
    loop {
        wait_seconds(roll(0.2..1.0)).await;
        animate(roll(1.0..2.0), |t| {
            let light = 0.25 + 0.75 * (t * PI).sin();
            let lit = firefly.with(|lamp: &mut Lamp, drawn: &mut Drawn| {
                lamp.colour = COLOUR * light;
                drawn.color.set_alpha(light);
            });
            lit.expect("its scripts end with the firefly");
        })
        .await;
    }
}
