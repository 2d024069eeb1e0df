//! Random numbers. They are the same in each run, so that the demo is the same, too.

use std::ops::Range;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

#[derive(Resource)]
pub(crate) struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Dice(0x9E37_79B9_7F4A_7C15)
    }
}

/// A number of the range.
pub(crate) fn roll(range: Range<f32>) -> f32 {
    let number = resource_mut(|dice: &mut Dice| {
        dice.0 ^= dice.0 << 13;
        dice.0 ^= dice.0 >> 7;
        dice.0 ^= dice.0 << 17;
        dice.0
    });
    let [high, low, ..] = number.to_be_bytes();
    let share = f32::from(u16::from_be_bytes([high, low])) / f32::from(u16::MAX);
    range.start.lerp(range.end, share)
}

/// A direction.
pub(crate) fn any_way() -> Vec2 {
    Vec2::from_angle(roll(0.0..std::f32::consts::TAU))
}
