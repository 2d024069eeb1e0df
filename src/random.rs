//! Pseudorandom numbers for tests. A seed yields the same numbers everywhere.

use std::ops::Range;

/// Marsaglia's xorshift: the tests need no crate, and one seed reproduces a
/// failure. The seed must not be 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn within(&mut self, range: Range<i32>) -> i32 {
        let length = u64::from(range.end.abs_diff(range.start));
        let above = self.below(length);
        range.start + i32::try_from(above).expect("within the range")
    }

    /// A number of any magnitude: each number of bits is equally likely.
    pub(crate) fn wide(&mut self) -> u64 {
        let bits = self.below(64);
        self.next() >> bits
    }
}
