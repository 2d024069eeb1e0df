//! Doors in the walls, for the enemies to enter.

use framestep::prelude::*;
use macroquad::prelude::*;

use crate::enemy::{self, Kind};
use crate::world::{ARENA, World};

pub(crate) struct Door {
    /// The middle of it, on the wall.
    pub(crate) at: Vec2,
    /// Along the wall.
    pub(crate) along: Vec2,
    /// From 0, shut, to 1.
    pub(crate) open: f32,
}

impl Door {
    pub(crate) const WIDTH: f32 = 72.0;

    /// The left one, the one above and the right one.
    pub(crate) fn all() -> [Self; 3] {
        let (middle, high) = (ARENA.center(), ARENA.y + 120.0);
        let door = |at, along| Door {
            at,
            along,
            open: 0.0,
        };
        [
            door(vec2(ARENA.left(), high), vec2(0.0, 1.0)),
            door(vec2(middle.x, ARENA.top()), vec2(1.0, 0.0)),
            door(vec2(ARENA.right(), high), vec2(0.0, 1.0)),
        ]
    }
}

/// Opens the door, lets enemies in, one after the other, and shuts it.
pub(crate) async fn let_in(door: usize, kind: Kind, count: usize) {
    animate(0.6, |t| {
        with(|world: &mut World| world.doors[door].open = t);
    })
    .await;
    for _ in 0..count {
        with(|world: &mut World| {
            let at = world.doors[door].at;
            enemy::enter(world, kind, at);
        });
        wait_seconds(0.3).await;
    }
    wait_seconds(0.5).await;
    animate(0.6, |t| {
        with(|world: &mut World| world.doors[door].open = 1.0 - t);
    })
    .await;
}
