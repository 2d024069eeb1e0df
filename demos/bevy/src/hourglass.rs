//! The hourglass slows down all foes for a while.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::{place, until_near};
use crate::foes::slow_foes;
use crate::hero::hero;
use crate::light::{Ambient, Lamp, NIGHT};
use crate::lit::lit_prop;
use crate::spark;

const COLOUR: Color = Color::srgb(0.75, 0.6, 1.0);
const REACH: f32 = 120.0;
/// The light while time is slow.
const VIOLET: Vec3 = Vec3::new(0.24, 0.16, 0.42);

pub(crate) fn spawn(world: &mut World, at: Vec2) {
    let lamp = Lamp {
        reach: REACH,
        colour: Vec3::new(0.6, 0.4, 1.0),
    };
    let glow = Picture::Glow.tinted(100.0, COLOUR.with_alpha(0.4));
    world.spawn((
        lit_prop(Picture::Hourglass, at, lamp, (glow, Vec2::ZERO), 40.0),
        Scripts::of(slow_time),
    ));
}

/// The script of the hourglass. The clock of the foes is slow until the guard `slow` is
/// dropped.
async fn slow_time(glass: Entity) -> Result<(), Missing> {
    loop {
        until_near(glass, hero(), 38.0).await;
        spark::burst(place(glass)?, COLOUR, 30);
        glass.insert(Visibility::Hidden)?;
        glass.get_mut(|lamp: &mut Lamp| lamp.reach = 0.0)?;
        let slow = slow_foes(0.25);
        tint(NIGHT, VIOLET).await;
        wait_seconds(4).await;
        drop(slow);
        tint(VIOLET, NIGHT).await;
        wait_seconds(8).await;
        glass.insert(Visibility::Inherited)?;
        glass.get_mut(|lamp: &mut Lamp| lamp.reach = REACH)?;
    }
}

async fn tint(from: Vec3, to: Vec3) {
    animate(0.4, |t| {
        resource_mut(|ambient: &mut Ambient| ambient.0 = from.lerp(to, t));
    })
    .await;
}
