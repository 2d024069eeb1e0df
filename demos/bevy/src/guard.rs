//! Guards walk up and down, until they see the hero.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::body::{Feet, Foe, Health, place, place_in, stride, until_far};
use crate::foe::{hunt, suffer};
use crate::foes::on_foes_clock;
use crate::hero::{hero, hero_in, shadow_below};
use crate::layer::{self, standing};
use crate::level::Prop;

const SPEED: f32 = 80.0;
const HASTE: f32 = 118.0;
/// How far it sees, and how far it follows.
const SIGHT: f32 = 190.0;
const PATIENCE: f32 = 270.0;

/// Where it looks.
#[derive(Component)]
struct Gaze(Vec2);

pub(crate) fn spawn(world: &mut World, one: Vec2, other: Vec2) {
    let sight = Picture::Sight.tinted(SIGHT, Color::srgba(1.0, 0.9, 0.5, 0.28));
    let place = Transform::from_xyz(0.0, 0.0, layer::GLOW - layer::STANDING);
    let sight = world.spawn((sight, place)).id();
    let shadow = Picture::Shadow.tinted(46.0, Color::WHITE);
    let scripts = on_foes_clock(world)
        .and(suffer)
        .and(|guard| stride(guard, 4))
        .and(move |guard| keep_watch(guard, sight, [other, one]));
    let mut guard = world.spawn((
        Prop,
        Foe,
        Health(3),
        Gaze(Vec2::X),
        Picture::Guard.drawn(),
        Transform::from_translation(standing(one)),
        children![(shadow, shadow_below(-19.0))],
    ));
    guard.add_child(sight);
    guard.insert(scripts);
}

/// The script of a guard: it patrols until it sees the hero, chases him, and patrols again.
async fn keep_watch(guard: Entity, sight: Entity, ends: [Vec2; 2]) -> Result<(), Missing> {
    loop {
        select! {
            walked = patrol(guard, sight, ends) => walked?,
            () = wait_until_world(move |world| sees_hero(world, guard)) => {}
        }
        alarm(guard, sight).await?;
        select! {
            hunted = hunt(guard, HASTE) => hunted?,
            () = until_far(guard, hero(), PATIENCE) => {}
        }
        sight.get_mut(|place: &mut Transform| place.scale = Vec3::ONE)?;
        wait_seconds(0.8).await;
    }
}

/// To one end, a look around, and to the other end.
async fn patrol(guard: Entity, sight: Entity, ends: [Vec2; 2]) -> Result<(), Missing> {
    let feet = Feet::new();
    for goal in ends.into_iter().cycle() {
        look(guard, sight, goal - place(guard)?)?;
        while !feet.approach(guard, goal, SPEED)? {
            next_frame().await;
        }
        wait_seconds(0.7).await;
    }
    Ok(())
}

fn look(guard: Entity, sight: Entity, way: Vec2) -> Result<(), Missing> {
    let way = way.normalize_or(Vec2::X);
    guard.with(|gaze: &mut Gaze, drawn: &mut Drawn| {
        gaze.0 = way;
        drawn.flip_x = way.x < 0.0;
    })?;
    sight.get_mut(|place: &mut Transform| {
        place.translation = (way * SIGHT / 2.0).extend(place.translation.z);
        place.rotation = Quat::from_rotation_z(way.to_angle());
    })
}

/// It has seen the hero: shows a sign over its head.
async fn alarm(guard: Entity, sight: Entity) -> Result<(), Missing> {
    sight.get_mut(|place: &mut Transform| place.scale = Vec3::ZERO)?;
    let sign = Picture::Alarm.tinted(44.0, Color::srgb(1.0, 0.8, 0.25));
    let place = Transform::from_xyz(0.0, 40.0, layer::SIGN - layer::STANDING);
    let sign = commands(|commands| commands.spawn((sign, place, ChildOf(guard))).id());
    animate(0.45, |t| {
        let size = 1.0 + 0.6 * (1.0 - t) * (1.0 - t);
        let moved = sign.get_mut(|place: &mut Transform| place.scale = Vec3::splat(size));
        moved.expect("nothing else despawns it while this runs");
    })
    .await;
    sign.despawn()
}

fn sees_hero(world: &World, guard: Entity) -> bool {
    let hero = place_in(world, hero_in(world));
    let gaze = world.get::<Gaze>(guard);
    let (Some(hero), Some(at), Some(gaze)) = (hero, place_in(world, guard), gaze) else {
        return false;
    };
    let way = hero - at;
    way.length() < SIGHT && way.normalize_or_zero().dot(gaze.0) > 0.85
}
