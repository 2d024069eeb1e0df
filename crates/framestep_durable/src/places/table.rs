//! The table of the statements of a script.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;

/// An entry of the table of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The hash of its text.
    pub(crate) full: u32,
    /// The same without what is in its blocks. Of a loop, with what decides how often it goes round.
    pub(crate) head: u16,
    /// The hash of the names of what it calls.
    pub(crate) shape: u16,
    /// Alike for texts of like words.
    pub(crate) sketch: u16,
    /// The statement or the branch in whose blocks it is.
    pub(crate) parent: u16,
    pub(crate) line: u32,
    /// Whether it is a call whose result nothing uses. Not of a file.
    pub(crate) drops_result: bool,
    /// Whether it is a loop. Not of a file.
    pub(crate) is_loop: bool,
}

impl Place {
    /// The hashes of head, shape and words, and the number of the statement around it.
    #[must_use]
    pub const fn new(full: u32, parts: [u16; 4], line: u32) -> Self {
        let [head, shape, sketch, parent] = parts;
        Place {
            full,
            head,
            shape,
            sketch,
            parent,
            line,
            drops_result: false,
            is_loop: false,
        }
    }

    /// The same of a call whose result nothing uses.
    #[must_use]
    pub const fn dropping_its_result(self) -> Self {
        Place {
            drops_result: true,
            ..self
        }
    }

    /// The same of a loop.
    #[must_use]
    pub const fn looping(self) -> Self {
        Place {
            is_loop: true,
            ..self
        }
    }
}

/// The statements of a script of this build.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub(crate) file: &'static str,
    pub(crate) list: &'static [Place],
}

impl Places {
    /// Those of a script that the attribute has not made.
    pub(crate) const NONE: Places = Places::new("", &[]);

    /// Those of a script in a file.
    #[must_use]
    pub const fn new(file: &'static str, list: &'static [Place]) -> Self {
        Places { file, list }
    }
}

/// The statements of a script of any build. The first entry is of what no statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    OfBuild(&'static [Place]),
    /// Read from a file. It may be sent to another thread.
    OfFile(Arc<[Place]>),
}

impl Default for Table {
    fn default() -> Self {
        Table::OfBuild(&[])
    }
}

/// How many bytes a file has for an entry.
const LEN: usize = 15;

impl Table {
    pub(crate) fn list(&self) -> &[Place] {
        match self {
            Table::OfBuild(list) => list,
            Table::OfFile(list) => list,
        }
    }

    /// Whether both are certainly the same, without a look at the entries.
    fn is(&self, other: &Table) -> bool {
        std::ptr::eq(self.list(), other.list())
    }

    /// Whether both builds have the same statements, in whatever lines.
    pub(crate) fn is_like(&self, other: &[Place]) -> bool {
        let said = |of: &Place| (of.full, of.parent);
        let (these, others) = (self.list().iter().map(said), other.iter().map(said));
        these.eq(others)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.list().len() * LEN);
        for place in self.list() {
            bytes.extend_from_slice(&place.full.to_le_bytes());
            for part in [place.head, place.shape, place.sketch, place.parent] {
                bytes.extend_from_slice(&part.to_le_bytes());
            }
            bytes.extend_from_slice(&place.line.to_le_bytes()[..3]);
        }
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let entries = bytes.chunks_exact(LEN);
        let is_numbered = entries.remainder().is_empty() && entries.len() <= 1 << u16::BITS;
        let read = |(number, entry): (usize, &[u8])| {
            let (full, rest) = entry.split_first_chunk()?;
            let (parts, line) = rest.split_first_chunk::<8>()?;
            let part = |at: usize| u16::from_le_bytes([parts[2 * at], parts[2 * at + 1]]);
            let mut line_bytes = [0; 4];
            line_bytes[..3].copy_from_slice(line);
            let place = Place::new(
                u32::from_le_bytes(*full),
                [part(0), part(1), part(2), part(3)],
                u32::from_le_bytes(line_bytes),
            );
            // A statement is in one before it.
            (usize::from(place.parent) < number.max(1)).then_some(place)
        };
        let list: Option<Arc<[Place]>> = entries.enumerate().map(read).collect();
        Some(Table::OfFile(list?)).filter(|_| is_numbered)
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?;
        let table = Table::of_bytes(bytes.get());
        table.ok_or_else(|| D::Error::custom("a table of statements is damaged"))
    }
}

/// The tables of a file: each once, for all scripts that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tables(Vec<Table>);

impl Tables {
    /// The number of a table, from 1. 0 of an empty one.
    pub(crate) fn number(&mut self, table: &Table) -> u32 {
        if table.list().is_empty() {
            return 0;
        }
        let known = self
            .0
            .iter()
            .position(|known| known.is(table) || known == table);
        let at = known.unwrap_or_else(|| {
            self.0.push(table.clone());
            self.0.len() - 1
        });
        u32::try_from(at + 1).expect("fewer than 2^32 tables")
    }

    /// The table of this number. `None` if there is none.
    pub(crate) fn get(&self, number: u32) -> Option<Table> {
        match number.checked_sub(1) {
            None => Some(Table::default()),
            Some(at) => self.0.get(at as usize).cloned(),
        }
    }
}
