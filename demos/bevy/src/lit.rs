//! Things that stand on the floor and shine.

use bevy::prelude::*;

use crate::art::{Drawn, Picture};
use crate::hero::shadow_below;
use crate::layer::{self, standing};
use crate::level::Prop;
use crate::light::Lamp;

/// The lamp lights its surroundings. The glow is the visible light itself, this far from the
/// middle.
pub(crate) fn lit_prop(
    picture: Picture,
    at: Vec2,
    lamp: Lamp,
    (glow, glow_at): (Drawn, Vec2),
    shadow: f32,
) -> impl Bundle {
    let height = layer::GLOW - layer::STANDING;
    (
        Prop,
        picture.drawn(),
        Transform::from_translation(standing(at)),
        lamp,
        children![
            (glow, Transform::from_translation(glow_at.extend(height))),
            (
                Picture::Shadow.tinted(shadow, Color::WHITE),
                shadow_below(-shadow / 2.0)
            ),
        ],
    )
}
