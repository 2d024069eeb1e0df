//! Lines that somebody says, letter by letter. A key ends them.

use bevy::prelude::*;
use bevy::sprite::Anchor;
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::keys::{Key, pressed};
use crate::layer;
use crate::level::Prop;
use crate::stage::{HALF, MIDDLE, Stage};
use crate::text::line;

const SIZE: Vec2 = Vec2::new(660.0, 104.0);

/// Says a line. The first key shows all of it, the second one ends it; it also ends by itself
/// after a while.
pub(crate) async fn say(who: &str, words: &str) -> Result<(), Missing> {
    let (sheet, text) = open(who);
    select! {
        typed = type_out(text, words) => typed?,
        () = pressed(Key::Act) => text.get_mut(|text: &mut Text2d| text.0 = words.to_string())?,
    }
    select! {
        () = pressed(Key::Act) => {}
        () = wait_seconds(2) => {}
    }
    sheet.despawn()
}

async fn type_out(text: Entity, words: &str) -> Result<(), Missing> {
    for letter in words.chars() {
        text.get_mut(|text: &mut Text2d| text.0.push(letter))?;
        wait_seconds(if letter == '.' { 0.25 } else { 0.03 }).await;
    }
    Ok(())
}

/// The sheet, and the text on it.
fn open(who: &str) -> (Entity, Entity) {
    let stage = resource(|stage: &Stage| stage.0);
    let at = MIDDLE + Vec2::Y * (SIZE.y / 2.0 + 18.0 - HALF.y);
    let corner = SIZE * vec2(-0.5, 0.5);
    let gold = Color::srgb(1.0, 0.82, 0.45);
    commands(|commands| {
        let text = (
            line("", 19.0, Color::srgb(0.93, 0.93, 1.0)),
            Anchor::TOP_LEFT,
            Transform::from_translation(
                (corner + vec2(22.0, -42.0)).extend(layer::TEXT - layer::DISPLAY),
            ),
        );
        let text = commands.spawn(text).id();
        let name = (
            line(who, 19.0, gold),
            Anchor::TOP_LEFT,
            Transform::from_translation(
                (corner + vec2(22.0, -14.0)).extend(layer::TEXT - layer::DISPLAY),
            ),
        );
        let frame = Drawn::plain(gold.with_alpha(0.8), SIZE + 4.0);
        let paper = Drawn::plain(Color::srgb(0.06, 0.05, 0.11), SIZE);
        let sheet = commands.spawn((
            Prop,
            frame,
            Transform::from_translation(at.extend(layer::DISPLAY)),
            ChildOf(stage),
            children![(paper, Transform::from_xyz(0.0, 0.0, 0.1)), name],
        ));
        let sheet = sheet.id();
        commands.entity(sheet).add_child(text);
        (sheet, text)
    })
}
