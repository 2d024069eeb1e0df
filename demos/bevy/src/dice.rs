//! Random numbers. They are the same in each run, so that the demo is the same, too.

use std::f32::consts::TAU;
use std::ops::Range;

use bevy::prelude::*;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Resource, Serialize, Deserialize)]
pub(crate) struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Dice(0x9E37_79B9_7F4A_7C15)
    }
}

/// The dice of the king, which are saved with him: he does after a load what he would have
/// done without it, however many sparks have flown meanwhile.
#[derive(Resource, Default, Serialize, Deserialize)]
pub(crate) struct KingsDice(Dice);

impl Dice {
    fn roll(&mut self, range: Range<f32>) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let [high, low, ..] = self.0.to_be_bytes();
        let share = f32::from(u16::from_be_bytes([high, low])) / f32::from(u16::MAX);
        range.start.lerp(range.end, share)
    }
}

/// A number of the range.
pub(crate) fn roll(range: Range<f32>) -> f32 {
    resource_mut(|dice: &mut Dice| dice.roll(range))
}

/// A number of the range, with the dice of the king.
pub(crate) fn roll_for_king(range: Range<f32>) -> f32 {
    resource_mut(|dice: &mut KingsDice| dice.0.roll(range))
}

/// A direction.
pub(crate) fn any_way() -> Vec2 {
    Vec2::from_angle(roll(0.0..TAU))
}
