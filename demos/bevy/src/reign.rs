//! The fight of the king, in durable scripts: it can be saved between two bolts of a volley, and
//! goes on with the next one.

use std::f32::consts::TAU;

use bevy::prelude::{Color, Entity, Vec2, World};
use bevy_framestep::durable::Missing;
use bevy_framestep::durable::prelude::*;
use bevy_framestep::framestep;
use bevy_framestep::prelude::write_message;

use crate::art::Drawn;
use crate::body::{Feet, Foe, Health, place};
use crate::boss::{ASLEEP, COLOUR, HEALTH};
use crate::dice::roll_for_king;
use crate::foe::touch;
use crate::foes::DurableFoesClock;
use crate::hero::hero;
use crate::layer;
use crate::level::ARENA;
use crate::light::Lamp;
use crate::stage::Quake;
use crate::{bolt, imp, spark};

/// The script of the king: one phase after the other. Each round is a chapter, so that a save
/// has to remember no more than one.
#[durable]
pub(crate) mod fight {
    #[allow(
        clippy::wildcard_imports,
        reason = "the chapters are a part of this file"
    )]
    use super::*;

    /// The first phase: rings of bolts, with a leap between them.
    #[chapter]
    pub(crate) async fn rings(king: DurableId) -> Result<Chapter, Missing> {
        select! {
            fought = on_clock(foes_clock(), ring_and_leap(king)) => {
                fought?;
                Ok(Chapter::Next(rings(king)))
            }
            hurt = king.wait_until(|health: &Health| health.0 <= HEALTH / 2) => {
                hurt?;
                Ok(Chapter::Next(imps(king)))
            }
        }
    }

    /// The second phase: he cannot be hurt until his imps are dead.
    #[chapter]
    async fn imps(king: DurableId) -> Result<Chapter, Missing> {
        king.remove::<Foe>()?;
        king.get_mut(|drawn: &mut Drawn| drawn.color = ASLEEP)?;
        effect(|| write_message(Quake(6.0)));
        let mut imps = Vec::new();
        for _ in 0..4 {
            let imp = effect(summon);
            imp.start(chase(imp))?.detach();
            imps.push(imp);
            on_clock(foes_clock(), wait_seconds(0.2)).await;
        }
        join_all(imps.into_iter().map(DurableId::despawned)).await;
        king.get_mut(|drawn: &mut Drawn| drawn.color = Color::WHITE)?;
        king.insert(Foe)?;
        Ok(Chapter::Next(rage(king)))
    }

    /// The last phase: spirals of bolts, and no pause.
    #[chapter]
    async fn rage(king: DurableId) -> Result<Chapter, Missing> {
        on_clock(foes_clock(), async {
            charge(king, 0.5).await;
            for number in 0_u8..14 {
                effect(|| shoot(king, 150.0, TAU * f32::from(number) / 12.0));
                wait_seconds(0.1).await;
            }
            leap(king).await
        })
        .await?;
        Ok(Chapter::Next(rage(king)))
    }
}

/// The script of an imp: it runs after the hero. Each step is a chapter.
#[durable]
pub(crate) async fn chase(imp: DurableId) -> Chapter {
    let seconds = on_clock(foes_clock(), async {
        next_frame().await;
        delta_seconds()
    })
    .await;
    if effect(|| approach(imp, hero_at(), 95.0 * seconds, 26.0)) == Step::Touched {
        on_clock(foes_clock(), wait_seconds(0.7)).await;
    }
    Chapter::Next(chase(imp))
}

async fn ring_and_leap(king: DurableId) -> Result<(), Missing> {
    charge(king, 0.8).await;
    effect(|| {
        let turn = roll_for_king(0.0..TAU);
        for number in 0_u8..10 {
            shoot(king, 130.0, turn + TAU * f32::from(number) / 10.0);
        }
    });
    king.get_mut(|lamp: &mut Lamp| lamp.colour = COLOUR)?;
    wait_seconds(0.6).await;
    leap(king).await
}

/// His light announces bolts.
async fn charge(king: DurableId, seconds: f32) {
    animate(seconds, |t| {
        let lit = king.get_mut(|lamp: &mut Lamp| lamp.colour = COLOUR * (1.0 + 1.2 * t));
        lit.expect("his scripts end with the king");
    })
    .await;
}

/// Towards the hero, for a moment.
async fn leap(king: DurableId) -> Result<(), Missing> {
    let goal = effect(hero_at);
    let landed = async {
        loop {
            let step = 190.0 * delta_seconds();
            if effect(|| approach(king, goal, step, 48.0)) != Step::Goes {
                break;
            }
            next_frame().await;
        }
    };
    select! {
        () = landed => {}
        () = wait_seconds(1.0) => {}
    }
    effect(|| {
        write_message(Quake(4.0));
        let dust = layer::standing(place_of(king)).truncate() - Vec2::Y * 40.0;
        spark::burst(dust, Color::srgb(0.6, 0.55, 0.7), 10);
    });
    wait_seconds(0.5).await;
    Ok(())
}

/// The clock of the foes, which magic slows down.
fn foes_clock() -> Clock {
    with_ref(|world: &World| world.resource::<DurableFoesClock>().0).clock()
}

// The functions below are called in effects: what they return is recorded.

/// What a step has led to.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Goes,
    Touched,
    Arrived,
}

/// Goes a step towards a point, and hits the hero if he is in reach.
fn approach(who: DurableId, goal: [f32; 2], step: f32, reach: f32) -> Step {
    let who = entity(who);
    let gone = Feet::new().approach_by(who, goal.into(), step);
    let is_there = gone.expect("its scripts end with it");
    if is_there {
        Step::Arrived
    } else if touch(who, reach).expect("its scripts end with it") {
        Step::Touched
    } else {
        Step::Goes
    }
}

fn shoot(king: DurableId, speed: f32, angle: f32) {
    let way = Vec2::from_angle(angle);
    bolt::shoot(place_of(king) + way * 40.0, way * speed);
}

fn summon() -> DurableId {
    let way = Vec2::from_angle(roll_for_king(0.0..TAU));
    let at = ARENA + way * roll_for_king(120.0..170.0);
    spark::burst(at, Color::srgb(0.9, 0.3, 0.7), 12);
    imp::summon(at)
}

fn hero_at() -> [f32; 2] {
    place(hero()).expect("there is a hero").into()
}

fn place_of(who: DurableId) -> Vec2 {
    place(entity(who)).expect("its scripts end with it")
}

fn entity(id: DurableId) -> Entity {
    let found = framestep::lend::with_ref(|world: &World| id.find(world));
    found.expect("its scripts end with it")
}
