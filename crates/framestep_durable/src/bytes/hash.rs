//! A hash that is the same on all machines.

/// A hash of numbers and bytes, in the order in which they are added: the same on all machines, in
/// all builds. [Checksums](crate::SaveState::checksum) are made of it.
///
/// It finds mistakes, such as peers of a game that differ. It is not made against attacks: other
/// content with the same hash is easy to make.
///
/// # Examples
///
/// ```
/// use framestep_durable::StableHash;
///
/// let mut hash = StableHash::new();
/// hash.add(7);
/// hash.add_bytes(b"arena");
/// assert_eq!(hash.finish(), 0x39D4_1C7B_8A7E_10DB);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StableHash(u64);

impl StableHash {
    /// The hash of nothing.
    #[must_use]
    pub const fn new() -> Self {
        StableHash(0x51AF_6D11_93C2_E8B5)
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.0 = mixed(self.0 ^ number);
    }

    /// Adds bytes, and how many there are.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
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

    /// Adds numbers, and how many there are. Long lists take a quarter of the time that they take
    /// one by one, and have another hash.
    pub(crate) fn add_all(&mut self, numbers: &[u64]) {
        // Four hashes at once: each step of one waits for the step before it.
        let (mut a, mut b, mut c, mut d) = (self.0, 1, 2, 3);
        let mut left = numbers;
        while let Some((&[to_a, to_b, to_c, to_d], rest)) = left.split_first_chunk() {
            a = mixed(a ^ to_a);
            b = mixed(b ^ to_b);
            c = mixed(c ^ to_c);
            d = mixed(d ^ to_d);
            left = rest;
        }
        self.0 = numbers.len() as u64;
        for &number in [a, b, c, d].iter().chain(left) {
            self.add(number);
        }
    }

    /// What was added so far, for another hash. Its last bits depend on few of the last number's.
    #[inline]
    pub(crate) const fn state(self) -> u64 {
        self.0
    }

    /// The hash of what was added so far.
    #[must_use]
    pub fn finish(self) -> u64 {
        // Twice, so that the last number reaches all bits.
        mixed(mixed(self.0))
    }

    /// The hash of bytes.
    #[must_use]
    pub fn digest(bytes: &[u8]) -> u64 {
        let mut hash = StableHash::new();
        hash.add_bytes(bytes);
        hash.finish()
    }
}

impl Default for StableHash {
    fn default() -> Self {
        Self::new()
    }
}

/// What [`fnv`] begins with.
pub(crate) const FNV: u32 = 0x811C_9DC5;

/// FNV-1a, which has 32 bits: adds bytes to the hash of what was before them.
pub(crate) fn fnv(bytes: &[u8], from: u32) -> u32 {
    let step = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(from, step)
}

#[inline]
const fn mixed(number: u64) -> u64 {
    // The multiplication passes changes on to higher bits only, the shift to lower ones.
    let mixed = number.wrapping_mul(0xA24B_AED4_963E_E407);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::StableHash;

    #[test]
    fn each_byte_each_length_and_the_order_count() {
        let mut seen = BTreeSet::new();
        for length in 0..20_usize {
            assert!(seen.insert(StableHash::digest(&vec![0; length])));
            for at in 0..length {
                let mut bytes = vec![0; length];
                bytes[at] = 1;
                assert!(seen.insert(StableHash::digest(&bytes)));
            }
        }
        let mut ab = StableHash::new();
        ab.add_bytes(b"a");
        ab.add_bytes(b"b");
        assert_ne!(ab.finish(), StableHash::digest(b"ab"));
    }

    #[test]
    fn each_number_of_a_list_its_place_and_what_was_before_count() {
        let of = |before: u64, numbers: &[u64]| {
            let mut hash = StableHash::new();
            hash.add(before);
            hash.add_all(numbers);
            hash.finish()
        };
        let mut seen = BTreeSet::new();
        for length in 0..20_usize {
            for before in 0..3 {
                assert!(seen.insert(of(before, &vec![0; length])));
            }
            for at in 0..length {
                for bit in 0..64 {
                    let mut numbers = vec![0; length];
                    numbers[at] = 1 << bit;
                    assert!(seen.insert(of(0, &numbers)), "{length} {at} {bit}");
                }
            }
        }
    }
}
