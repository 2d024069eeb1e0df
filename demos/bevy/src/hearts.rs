//! The hearts of the hero, at the top.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::body::Health;
use crate::hero::{HEARTS, hero};
use crate::layer;
use crate::stage::HALF;

const FULL: Color = Color::srgb(1.0, 0.3, 0.38);
const EMPTY: Color = Color::srgba(0.35, 0.3, 0.4, 0.7);

pub(crate) fn spawn(world: &mut World, stage: Entity) {
    let mut at = vec2(30.0 - HALF.x, HALF.y - 28.0);
    let mut hearts = Vec::new();
    for _ in 0..HEARTS {
        let heart = Picture::Heart.tinted(64.0, FULL);
        let place = Transform::from_translation(at.extend(layer::DISPLAY));
        hearts.push(world.spawn((heart, place, ChildOf(stage))).id());
        at.x += 30.0;
    }
    world.start_script(|| show(hearts));
}

/// A separate script: paints the hearts when the hero's health changes. When the game starts
/// over, there is a new hero.
async fn show(hearts: Vec<Entity>) -> Result<(), Missing> {
    next_frame().await;
    loop {
        let Ok(health) = hero().get(|health: &Health| health.0) else {
            next_frame().await;
            continue;
        };
        for (heart, number) in hearts.iter().zip(0..) {
            let colour = if number < health { FULL } else { EMPTY };
            heart.get_mut(|drawn: &mut Drawn| drawn.color = colour)?;
        }
        // Either the health has changed, or the hero is despawned.
        _ = hero().changed::<Health>().await;
    }
}
