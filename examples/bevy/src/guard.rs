//! Guards walk up and down.

use std::time::Duration;

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::scene::place;

pub(crate) const COLOUR: Color = Color::srgb(0.4, 0.55, 0.95);

const SPEED: f32 = 90.0;
const LOOK: Duration = Duration::from_millis(500);

/// The script of a guard: to the other side, a look around, and back.
pub(crate) async fn patrol(guard: Entity) -> Result<(), Missing> {
    let one = place(guard)?;
    let other = Vec2::new(one.x, -one.y);
    loop {
        for goal in [other, one] {
            go_to(guard, goal, SPEED).await?;
            wait_seconds(LOOK).await;
        }
    }
}

/// Walks a little in each frame, until it arrives.
pub(crate) async fn go_to(who: Entity, goal: Vec2, speed: f32) -> Result<(), Missing> {
    while place(who)? != goal {
        next_frame().await;
        let step = speed * delta_seconds();
        who.get_mut(|place: &mut Transform| {
            let at = place.translation.truncate().move_towards(goal, step);
            place.translation = at.extend(place.translation.z);
        })?;
    }
    Ok(())
}
