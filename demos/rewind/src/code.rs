//! Identifies the code that a save depends on.

/// A hash of the source files of the scripts, their states and the world. A save of other code
/// may not fit.
pub(crate) const FINGERPRINT: u64 = {
    let mut hash = hash(0xCBF2_9CE4_8422_2325, include_bytes!("scripts.rs"));
    hash = self::hash(hash, include_bytes!("fight.rs"));
    hash = self::hash(hash, include_bytes!("guardian.rs"));
    self::hash(hash, include_bytes!("world.rs"))
};

/// FNV-1a.
const fn hash(mut hash: u64, mut bytes: &[u8]) -> u64 {
    while let [first, rest @ ..] = bytes {
        hash = (hash ^ *first as u64).wrapping_mul(0x0000_0100_0000_01B3);
        bytes = rest;
    }
    hash
}
