//! Imps run after the hero.

use bevy::prelude::*;
use bevy_framestep::durable::{Durable, DurableId};
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::Picture;
use crate::body::{Foe, Health, stride};
use crate::foe::suffer;
use crate::foes::on_foes_clock;
use crate::hero::shadow_below;
use crate::layer::standing;
use crate::level::Prop;
use crate::light::Lamp;

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
pub(crate) struct Imp;

/// An imp, which does not run yet.
pub(crate) fn summon(at: Vec2) -> DurableId {
    let place = Transform::from_translation(standing(at));
    with(|world: &mut World| {
        let imp = world.spawn((Imp, Foe, Health(1), place)).id();
        dress(world, imp);
        DurableId::of(world, imp).expect("an imp is durable")
    })
}

/// Gives an imp, which may come from a save, what is not saved.
pub(crate) fn dress(world: &mut World, imp: Entity) {
    let shadow = Picture::Shadow.tinted(36.0, Color::WHITE);
    let scripts = on_foes_clock(world).and(suffer).and(|imp| stride(imp, 2));
    world.entity_mut(imp).insert((
        Prop,
        Picture::Imp.drawn(),
        Lamp {
            reach: 80.0,
            colour: Vec3::new(0.9, 0.3, 0.6),
        },
        scripts,
        children![(shadow, shadow_below(-14.0))],
    ));
}
