//! The keeper of the dungeon, who has a lantern and something to say.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::light::Lamp;
use crate::lit::lit_prop;

pub(crate) fn spawn(world: &mut World, at: Vec2) -> Entity {
    let lamp = Lamp {
        reach: 200.0,
        colour: Vec3::new(1.1, 0.85, 0.5),
    };
    let glow = Picture::Glow.tinted(120.0, Color::srgba(1.0, 0.8, 0.4, 0.35));
    // Where the lantern is.
    let glow = (glow, vec2(20.0, -6.0));
    let keeper = world.spawn((
        lit_prop(Picture::Keeper, at, lamp, glow, 52.0),
        Scripts::of(hover),
    ));
    keeper.id()
}

/// The script of the keeper: he walks up and down, without end.
async fn hover(keeper: Entity) -> Result<(), Missing> {
    let home = keeper.get(|place: &Transform| place.translation)?;
    loop {
        animate(2.4, |t| {
            let height = Vec3::Y * 4.0 * (t * TAU).sin();
            let moved = keeper.get_mut(|place: &mut Transform| place.translation = home + height);
            moved.expect("its scripts end with the keeper");
        })
        .await;
    }
}
