//! Snapshots as files: a mark, a version, a checksum, and the snapshot.

use crate::error::RestoreError;
use crate::image::Snapshot;
use crate::journal::{Journal, Place};

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

impl Snapshot {
    /// A number that is the same for the same state, on every machine: of all that a snapshot
    /// holds but the lines of the code. For netcode that compares its peers.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let nowhere = |journal: &Journal| journal.map_places(|_| Place { file: 0, line: 0 });
        let journals = self.scripts.iter().map(|script| nowhere(&script.journal));
        let journals: Vec<Journal> = journals.collect();
        let scripts = self.scripts.iter().map(|script| {
            (
                (script.id, &script.name, script.home, script.owner),
                (&script.state, script.has_begun, &script.slots),
            )
        });
        let scripts: Vec<_> = scripts.collect();
        let lists = (&self.clocks, &self.clock_parents, &self.waits, &self.lists);
        let rest = (&self.owners, &self.ended, &self.signals, &self.values);
        let next = (self.next_script, self.next_request, self.next_owner);
        let content = postcard::to_stdvec(&(journals, scripts, lists, rest, next));
        hash(&content.expect("a snapshot serialises"))
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}
