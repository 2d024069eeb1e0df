//! A fast hash without a random seed. Equal runs have equal hashes, on every machine.

use std::hash::{BuildHasherDefault, Hasher};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes one more number into a hash.
#[inline]
pub(crate) fn mix(hash: u64, number: u64) -> u64 {
    (hash.rotate_left(23) ^ number).wrapping_mul(FACTOR)
}

/// The last step: a number whose low bits depend on all others.
#[inline]
pub(crate) fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(FACTOR);
    hash ^ (hash >> 29)
}

pub(crate) fn of_text(text: &str) -> u64 {
    let mut fold = Fold::default();
    fold.write(text.as_bytes());
    fold.finish()
}

/// For maps whose keys come from the program itself, not from an attacker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fold(u64);

pub(crate) type BuildFold = BuildHasherDefault<Fold>;

impl Hasher for Fold {
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut number = [0; 8];
            number.copy_from_slice(chunk);
            self.0 = mix(self.0, u64::from_le_bytes(number));
        }
        let mut last = [0; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.0 = mix(self.0, u64::from_le_bytes(last));
        self.0 = mix(self.0, bytes.len() as u64);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.0 = mix(self.0, u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = mix(self.0, u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0, number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0 = mix(self.0, number as u64);
    }
}
