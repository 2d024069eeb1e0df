//! Snapshots as files: a mark, a version, a checksum, and the snapshot.

use crate::error::RestoreError;
use crate::image::Snapshot;

const MARK: [u8; 8] = *b"framestp";
/// The version of the format. It changes whenever what is written here changes, or what the
/// executor writes.
const VERSION: u32 = 1;

impl Snapshot {
    /// The snapshot as a file: with a version, and a checksum.
    ///
    /// # Panics
    ///
    /// Never, but for a lack of memory.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = postcard::to_stdvec(self).expect("a snapshot serialises");
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
    /// If the bytes are no such file, are of another version, or were cut or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        let content = bytes.strip_prefix(&MARK).ok_or(RestoreError::NotASave)?;
        let (version, content) = take_u32(content).ok_or(RestoreError::Damaged)?;
        if version != VERSION {
            return Err(RestoreError::Version {
                found: version,
                expected: VERSION,
            });
        }
        let (checksum, content) = take_u32(content).ok_or(RestoreError::Damaged)?;
        if crc32fast::hash(content) != checksum {
            return Err(RestoreError::Damaged);
        }
        match postcard::take_from_bytes(content) {
            Ok((snapshot, [])) => Ok(snapshot),
            _ => Err(RestoreError::Damaged),
        }
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}
