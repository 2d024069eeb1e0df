//! Imps run after the hero.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::{Foe, Health};
use crate::foe::{hunt, suffer};
use crate::foes::on_foes_clock;
use crate::hero::shadow_below;
use crate::layer::standing;
use crate::level::Prop;
use crate::light::Lamp;

pub(crate) fn summon(at: Vec2) -> Entity {
    let shadow = Picture::Shadow.tinted(36.0, Color::WHITE);
    with(|world: &mut World| {
        let scripts = on_foes_clock(world).and(suffer).and(|imp| hunt(imp, 95.0));
        let imp = world.spawn((
            Prop,
            Foe,
            Health(1),
            Picture::Imp.drawn(),
            Transform::from_translation(standing(at)),
            Lamp {
                reach: 80.0,
                colour: Vec3::new(0.9, 0.3, 0.6),
            },
            scripts,
            children![(shadow, shadow_below(-14.0))],
        ));
        imp.id()
    })
}
