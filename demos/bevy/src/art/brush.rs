//! Painting by distance: a shape is a function that says how far a point is from its edge.

use bevy::prelude::*;

/// Red, green and blue, as on the screen.
pub(crate) type Rgb = Vec3;

/// A colour from its usual number: `rgb(0xFF_80_00)`.
pub(crate) fn rgb(number: u32) -> Rgb {
    let [_, red, green, blue] = number.to_be_bytes();
    Vec3::new(f32::from(red), f32::from(green), f32::from(blue)) / 255.0
}

/// One point of a picture, painted from the bottom up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Dot {
    colour: Rgb,
    alpha: f32,
}

impl Dot {
    /// A shape: inside it, the distance is negative. Its edge is blurred by a pixel.
    pub(crate) fn fill(&mut self, distance: f32, colour: Rgb) {
        self.cover(0.5 - distance, colour);
    }

    /// A shape with a dark line around it.
    pub(crate) fn outlined(&mut self, distance: f32, colour: Rgb) {
        self.fill(distance - 2.0, rgb(0x14_10_1C));
        self.fill(distance, colour);
    }

    /// Blends a colour over the picture, from 0 (transparent) to 1.
    pub(crate) fn cover(&mut self, share: f32, colour: Rgb) {
        let share = share.clamp(0.0, 1.0);
        let below = self.alpha * (1.0 - share);
        let alpha = share + below;
        if alpha > 0.0 {
            self.colour = (colour * share + self.colour * below) / alpha;
        }
        self.alpha = alpha;
    }

    /// Makes the picture brighter or darker.
    pub(crate) fn shade(&mut self, factor: f32) {
        self.colour *= factor;
    }

    pub(crate) fn to_bytes(self) -> [u8; 4] {
        let Vec3 { x, y, z } = self.colour.clamp(Vec3::ZERO, Vec3::ONE);
        Srgba::new(x, y, z, self.alpha).to_u8_array()
    }
}

pub(crate) fn disc(at: Vec2, centre: Vec2, radius: f32) -> f32 {
    at.distance(centre) - radius
}

pub(crate) fn slab(at: Vec2, centre: Vec2, half: Vec2) -> f32 {
    let away = (at - centre).abs() - half;
    away.max(Vec2::ZERO).length() + away.max_element().min(0.0)
}

/// A line with round ends.
pub(crate) fn stroke(at: Vec2, from: Vec2, to: Vec2, radius: f32) -> f32 {
    let (way, line) = (at - from, to - from);
    let share = (way.dot(line) / line.length_squared()).clamp(0.0, 1.0);
    way.distance(line * share) - radius
}

/// A line of this width along the edge of a shape.
pub(crate) fn edge(distance: f32, width: f32) -> f32 {
    distance.abs() - width / 2.0
}

/// A door's shape: a slab with a round top, standing on `foot`.
pub(crate) fn arch(at: Vec2, foot: Vec2, half: f32, height: f32) -> f32 {
    let straight = height - half;
    let body = slab(
        at,
        foot + Vec2::Y * straight / 2.0,
        vec2(half, straight / 2.0),
    );
    body.min(disc(at, foot + Vec2::Y * straight, half))
}

/// A number from 0 to 1: always the same for a cell, and different for its neighbour.
pub(crate) fn speckle(cell: Vec2) -> f32 {
    let mixed = cell.dot(vec2(12.989_8, 78.233)).sin() * 43_758.547;
    mixed - mixed.floor()
}

/// Soft patches from 0 to 1, about as large as 1.
pub(crate) fn cloud(at: Vec2) -> f32 {
    let (cell, way) = (at.floor(), at - at.floor());
    let soft = way * way * (3.0 - 2.0 * way);
    let row = |y: f32| {
        let left = speckle(cell + vec2(0.0, y));
        left.lerp(speckle(cell + vec2(1.0, y)), soft.x)
    };
    row(0.0).lerp(row(1.0), soft.y)
}
