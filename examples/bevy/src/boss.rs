//! The king: he sleeps, he fights, and finally he is angry.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::body::{Feet, Foe, Health, place};
use crate::bolt;
use crate::dice::{any_way, roll};
use crate::foe::{suffer, touch};
use crate::foes::on_foes_clock;
use crate::hero::{hero, shadow_below};
use crate::imp;
use crate::layer::{self, standing};
use crate::level::{ARENA, Prop};
use crate::light::Lamp;
use crate::spark;
use crate::stage::Quake;

const HEALTH: u32 = 9;
const COLOUR: Vec3 = Vec3::new(0.9, 0.35, 1.3);
const ASLEEP: Color = Color::srgb(0.35, 0.3, 0.45);

/// The king wakes up.
#[derive(EntityEvent, Clone)]
pub(crate) struct Wake(pub(crate) Entity);

pub(crate) fn spawn(world: &mut World, at: Vec2) -> Entity {
    let shadow = Picture::Shadow.tinted(110.0, Color::WHITE);
    let mut drawn = Picture::King.drawn();
    drawn.color = ASLEEP;
    let scripts = on_foes_clock(world).and(reign);
    let king = world.spawn((
        Prop,
        Health(HEALTH),
        drawn,
        Transform::from_translation(standing(at)),
        Lamp {
            reach: 0.0,
            colour: COLOUR,
        },
        children![(shadow, shadow_below(-46.0))],
        scripts,
    ));
    king.id()
}

/// The script of the king: one phase after the other.
async fn reign(king: Entity) -> Result<(), Missing> {
    king.next_event::<Wake>().await?;
    wake_up(king).await?;
    king.insert(Foe)?;
    _ = king.start(suffer(king));
    select! {
        fought = fight(king) => fought?,
        hurt = king.wait_until(|health: &Health| health.0 <= HEALTH / 2) => hurt?,
    }
    call_imps(king).await?;
    rage(king).await
}

async fn wake_up(king: Entity) -> Result<(), Missing> {
    write_message(Quake(5.0));
    animate(1.0, |t| {
        let lit = king.with(
            |drawn: &mut Drawn, lamp: &mut Lamp, place: &mut Transform| {
                drawn.color = ASLEEP.mix(&Color::WHITE, t);
                lamp.reach = 260.0 * t;
                place.scale = Vec3::splat(1.0 + 0.25 * (t * TAU / 2.0).sin());
            },
        );
        lit.expect("his scripts end with the king");
    })
    .await;
    spark::burst(place(king)?, Color::srgb(0.8, 0.4, 1.0), 30);
    Ok(())
}

/// The first phase: rings of bolts, with a leap between them.
async fn fight(king: Entity) -> Result<(), Missing> {
    loop {
        charge(king, 0.8).await;
        ring(king, 10)?;
        wait_seconds(0.6).await;
        leap(king).await?;
    }
}

/// The second phase: he cannot be hurt until his imps are dead.
async fn call_imps(king: Entity) -> Result<(), Missing> {
    king.remove::<Foe>()?;
    king.get_mut(|drawn: &mut Drawn| drawn.color = ASLEEP)?;
    write_message(Quake(6.0));
    let mut imps = Vec::new();
    for _ in 0..4 {
        let at = ARENA + any_way() * roll(120.0..170.0);
        spark::burst(at, Color::srgb(0.9, 0.3, 0.7), 12);
        imps.push(imp::summon(at));
        wait_seconds(0.2).await;
    }
    join_all(imps.into_iter().map(ScriptEntity::despawned)).await;
    king.get_mut(|drawn: &mut Drawn| drawn.color = Color::WHITE)?;
    king.insert(Foe)
}

/// The last phase: spirals of bolts, and no pause.
async fn rage(king: Entity) -> Result<(), Missing> {
    loop {
        charge(king, 0.5).await;
        for number in 0_u8..14 {
            let way = Vec2::from_angle(TAU * f32::from(number) / 12.0);
            bolt::shoot(place(king)? + way * 40.0, way * 150.0);
            wait_seconds(0.1).await;
        }
        leap(king).await?;
    }
}

/// His light announces bolts.
async fn charge(king: Entity, seconds: f32) {
    animate(seconds, |t| {
        let lit = king.get_mut(|lamp: &mut Lamp| lamp.colour = COLOUR * (1.0 + 1.2 * t));
        lit.expect("his scripts end with the king");
    })
    .await;
}

fn ring(king: Entity, bolts: u8) -> Result<(), Missing> {
    let (at, turn) = (place(king)?, roll(0.0..TAU));
    for number in 0..bolts {
        let way = Vec2::from_angle(turn + TAU * f32::from(number) / f32::from(bolts));
        bolt::shoot(at + way * 40.0, way * 130.0);
    }
    king.get_mut(|lamp: &mut Lamp| lamp.colour = COLOUR)
}

/// Towards the hero, for a moment.
async fn leap(king: Entity) -> Result<(), Missing> {
    let feet = Feet::new();
    let goal = place(hero())?;
    let landed = async {
        while !feet.approach(king, goal, 190.0)? {
            if touch(king, 48.0)? {
                break;
            }
            next_frame().await;
        }
        Ok(())
    };
    select! {
        landed = landed => landed?,
        () = wait_seconds(1.0) => {}
    }
    write_message(Quake(4.0));
    let dust = layer::standing(place(king)?).truncate() - Vec2::Y * 40.0;
    spark::burst(dust, Color::srgb(0.6, 0.55, 0.7), 10);
    wait_seconds(0.5).await;
    Ok(())
}
