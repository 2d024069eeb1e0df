//! Randomness that is the same in every run and for every system.

/// `SplitMix64`: eight bytes of state, so that a coroutine can own one.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at most 2^32.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound <= 1 << 32);
        ((self.next() >> 32) * bound) >> 32
    }
}

/// Shuffles `items`, always in the same way for the same length.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    let mut random = Random::new(0x5EED);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// The numbers below `n`, shuffled.
#[cfg_attr(not(feature = "framestep"), expect(dead_code))]
pub(crate) fn permutation(n: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n).collect();
    shuffle(&mut numbers);
    numbers
}
