//! The hash of chains and states: the same on all machines.

/// A hash of numbers and bytes, in the order in which they are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const fn new() -> Self {
        Hash(0x51AF_6D11_93C2_E8B5)
    }

    pub(crate) fn add(&mut self, number: u64) {
        // The multiplication passes changes on to higher bits only, the shift to lower ones.
        let mixed = (self.0 ^ number).wrapping_mul(0xA24B_AED4_963E_E407);
        self.0 = mixed ^ mixed >> 29;
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

    pub(crate) fn finish(self) -> u64 {
        // Twice, so that the last number reaches all bits.
        let mut last = self;
        last.add(0);
        last.add(0);
        last.0
    }

    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut hash = Hash::new();
        hash.add_bytes(bytes);
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_each_length_and_the_order_count() {
        let mut seen = std::collections::BTreeSet::new();
        for length in 0..20_usize {
            assert!(seen.insert(Hash::of(&vec![0; length])));
            for at in 0..length {
                let mut bytes = vec![0; length];
                bytes[at] = 1;
                assert!(seen.insert(Hash::of(&bytes)));
            }
        }
        let mut ab = Hash::new();
        ab.add_bytes(b"a");
        ab.add_bytes(b"b");
        assert_ne!(ab.finish(), Hash::of(b"ab"));
    }
}
