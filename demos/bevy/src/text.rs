//! Text.

use bevy::prelude::*;

/// A line, around the place of its entity.
pub(crate) fn line(words: &str, size: f32, colour: Color) -> impl Bundle + use<> {
    let font = TextFont::from_font_size(size);
    (Text2d::new(words), font, TextColor(colour))
}
