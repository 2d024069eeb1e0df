//! The king: he sleeps, he fights, and finally he is angry.
//!
//! [`reign`](crate::reign) has the fight.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_framestep::durable::{Durable, EntityWorldDurableExt};
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::{Drawn, Picture};
use crate::body::{Foe, Health, place};
use crate::foe::suffer;
use crate::foes::on_foes_clock;
use crate::hero::shadow_below;
use crate::layer::standing;
use crate::level::Prop;
use crate::light::Lamp;
use crate::reign::fight;
use crate::spark;
use crate::stage::Quake;

pub(crate) const HEALTH: u32 = 9;
pub(crate) const COLOUR: Vec3 = Vec3::new(0.9, 0.35, 1.3);
pub(crate) const ASLEEP: Color = Color::srgb(0.35, 0.3, 0.45);
const REACH: f32 = 260.0;

/// The king, once he is awake.
#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
pub(crate) struct King;

/// The king wakes up.
#[derive(EntityEvent, Clone)]
pub(crate) struct Wake(pub(crate) Entity);

/// The king, who sleeps.
pub(crate) fn spawn(world: &mut World, at: Vec2) -> Entity {
    let place = Transform::from_translation(standing(at));
    let king = world.spawn((Health(HEALTH), place)).id();
    let scripts = on_foes_clock(world).and(wake_up);
    dress(world, king, 0.0, ASLEEP, scripts);
    king
}

/// Gives the king of a save what is not saved. He fights.
pub(crate) fn dress_awake(world: &mut World, king: Entity) {
    let is_open = world.entity(king).contains::<Foe>();
    let colour = if is_open { Color::WHITE } else { ASLEEP };
    let scripts = on_foes_clock(world).and(suffer);
    dress(world, king, REACH, colour, scripts);
}

fn dress(world: &mut World, king: Entity, reach: f32, color: Color, scripts: Scripts) {
    let shadow = Picture::Shadow.tinted(110.0, Color::WHITE);
    let mut drawn = Picture::King.drawn();
    drawn.color = color;
    world.entity_mut(king).insert((
        Prop,
        drawn,
        Lamp {
            reach,
            colour: COLOUR,
        },
        children![(shadow, shadow_below(-46.0))],
        scripts,
    ));
}

/// The script of the king who sleeps. From then on he is saved, in the middle of whatever he
/// does.
async fn wake_up(king: Entity) -> Result<(), Missing> {
    king.next_event::<Wake>().await?;
    write_message(Quake(5.0));
    animate(1.0, |t| {
        let lit = king.with(
            |drawn: &mut Drawn, lamp: &mut Lamp, place: &mut Transform| {
                drawn.color = ASLEEP.mix(&Color::WHITE, t);
                lamp.reach = REACH * t;
                place.scale = Vec3::splat(1.0 + 0.25 * (t * TAU / 2.0).sin());
            },
        );
        lit.expect("his scripts end with the king");
    })
    .await;
    spark::burst(place(king)?, Color::srgb(0.8, 0.4, 1.0), 30);
    king.insert((King, Foe))?;
    _ = king.start(suffer(king));
    with(|world: &mut World| {
        world.entity_mut(king).start_durable_script(fight::rings);
    });
    Ok(())
}
