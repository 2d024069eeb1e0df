//! The state that scripts change: a ship, a boss, and its bullets.
//!
//! Both the game and each library of scripts contain this crate. If it changes, the game is built,
//! saved and replaced.

use std::f32::consts::TAU;

use serde::{Deserialize, Serialize};

/// The size of the arena.
pub const SIZE: [f32; 2] = [960.0, 540.0];
/// How many lamps hang above the arena.
pub const LAMPS: u8 = 32;
/// The size of the ship, of the boss and of a bullet.
pub const SHIP: f32 = 9.0;
/// The size of the boss.
pub const BOSS: f32 = 26.0;
/// The size of a bullet.
pub const BULLET: f32 = 5.0;
/// Frames of the game in a second.
pub const RATE: f32 = 60.0;

/// The direction in which the player pushes the ship.
pub type Push = [f32; 2];

/// Everything that changes, beside the scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Where the ship is.
    pub ship: [f32; 2],
    /// How strongly the ship flashes, because it was hit.
    pub flash: f32,
    /// How often it was hit.
    pub hits: u32,
    /// The boss.
    pub boss: Boss,
    /// All bullets.
    pub bullets: Vec<Bullet>,
    /// How brightly each lamp burns.
    pub lamps: [f32; LAMPS as usize],
}

/// The boss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boss {
    /// Where it is.
    pub at: [f32; 2],
    /// How wide its eye is open, from 0 to 1.
    pub open: f32,
    /// What it says.
    pub words: String,
}

/// A bullet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bullet {
    /// Where it is.
    pub at: [f32; 2],
    /// How far it flies in a second.
    pub speed: [f32; 2],
    /// Which colour it has, from 0 to 1.
    pub hue: f32,
}

impl Default for World {
    fn default() -> Self {
        World {
            ship: [480.0, 470.0],
            flash: 0.0,
            hits: 0,
            boss: Boss {
                at: [480.0, 190.0],
                open: 1.0,
                words: String::new(),
            },
            bullets: Vec::new(),
            lamps: [0.0; LAMPS as usize],
        }
    }
}

impl World {
    /// The boss shoots in a direction, which is given in turns.
    pub fn shoot(&mut self, turns: f32, speed: f32, hue: f32) {
        let (sin, cos) = (turns * TAU).sin_cos();
        let [x, y] = self.boss.at;
        self.bullets.push(Bullet {
            at: [x + BOSS * cos, y + BOSS * sin],
            speed: [speed * cos, speed * sin],
            hue,
        });
    }

    /// The direction from the boss to the ship, in turns.
    pub fn aim(&self) -> f32 {
        let [x, y] = [0, 1].map(|at| self.ship[at] - self.boss.at[at]);
        y.atan2(x) / TAU
    }

    /// Moves the ship and the bullets by a frame. Returns whether the ship was hit.
    pub fn advance(&mut self, push: Push) -> bool {
        for (at, size) in [0, 1].into_iter().zip(SIZE) {
            let moved = self.ship[at] + 260.0 / RATE * push[at];
            self.ship[at] = moved.clamp(2.0 * SHIP, size - 2.0 * SHIP);
        }
        self.flash = (self.flash - 3.0 / RATE).max(0.0);
        let (ship, before) = (self.ship, self.bullets.len());
        for bullet in &mut self.bullets {
            bullet.at = [0, 1].map(|at| bullet.at[at] + bullet.speed[at] / RATE);
        }
        self.bullets
            .retain(|bullet| distance(bullet.at, ship) > SHIP + BULLET);
        let is_hit = self.bullets.len() < before;
        let is_inside = |at: [f32; 2]| {
            at.iter()
                .zip(SIZE)
                .all(|(at, size)| (-20.0..size + 20.0).contains(at))
        };
        self.bullets.retain(|bullet| is_inside(bullet.at));
        if is_hit {
            self.hits += 1;
            self.flash = 1.0;
        }
        is_hit
    }
}

/// The distance between two points.
#[must_use]
pub fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Where a lamp hangs.
#[must_use]
pub fn lamp_x(lamp: u8) -> f32 {
    SIZE[0] * (f32::from(lamp) + 0.5) / f32::from(LAMPS)
}
