//! What the example has from macroquad: places, colours, random numbers.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Mul, MulAssign, Sub};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Vec2 {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

pub(crate) const fn vec2(x: f32, y: f32) -> Vec2 {
    Vec2 { x, y }
}

impl Vec2 {
    pub(crate) fn from_angle(angle: f32) -> Self {
        vec2(angle.cos(), angle.sin())
    }

    pub(crate) fn rotate(self, by: Self) -> Self {
        vec2(self.x * by.x - self.y * by.y, self.y * by.x + self.x * by.y)
    }

    pub(crate) fn lerp(self, to: Self, share: f32) -> Self {
        self + (to - self) * share
    }

    pub(crate) fn length(self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub(crate) fn distance(self, to: Self) -> f32 {
        (to - self).length()
    }

    pub(crate) fn normalize_or_zero(self) -> Self {
        let length = self.length();
        if length > 0.0 {
            self * length.recip()
        } else {
            Self::default()
        }
    }
}

impl Add for Vec2 {
    type Output = Vec2;

    fn add(self, other: Vec2) -> Vec2 {
        vec2(self.x + other.x, self.y + other.y)
    }
}

impl AddAssign for Vec2 {
    fn add_assign(&mut self, other: Vec2) {
        *self = *self + other;
    }
}

impl Sub for Vec2 {
    type Output = Vec2;

    fn sub(self, other: Vec2) -> Vec2 {
        vec2(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f32> for Vec2 {
    type Output = Vec2;

    fn mul(self, by: f32) -> Vec2 {
        vec2(self.x * by, self.y * by)
    }
}

impl MulAssign<f32> for Vec2 {
    fn mul_assign(&mut self, by: f32) {
        *self = *self * by;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Color {
    r: f32,
    g: f32,
    b: f32,
    pub(crate) a: f32,
}

impl Color {
    pub(crate) const fn new(r: f32, g: f32, b: f32, a: f32) -> Self {
        Color { r, g, b, a }
    }
}

pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) w: f32,
    pub(crate) h: f32,
}

impl Rect {
    pub(crate) fn center(&self) -> Vec2 {
        vec2(self.x + self.w * 0.5, self.y + self.h * 0.5)
    }

    pub(crate) fn top(&self) -> f32 {
        self.y
    }

    pub(crate) fn contains(&self, at: Vec2) -> bool {
        (self.x..self.x + self.w).contains(&at.x) && (self.y..self.y + self.h).contains(&at.y)
    }
}

/// A generator of random numbers, which a world can save.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new() -> Self {
        Random(7)
    }

    pub(crate) fn range(&mut self, low: f32, high: f32) -> f32 {
        let next = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D);
        self.0 = next.wrapping_add(0x1405_7B7E_F767_814F);
        low + (high - low) * (self.0 >> 48) as f32 / 65_536.0
    }
}

thread_local! {
    static RANDOM: Cell<Random> = const { Cell::new(Random::new()) };
}

/// A random number of a generator that the program has, as macroquad has one.
pub(crate) fn gen_range(low: f32, high: f32) -> f32 {
    let mut random = RANDOM.get();
    let number = random.range(low, high);
    RANDOM.set(random);
    number
}

/// A count as a length.
pub(crate) fn real(count: usize) -> f32 {
    count as f32
}
