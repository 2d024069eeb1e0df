//! Pseudorandom numbers for tests. A seed yields the same numbers everywhere.

// Public where the tests' helpers include this file.
#![allow(unreachable_pub, clippy::should_implement_trait)]

use std::ops::Range;

/// `SplitMix64`: the tests need no crate, and a seed reproduces a failure.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn within(&mut self, range: Range<i32>) -> i32 {
        let length = u64::from(range.end.abs_diff(range.start));
        let above = self.below(length);
        range.start + i32::try_from(above).expect("within the range")
    }

    /// A number of any magnitude: each number of bits is equally likely.
    pub fn wide(&mut self) -> u64 {
        let bits = self.below(64);
        self.next() >> bits
    }
}
