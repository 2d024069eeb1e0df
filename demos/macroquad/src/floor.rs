//! The floor: over a thousand tiles, each with a script that sleeps most of the time.

use framestep::prelude::*;
use macroquad::prelude::*;
use macroquad::rand::gen_range;

use crate::numbers::real;
use crate::world::{ARENA, World};

pub(crate) const TILE: f32 = 16.0;
const COLUMNS: usize = 41;
const ROWS: usize = 31;

/// A wave that runs over the floor.
#[derive(Clone, Copy)]
pub(crate) struct Shock {
    at: Vec2,
    strength: f32,
    reach: f32,
}

impl Shock {
    pub(crate) fn is_large(&self) -> bool {
        self.reach > 500.0
    }

    pub(crate) fn small(at: Vec2) -> Self {
        Shock {
            at,
            strength: 0.55,
            reach: 110.0,
        }
    }

    pub(crate) fn large(at: Vec2) -> Self {
        Shock {
            at,
            strength: 1.0,
            reach: 900.0,
        }
    }
}

/// How bright each tile is.
pub(crate) struct Floor {
    glow: Vec<f32>,
}

impl Default for Floor {
    fn default() -> Self {
        Floor {
            glow: vec![0.0; COLUMNS * ROWS],
        }
    }
}

impl Floor {
    /// The corners and the brightness of the tiles that are not dark.
    pub(crate) fn bright(&self) -> impl Iterator<Item = (Vec2, f32)> {
        let tiles = self.glow.iter().copied().enumerate();
        tiles
            .filter(|(_, glow)| *glow > 0.01)
            .map(|(index, glow)| (corner(index), glow))
    }
}

fn corner(index: usize) -> Vec2 {
    let place = vec2(real(index % COLUMNS), real(index / COLUMNS));
    ARENA.point() + place * TILE
}

/// Starts the scripts of all tiles.
pub(crate) fn light(owner: &Owner) {
    for index in 0..COLUMNS * ROWS {
        owner.spawn(tile(index));
    }
}

async fn tile(index: usize) {
    let at = corner(index) + Vec2::splat(TILE / 2.0);
    loop {
        let shock = with_ref(|world: &World| {
            let near = move |shock: &Shock| shock.at.distance(at) < shock.reach;
            world.shocks.wait_for(near)
        });
        let strength = select! {
            shock = shock => {
                wait_seconds(shock.at.distance(at) / 420.0).await;
                shock.strength
            }
            () = wait_seconds(gen_range(2.0, 24.0)) => 0.25,
        };
        animate(0.7, |t| {
            with(|world: &mut World| world.floor.glow[index] = strength * (1.0 - t));
        })
        .await;
    }
}
