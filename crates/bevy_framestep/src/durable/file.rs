//! Saves as files: magic bytes, a version, a checksum, the world and the scripts.

use framestep_durable::SaveState;

use super::error::LoadError;
use super::save::{Save, Saved};

const MARK: [u8; 8] = *b"bevyfrst";
/// The version of the format of the world. The scripts have their own version.
const VERSION: u32 = 1;

impl Save {
    /// The save as a file: with a version, and a checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = (&self.world, self.scripts.to_bytes());
        let content = postcard::to_stdvec(&content).expect("a save serialises");
        let mut bytes = Vec::with_capacity(content.len() + 16);
        bytes.extend_from_slice(&MARK);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }

    /// Reads a file that [`to_bytes`](Self::to_bytes) has made.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a file, have another version, or were truncated or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        let content = bytes.strip_prefix(&MARK).ok_or(LoadError::NotASave)?;
        let (version, content) = take_u32(content).ok_or(LoadError::Damaged)?;
        if version != VERSION {
            return Err(LoadError::Version {
                found: version,
                expected: VERSION,
            });
        }
        let (checksum, content) = take_u32(content).ok_or(LoadError::Damaged)?;
        if crc32fast::hash(content) != checksum {
            return Err(LoadError::Damaged);
        }
        let Ok(((world, scripts), [])) = postcard::take_from_bytes::<(Saved, Vec<u8>)>(content)
        else {
            return Err(LoadError::Damaged);
        };
        let scripts = SaveState::from_bytes(&scripts).map_err(LoadError::Scripts)?;
        Ok(Save { world, scripts })
    }

    /// A hash that is the same for the same state, on every machine. It covers everything in
    /// the save except the lines of the code. For netcode that compares its peers, and for
    /// tests.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let world = postcard::to_stdvec(&self.world).expect("a save serialises");
        let world = u64::from(crc32fast::hash(&world));
        // Spread over all bits.
        self.scripts.checksum() ^ world.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}
