//! A gem is taken, heals, and grows again.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::{Health, until_near};
use crate::hero::{HEARTS, hero};
use crate::light::Lamp;
use crate::lit::lit_prop;
use crate::purse::Purse;
use crate::spark;

const COLOUR: Color = Color::srgb(0.45, 0.85, 1.0);
const REACH: f32 = 90.0;

pub(crate) fn spawn(world: &mut World, at: Vec2) {
    let lamp = Lamp {
        reach: REACH,
        colour: Vec3::new(0.25, 0.6, 0.85),
    };
    let glow = Picture::Glow.tinted(70.0, COLOUR.with_alpha(0.4));
    world.spawn((
        lit_prop(Picture::Gem, at, lamp, (glow, Vec2::ZERO), 30.0),
        Scripts::of(grow_and_be_taken),
    ));
}

/// The script of a gem.
async fn grow_and_be_taken(gem: Entity) -> Result<(), Missing> {
    let home = gem.get(|place: &Transform| place.translation)?;
    loop {
        appear(gem).await;
        select! {
            () = until_near(gem, hero(), 34.0) => {}
            () = hover(gem, home) => {}
        }
        spark::burst(home.truncate(), COLOUR, 14);
        resource_mut(|purse: &mut Purse| purse.0 += 5);
        hero().get_mut(|health: &mut Health| health.0 = (health.0 + 1).min(HEARTS))?;
        gem.with(|place: &mut Transform, lamp: &mut Lamp| {
            place.scale = Vec3::ZERO;
            lamp.reach = 0.0;
        })?;
        wait_seconds(6).await;
    }
}

/// It grows, a little too much, and back.
async fn appear(gem: Entity) {
    animate(0.5, |t| {
        let size = t * (1.0 + 1.6 * (1.0 - t));
        let grown = gem.with(|place: &mut Transform, lamp: &mut Lamp| {
            place.scale = Vec3::splat(size);
            lamp.reach = REACH * t;
        });
        grown.expect("its scripts end with the gem");
    })
    .await;
}

/// Up and down, without end.
async fn hover(gem: Entity, home: Vec3) {
    loop {
        animate(1.6, |t| {
            let height = Vec3::Y * 4.0 * (t * TAU).sin();
            let moved = gem.get_mut(|place: &mut Transform| place.translation = home + height);
            moved.expect("its scripts end with the gem");
        })
        .await;
    }
}
