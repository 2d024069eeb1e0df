//! The hero walks, strikes, and is hurt.

use bevy::prelude::*;
use bevy_framestep::durable::Durable;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::{Drawn, Picture};
use crate::body::{Feet, Foe, Health, Hit, Pose, place, stride};
use crate::keys::{Key, Stick, pressed};
use crate::layer::{self, standing};
use crate::level::Prop;
use crate::light::Lamp;
use crate::spark;
use crate::stage::Quake;

pub(crate) const HEARTS: u32 = 6;

const SPEED: f32 = 165.0;
/// How far the sword reaches.
const REACH: f32 = 74.0;

/// The hero of the game that is played.
#[derive(Resource)]
struct TheHero(Entity);

/// Where the hero looks.
#[derive(Component)]
pub(crate) struct Facing(pub(crate) Vec2);

/// The hero has been hit, and is not hit again yet. It is not saved: a load ends it.
#[derive(Component)]
pub(crate) struct Hurt;

/// The hero.
pub(crate) fn hero() -> Entity {
    resource(|hero: &TheHero| hero.0)
}

/// The hero, for conditions.
pub(crate) fn hero_in(world: &World) -> Entity {
    world.resource::<TheHero>().0
}

/// Where the game begins.
const HOME: Vec2 = Vec2::new(-40.0, 110.0);

/// What is saved of a hero, with his place, his health, and where he looks.
#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
pub(crate) struct Hero;

pub(crate) fn spawn(world: &mut World) {
    let place = Transform::from_translation(standing(HOME));
    let hero = world.spawn((Hero, place, Health(HEARTS), Facing(Vec2::Y)));
    let hero = hero.id();
    dress(world, hero);
}

/// Gives the hero, who may come from a save, what is not saved.
pub(crate) fn dress(world: &mut World, hero: Entity) {
    let shadow = (
        Picture::Shadow.tinted(46.0, Color::WHITE),
        shadow_below(-19.0),
    );
    world.entity_mut(hero).insert((
        Prop,
        Picture::Hero.drawn(),
        Lamp {
            reach: 190.0,
            colour: Vec3::new(0.75, 0.62, 0.45),
        },
        Pose::default(),
        children![shadow],
    ));
    world.insert_resource(TheHero(hero));
    world.entity_mut(hero).start_script(|hero| stride(hero, 4));
    world.entity_mut(hero).start_script(suffer);
    world.entity_mut(hero).start_script(walk);
    world.entity_mut(hero).start_script(strike);
}

/// Stops the scripts through which the player controls the hero, for a scene.
pub(crate) fn hold(hero: Entity) -> Result<(), Missing> {
    hero.get(|scripts: &Scripts| {
        scripts.stop("walk");
        scripts.stop("strike");
    })?;
    hero.get_mut(|pose: &mut Pose| pose.0 = None)
}

/// Starts them again. They ignore keys that were pressed meanwhile.
pub(crate) fn let_go(hero: Entity) {
    hero.start(walk(hero));
    hero.start(strike(hero));
}

/// A flat round shadow, this far from the middle of the body.
pub(crate) fn shadow_below(y: f32) -> Transform {
    Transform::from_xyz(0.0, y, -0.01).with_scale(vec3(1.0, 0.5, 1.0))
}

/// A script of the hero: goes where the stick points to.
async fn walk(hero: Entity) -> Result<(), Missing> {
    let feet = Feet::new();
    loop {
        next_frame().await;
        let way = resource(|stick: &Stick| stick.0);
        let bounce = if way == Vec2::ZERO {
            1.0
        } else {
            feet.step(hero, way * SPEED * delta_seconds())?;
            1.0 + 0.06 * (time().elapsed.as_secs_f32() * 16.0).sin()
        };
        hero.with(
            |place: &mut Transform, facing: &mut Facing, drawn: &mut Drawn| {
                place.scale.y = bounce;
                facing.0 = way.try_normalize().unwrap_or(facing.0);
                drawn.flip_x = facing.0.x < -0.1 || (drawn.flip_x && facing.0.x < 0.1);
            },
        )?;
    }
}

/// A script of the hero: a blow with the sword for each key.
async fn strike(hero: Entity) -> Result<(), Missing> {
    let foes = query_filtered::<(Entity, &Transform), With<Foe>>();
    loop {
        pressed(Key::Act).await;
        let towards = hero.get(|facing: &Facing| facing.0)?;
        let at = place(hero)?;
        let mut hit = Vec::new();
        foes.for_each(|(foe, place)| {
            let way = place.translation.truncate() - at;
            // Large foes are hit from farther away.
            let reach = REACH * place.scale.x.max(1.0);
            if way.length() < reach && way.normalize_or(towards).dot(towards) > 0.2 {
                hit.push(foe);
            }
        });
        for entity in hit {
            trigger(Hit { entity, from: at });
        }
        swing(hero, at, towards).await?;
        wait_seconds(0.1).await;
    }
}

/// The sword's way through the air.
async fn swing(hero: Entity, at: Vec2, towards: Vec2) -> Result<(), Missing> {
    let slash = Picture::Slash.tinted(84.0, Color::srgb(0.85, 1.0, 0.95));
    let place = at + towards * 26.0;
    let place = Transform::from_translation(place.extend(layer::SPARK));
    let slash = commands(|commands| commands.spawn((Prop, slash, place)).id());
    animate(0.16, |t| {
        let turn = towards.to_angle() + 1.2 - 2.4 * t;
        let moved = slash.with(|place: &mut Transform, drawn: &mut Drawn| {
            place.rotation = Quat::from_rotation_z(turn);
            drawn.color.set_alpha(1.0 - t * t);
        });
        moved.expect("nothing else despawns it while this runs");
        let blow = if t < 0.4 { 5 } else { 6 };
        let posed = hero.get_mut(|pose: &mut Pose| pose.0 = Some(blow));
        posed.expect("its scripts end with the hero");
    })
    .await;
    hero.get_mut(|pose: &mut Pose| pose.0 = None)?;
    slash.despawn()
}

/// A script of the hero: each hit takes a heart. While he blinks, he is not hit again.
async fn suffer(hero: Entity) -> Result<(), Missing> {
    let feet = Feet::new();
    loop {
        let hit = hero.next_event::<Hit>().await?;
        hero.insert(Hurt)?;
        write_message(Quake(7.0));
        spark::burst(place(hero)?, Color::srgb(1.0, 0.3, 0.35), 12);
        let hearts = hero.get_mut(|health: &mut Health| {
            health.0 -= 1;
            health.0
        })?;
        let away = (place(hero)? - hit.from).normalize_or(Vec2::NEG_Y);
        for _ in 0..8 {
            feet.step(hero, away * 5.0)?;
            next_frame().await;
        }
        if hearts == 0 {
            fall(hero).await?;
        }
        for alpha in [0.3, 1.0].repeat(5) {
            hero.get_mut(|drawn: &mut Drawn| drawn.color.set_alpha(alpha))?;
            wait_seconds(0.12).await;
        }
        hero.remove::<Hurt>()?;
    }
}

/// The hero falls, and wakes up where the game began.
async fn fall(hero: Entity) -> Result<(), Missing> {
    animate(0.8, |t| {
        let fallen = hero.get_mut(|place: &mut Transform| {
            place.rotation = Quat::from_rotation_z(1.5 * t);
        });
        fallen.expect("its scripts end with the hero");
    })
    .await;
    wait_seconds(1).await;
    hero.with(|place: &mut Transform, health: &mut Health| {
        *place = Transform::from_translation(standing(HOME));
        health.0 = HEARTS;
    })
}
