//! What the values of a journal say of themselves, in a file.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Mark};

/// The [marks](Mark) of the entries with a value, in order. Missing ones at the end are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(Vec<u16>);

impl Marks {
    pub(crate) fn push(&mut self, mark: u16) {
        self.0.push(mark);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mark of this entry, of those with a value.
    pub(crate) fn get(&self, number: usize) -> u16 {
        self.0.get(number).copied().unwrap_or(Mark::NONE)
    }
}

impl Serialize for Marks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let last = self.0.iter().rposition(|&mark| mark != Mark::NONE);
        let needed = &self.0[..last.map_or(0, |last| last + 1)];
        let bytes: Vec<u8> = needed.iter().flat_map(|mark| mark.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Marks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?;
        let marks = bytes.get().chunks_exact(2);
        if !marks.remainder().is_empty() {
            return Err(D::Error::custom("marks of values are damaged"));
        }
        let mark = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        Ok(Marks(marks.map(mark).collect()))
    }
}
