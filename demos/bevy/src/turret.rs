//! Gargoyles in the wall, which glow before they spit fire.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::body::{place, place_in};
use crate::bolt;
use crate::foes::on_foes_clock;
use crate::hero::{hero, hero_in};
use crate::layer;
use crate::level::Prop;
use crate::light::Lamp;

const RANGE: f32 = 420.0;
const SPEED: f32 = 230.0;

pub(crate) fn spawn(world: &mut World, at: Vec2, after: f32) {
    let ember = Picture::Glow.tinted(70.0, Color::srgba(1.0, 0.4, 0.15, 0.0));
    let place = Transform::from_xyz(0.0, -8.0, layer::GLOW - layer::FLAT);
    let ember = world.spawn((ember, place)).id();
    let scripts = on_foes_clock(world).and(move |turret| guard_hall(turret, ember, after));
    let mut turret = world.spawn((
        Prop,
        Picture::Gargoyle.drawn(),
        Transform::from_translation(at.extend(layer::FLAT)),
        Lamp {
            reach: 0.0,
            colour: Vec3::new(1.4, 0.45, 0.2),
        },
    ));
    turret.add_child(ember);
    turret.insert(scripts);
}

/// The script of a turret: only while the hero is in the hall below.
async fn guard_hall(turret: Entity, ember: Entity, after: f32) -> Result<(), Missing> {
    let mouth = place(turret)? - Vec2::Y * 8.0;
    loop {
        wait_until_world(move |world| hero_is_below(world, mouth)).await;
        wait_seconds(after).await;
        charge(turret, ember).await;
        ember.get_mut(|drawn: &mut Drawn| drawn.color.set_alpha(0.0))?;
        let towards = (place(hero())? - mouth).normalize_or(Vec2::NEG_Y);
        bolt::shoot(mouth, towards * SPEED);
        recoil(turret, towards).await?;
        wait_seconds(0.9).await;
    }
}

/// The glow shows where the next bolt comes from.
async fn charge(turret: Entity, ember: Entity) {
    animate(0.7, |t| {
        let light = ember.with(|drawn: &mut Drawn, place: &mut Transform| {
            drawn.color.set_alpha(t);
            place.scale = Vec3::splat(1.5 - 0.7 * t);
        });
        light.expect("it is a part of the turret");
        let lit = turret.get_mut(|lamp: &mut Lamp| lamp.reach = 120.0 * t);
        lit.expect("its scripts end with the turret");
    })
    .await;
}

async fn recoil(turret: Entity, towards: Vec2) -> Result<(), Missing> {
    let home = turret.get(|place: &Transform| place.translation)?;
    animate(0.3, |t| {
        let back = towards.extend(0.0) * -6.0 * (1.0 - t);
        let moved = turret.with(|place: &mut Transform, lamp: &mut Lamp| {
            place.translation = home + back;
            lamp.reach = 120.0 * (1.0 - t);
        });
        moved.expect("its scripts end with the turret");
    })
    .await;
    Ok(())
}

fn hero_is_below(world: &World, mouth: Vec2) -> bool {
    let hero = place_in(world, hero_in(world));
    hero.is_some_and(|hero| hero.y < mouth.y - 40.0 && hero.distance(mouth) < RANGE)
}
