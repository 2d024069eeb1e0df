//! The hash of the protocol.

use crate::node::{TICKS, build_name};

/// The hash of the protocol.
pub(super) struct Sum(u64);

impl Sum {
    pub(super) fn new() -> Self {
        Sum(0x51AF_6D11_93C2_E8B5)
    }

    pub(super) fn add(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0xA24B_AED4_963E_E407);
        self.0 = mixed ^ mixed >> 29;
    }

    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.add(u64::from_le_bytes(word));
        }
    }

    pub(super) fn end(mut self) -> u64 {
        self.add(0);
        self.add(0);
        self.0
    }

    pub(super) fn of(bytes: &[u8]) -> u64 {
        let mut sum = Sum::new();
        sum.add_bytes(bytes);
        sum.end()
    }
}

/// The number of a build: that of its name, and what rooms are computed with, as the notes of a node say it.
pub(crate) fn build_number(build: u8) -> u64 {
    let settings = format!(
        "{TICKS} ticks a second, inputs of 4096 bytes and 60 a second, 1000 rooms in a shard"
    );
    let mut sum = Sum::new();
    sum.add(Sum::of(build_name(build).as_bytes()));
    sum.add_bytes(settings.as_bytes());
    sum.end()
}
