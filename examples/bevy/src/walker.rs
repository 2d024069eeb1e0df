//! The walker goes round, and flinches when it is hit.

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;
use futures::StreamExt;

use crate::guard::go_to;

pub(crate) const COLOUR: Color = Color::srgb(0.45, 0.95, 0.6);
pub(crate) const HOME: [f32; 2] = [-380.0, 0.0];

const SPEED: f32 = 150.0;
const ROUND: [[f32; 2]; 6] = [
    [-140.0, 0.0],
    [110.0, 0.0],
    [110.0, 160.0],
    [110.0, -160.0],
    [110.0, 0.0],
    HOME,
];

/// A bolt has hit the entity.
#[derive(EntityEvent, Clone)]
pub(crate) struct Hit(pub(crate) Entity);

/// A script of the walker: from room to room.
pub(crate) async fn walk(walker: Entity) -> Result<(), Missing> {
    for goal in ROUND.into_iter().cycle() {
        go_to(walker, goal.into(), SPEED).await?;
        wait_seconds(0.2).await;
    }
    Ok(())
}

/// Another script of the walker: it flashes when a bolt hits it.
pub(crate) async fn flinch(walker: Entity) {
    let mut hits = walker.events::<Hit>();
    while hits.next().await.is_some() {
        animate(0.4, |t| {
            let colour = Color::WHITE.mix(&COLOUR, t);
            let painted = walker.get_mut(|sprite: &mut Sprite| sprite.color = colour);
            painted.expect("its scripts end with the walker");
        })
        .await;
    }
}
