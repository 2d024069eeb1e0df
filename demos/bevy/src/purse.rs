//! What the hero has found.

use bevy::prelude::*;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::art::Picture;
use crate::layer;
use crate::stage::{HALF, PANEL};
use crate::text::line;

#[derive(Resource, Default, Serialize, Deserialize)]
pub(crate) struct Purse(pub(crate) u32);

pub(crate) fn spawn(world: &mut World, stage: Entity) {
    let corner = vec2(HALF.x - PANEL - 96.0, HALF.y - 28.0);
    let words = line("0", 22.0, Color::srgb(1.0, 0.88, 0.5));
    world
        .spawn((
            words,
            Transform::from_translation((corner + Vec2::X * 36.0).extend(layer::TEXT)),
            ChildOf(stage),
        ))
        .start_script(count);
    let place = Transform::from_translation(corner.extend(layer::DISPLAY));
    world.spawn((Picture::Coin.drawn(), place, ChildOf(stage)));
}

/// The script of the number: writes it when it has changed, with a little hop.
async fn count(number: Entity) -> Result<(), Missing> {
    let home = number.get(|place: &Transform| place.translation)?;
    loop {
        let found = resource(|purse: &Purse| purse.0);
        number.get_mut(|text: &mut Text2d| text.0 = found.to_string())?;
        animate(0.15, |t| {
            let height = Vec3::Y * 24.0 * t * (1.0 - t);
            let moved = number.get_mut(|place: &mut Transform| place.translation = home + height);
            moved.expect("its scripts end with the number");
        })
        .await;
        wait_until_world(move |world| world.resource::<Purse>().0 != found).await;
    }
}
