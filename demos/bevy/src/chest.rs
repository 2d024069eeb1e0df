//! A chest full of coins.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::place;
use crate::dice::roll;
use crate::hero::hero;
use crate::hint::until_used;
use crate::layer::{self, standing};
use crate::level::Prop;
use crate::light::Lamp;
use crate::purse::Purse;
use crate::spark;
use crate::stage::Quake;

const COINS: u8 = 16;
const GOLD: Color = Color::srgb(1.0, 0.85, 0.4);

/// The chest appears.
#[derive(EntityEvent, Clone)]
pub(crate) struct Appear(pub(crate) Entity);

/// Its coins are in the purse.
#[derive(EntityEvent, Clone)]
pub(crate) struct Emptied(Entity);

pub(crate) fn spawn(world: &mut World, at: Vec2) -> Entity {
    let place = Transform::from_xyz(0.0, 12.0, 0.001);
    let lid = world.spawn((Picture::Lid.drawn(), place)).id();
    let mut chest = world.spawn((
        Prop,
        Picture::Chest.drawn(),
        Transform::from_translation(standing(at)),
        Visibility::Hidden,
        Lamp {
            reach: 0.0,
            colour: Vec3::new(1.4, 1.0, 0.45),
        },
    ));
    chest.add_child(lid);
    chest.start_script(move |chest| be_opened(chest, lid));
    chest.id()
}

/// The script of a chest.
async fn be_opened(chest: Entity, lid: Entity) -> Result<(), Missing> {
    chest.next_event::<Appear>().await?;
    chest.insert(Visibility::Inherited)?;
    drop_down(chest).await?;
    until_used(chest).await?;
    animate(0.4, |t| {
        let opened = lid.get_mut(|place: &mut Transform| {
            place.translation.y = 12.0 + 12.0 * t;
            place.scale.y = 1.0 - 0.4 * t;
        });
        opened.expect("it is a part of the chest");
        let lit = chest.get_mut(|lamp: &mut Lamp| lamp.reach = 220.0 * t);
        lit.expect("its scripts end with the chest");
    })
    .await;
    // Each coin is a script; the chest is empty when all have ended.
    let mut coins = Vec::new();
    for number in 0..COINS {
        let at = place(chest)? + Vec2::Y * 8.0;
        let way = Vec2::from_angle(TAU * f32::from(number) / f32::from(COINS));
        let coin = throw_coin(at);
        coins.push(coin.start(jump_and_follow(coin, at, way * roll(40.0..90.0))));
        wait_seconds(0.04).await;
    }
    join_all(coins).await;
    trigger(Emptied(chest));
    Ok(())
}

async fn drop_down(chest: Entity) -> Result<(), Missing> {
    let home = chest.get(|place: &Transform| place.translation)?;
    animate(0.5, |t| {
        let height = Vec3::Y * 160.0 * (1.0 - t * t);
        let moved = chest.get_mut(|place: &mut Transform| place.translation = home + height);
        moved.expect("its scripts end with the chest");
    })
    .await;
    write_message(Quake(5.0));
    spark::burst(home.truncate(), GOLD, 20);
    Ok(())
}

fn throw_coin(at: Vec2) -> Entity {
    let place = Transform::from_translation(at.extend(layer::SPARK));
    commands(|commands| commands.spawn((Prop, Picture::Coin.drawn(), place)).id())
}

/// The script of a coin: out of the chest, and into the purse.
async fn jump_and_follow(coin: Entity, from: Vec2, way: Vec2) -> Result<(), Missing> {
    animate(0.6, |t| {
        let at = from + way * t + Vec2::Y * 240.0 * t * (1.0 - t);
        move_to(coin, at);
    })
    .await;
    wait_seconds(0.3).await;
    let from = place(coin)?;
    let hero = hero();
    animate(0.35, |t| {
        let goal = place(hero).unwrap_or(from);
        move_to(coin, from.lerp(goal, t * t));
    })
    .await;
    resource_mut(|purse: &mut Purse| purse.0 += 10);
    spark::burst(place(coin)?, GOLD, 4);
    coin.despawn()
}

fn move_to(coin: Entity, at: Vec2) {
    let moved = coin.get_mut(|place: &mut Transform| place.translation = at.extend(layer::SPARK));
    moved.expect("its scripts end with the coin");
}
