//! The guardian of the last room, and its bullets.

use serde::{Deserialize, Serialize};

use crate::world::{BALL, BOTTOM, DOOR, LEFT, MIDDLE, RIGHT, TOP, WALLS, World};

pub(crate) const GUARDIAN: f32 = 24.0;
pub(crate) const LIVES: u8 = 3;
/// How many strikes cost it a life.
pub(crate) const STRIKES: u8 = 3;
/// The distance at which the ball wakes it.
const NEAR: f32 = 150.0;
const BULLET: f32 = 4.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guardian {
    pub(crate) at: [f32; 2],
    /// How far its eye is open, from 0 to 1.
    pub(crate) open: f32,
    /// 0: it has fallen.
    pub(crate) lives: u8,
    pub(crate) strikes: u8,
    pub(crate) flash: f32,
    /// The part of its words that is shown.
    pub(crate) words: String,
    pub(crate) bullets: Vec<Bullet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bullet {
    pub(crate) at: [f32; 2],
    speed: [f32; 2],
}

/// What the guardian's scripts must be told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contact {
    pub(crate) is_near: bool,
    pub(crate) is_struck: bool,
}

impl Guardian {
    pub(crate) fn new() -> Self {
        Guardian {
            at: [f32::midpoint(WALLS[3], RIGHT), MIDDLE],
            open: 0.0,
            lives: LIVES,
            strikes: 0,
            flash: 0.0,
            words: String::new(),
            bullets: Vec::new(),
        }
    }

    /// Shoots in a direction, given in turns.
    pub(crate) fn shoot(&mut self, turns: f32, speed: f32) {
        // The standard library's sine can round differently in the browser.
        let (sin, cos) = libm::sincosf(turns * std::f32::consts::TAU);
        let [x, y] = self.at;
        self.bullets.push(Bullet {
            at: [x + GUARDIAN * cos, y + GUARDIAN * sin],
            speed: [speed * cos, speed * sin],
        });
    }
}

impl World {
    /// Moves the bullets, and checks what the ball has touched.
    pub(crate) fn meet_guardian(&mut self, before: [f32; 2], seconds: f32) -> Contact {
        let guardian = &mut self.guardian;
        guardian.flash = (guardian.flash - 4.0 * seconds).max(0.0);
        let (ball, doors) = (self.ball, self.doors);
        let mut hit = None;
        guardian.bullets.retain_mut(|bullet| {
            for (at, speed) in bullet.at.iter_mut().zip(bullet.speed) {
                *at += speed * seconds;
            }
            let hits = distance(bullet.at, ball) < BALL + BULLET;
            if hits {
                hit = Some(bullet.speed);
            }
            !hits && is_free(bullet.at, doors)
        });
        if let Some(push) = hit {
            self.score = self.score.saturating_sub(1);
            self.speed = [self.speed[0] + push[0], self.speed[1] + push[1]];
        }
        let guardian = &mut self.guardian;
        let away = distance(ball, guardian.at);
        let is_struck = guardian.lives > 0 && away < BALL + GUARDIAN;
        if is_struck {
            self.ball = before;
            self.speed = self.speed.map(|speed| -speed);
            guardian.flash = 1.0;
        }
        Contact {
            is_near: away < NEAR,
            is_struck,
        }
    }
}

/// Only with operations that round the same way everywhere.
pub(crate) fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    let (x, y) = (a[0] - b[0], a[1] - b[1]);
    (x * x + y * y).sqrt()
}

/// Whether a bullet can be there: inside, and not in a wall or a closed door.
fn is_free([x, y]: [f32; 2], doors: [f32; 4]) -> bool {
    let is_in_wall = |(wall, open): (&f32, f32)| {
        let shut = DOOR * (1.0 - open);
        let is_in_gap = (y - MIDDLE).abs() < DOOR - shut;
        (x - wall).abs() < 2.0 * BULLET && !is_in_gap
    };
    (LEFT..RIGHT).contains(&x)
        && (TOP..BOTTOM).contains(&y)
        && !WALLS.iter().zip(doors).any(is_in_wall)
}
