//! White shapes of light and shadow, which entities tint.

use bevy::prelude::*;

use super::brush::{Dot, disc, stroke};

/// How far it is from the middle to the side of these pictures.
const HALF: f32 = 32.0;

/// Bright in the middle, and transparent at the side.
pub(super) fn glow(at: Vec2) -> Dot {
    let near = (1.0 - at.length() / HALF).clamp(0.0, 1.0);
    white(near * near)
}

pub(super) fn shadow(at: Vec2) -> Dot {
    let near = (1.0 - at.length() / HALF).clamp(0.0, 1.0);
    let mut dot = Dot::default();
    dot.cover(near * 1.6, Vec3::ZERO);
    dot
}

pub(super) fn spark(at: Vec2) -> Dot {
    white(1.2 - at.length() / 4.0)
}

pub(super) fn plain(_: Vec2) -> Dot {
    white(1.0)
}

/// A sword's way through the air, to the right.
pub(super) fn slash(at: Vec2) -> Dot {
    let moon = disc(at, vec2(0.0, 0.0), 30.0).max(-disc(at, vec2(-9.0, 0.0), 30.0));
    let fade = ((at.x + 2.0) / 20.0).clamp(0.0, 1.0);
    white((0.5 - moon / 3.0) * fade)
}

/// What a guard sees, to the right.
pub(super) fn sight(at: Vec2) -> Dot {
    let way = at + Vec2::X * HALF;
    let share = way.length() / (2.0 * HALF);
    let inside = 0.5 - (way.to_angle().abs() - 0.45) * 12.0;
    white(inside.clamp(0.0, 1.0) * (1.0 - share).clamp(0.0, 1.0))
}

/// A bolt of fire, to the right.
pub(super) fn bolt(at: Vec2) -> Dot {
    let near = -stroke(at, vec2(-12.0, 0.0), vec2(6.0, 0.0), 8.0);
    white(near / 5.0)
}

/// A sign over a head.
pub(super) fn alarm(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(stroke(at, vec2(0.0, 0.0), vec2(0.0, 10.0), 3.0), Vec3::ONE);
    dot.outlined(disc(at, vec2(0.0, -9.0), 3.0), Vec3::ONE);
    dot
}

fn white(alpha: f32) -> Dot {
    let mut dot = Dot::default();
    dot.cover(alpha, Vec3::ONE);
    dot
}
