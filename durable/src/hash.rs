//! The hash of checksums: the same on all machines.

/// A hash of numbers and bytes, in the order in which they are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const fn new() -> Self {
        Hash(0xCBF2_9CE4_8422_2325)
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn add(&mut self, number: u64) {
        // The multiplication passes changes on to higher bits only, the shift to lower ones.
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }

    /// Adds bytes, and how many there are.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        let mut left = bytes;
        while let Some((word, rest)) = left.split_first_chunk() {
            self.add(u64::from_le_bytes(*word));
            left = rest;
        }
        if !left.is_empty() {
            let mut word = [0; 8];
            word[..left.len()].copy_from_slice(left);
            self.add(u64::from_le_bytes(word));
        }
    }

    /// Adds numbers, and how many there are.
    pub(crate) fn add_all(&mut self, numbers: &[u64]) {
        self.add(numbers.len() as u64);
        for &number in numbers {
            self.add(number);
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
