//! Random numbers that are the same on every machine.

use serde::{Deserialize, Serialize};

/// A generator that is part of the world, and rolled back with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(mix(&[seed]))
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: i32) -> i32 {
        self.0 = mix(&[self.0]);
        let limit = u64::from(limit.unsigned_abs());
        i32::try_from(self.0 % limit).expect("below an `i32`")
    }
}

/// A number that depends on all of `parts`.
pub(crate) fn mix(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, &part| {
        let mut hash = (hash ^ part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        hash ^ (hash >> 31)
    })
}
