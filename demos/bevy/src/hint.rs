//! A sign over things that the hero can use.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::body::{until_far, until_near};
use crate::hero::hero;
use crate::keys::{Key, pressed};
use crate::layer;
use crate::text::line;

const NEAR: f32 = 70.0;

/// Waits until the hero stands before it, and the key is pressed.
pub(crate) async fn until_used(thing: Entity) -> Result<(), Missing> {
    loop {
        until_near(thing, hero(), NEAR).await;
        let hint = show(thing, "[space]");
        let is_used = select! {
            () = pressed(Key::Act) => true,
            () = until_far(thing, hero(), NEAR) => false,
        };
        hint.despawn()?;
        if is_used {
            return Ok(());
        }
    }
}

fn show(thing: Entity, words: &str) -> Entity {
    let words = line(words, 16.0, Color::srgb(1.0, 0.92, 0.6));
    let place = Transform::from_xyz(0.0, 46.0, layer::SIGN - layer::STANDING);
    commands(|commands| commands.spawn((words, place, ChildOf(thing))).id())
}
