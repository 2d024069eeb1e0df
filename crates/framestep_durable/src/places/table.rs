//! The table of the statements of a script.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;
use crate::places::sketch::Sketch;

/// An entry of the table of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The hash of its text.
    pub(crate) full: u32,
    /// The same without what is in its blocks. Of a loop, with what decides how often it goes round.
    pub(crate) head: u16,
    /// The hash of the names of what it calls.
    pub(crate) shape: u16,
    /// What its words have in common with those of others.
    pub(crate) sketch: Sketch,
    /// The statement or the branch in whose blocks it is.
    pub(crate) parent: u16,
    pub(crate) line: u32,
    /// Whether it is a call whose result nothing uses. Not of a file.
    pub(crate) drops_result: bool,
    /// Whether it is a loop. Not of a file.
    pub(crate) is_loop: bool,
}

impl Place {
    /// The hashes of text and words, of head and shape, and the number of the statement around it.
    #[must_use]
    pub const fn new(full: u32, sketch: u32, parts: [u16; 3], line: u32) -> Self {
        let [head, shape, parent] = parts;
        Place {
            full,
            head,
            shape,
            sketch: Sketch(sketch),
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
    /// The statements.
    pub(crate) list: &'static [Place],
    /// The statements, and the [lists](crate::places::lists) that its loops go over.
    lists: Option<AddsLists>,
}

/// The whole table of a script, made of its statements.
pub type AddsLists = fn(&'static [Place]) -> &'static [Place];

impl Places {
    /// Those of a script that the attribute has not made.
    pub(crate) const NONE: Places = Places::new("", &[]);

    /// Those of a script in a file.
    #[must_use]
    pub const fn new(file: &'static str, list: &'static [Place]) -> Self {
        Places {
            file,
            list,
            lists: None,
        }
    }

    /// The same with the lists that its loops go over, which `lists` adds to the statements.
    #[must_use]
    pub const fn with_lists(self, lists: AddsLists) -> Self {
        Places {
            lists: Some(lists),
            ..self
        }
    }

    /// The table.
    pub(crate) fn all(self) -> &'static [Place] {
        self.lists.map_or(self.list, |lists| lists(self.list))
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

    /// The hashes of each entry, how far before it the statement around it is, and how many lines it is behind
    /// the entry before.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.list().len() * 14);
        let mut line = 0;
        for (number, place) in (0..).zip(self.list()) {
            bytes.extend_from_slice(&place.full.to_le_bytes());
            bytes.extend_from_slice(&place.sketch.0.to_le_bytes());
            bytes.extend_from_slice(&place.head.to_le_bytes());
            bytes.extend_from_slice(&place.shape.to_le_bytes());
            put(number - u32::from(place.parent), &mut bytes);
            put(folded(place.line.wrapping_sub(line)), &mut bytes);
            line = place.line;
        }
        bytes
    }

    fn of_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (mut list, mut line) = (Vec::new(), 0_u32);
        while !bytes.is_empty() {
            let number = u16::try_from(list.len()).ok()?;
            let full = u32::from_le_bytes(take(&mut bytes)?);
            let sketch = u32::from_le_bytes(take(&mut bytes)?);
            let head = u16::from_le_bytes(take(&mut bytes)?);
            let shape = u16::from_le_bytes(take(&mut bytes)?);
            let parent = u32::from(number).checked_sub(read(&mut bytes)?)?;
            line = line.wrapping_add(unfolded(read(&mut bytes)?));
            // A statement is in one before it.
            let parent = u16::try_from(parent)
                .ok()
                .filter(|parent| *parent < number.max(1))?;
            list.push(Place::new(full, sketch, [head, shape, parent], line));
        }
        Some(Table::OfFile(list.into()))
    }
}

/// Small differences in both directions as small numbers.
fn folded(difference: u32) -> u32 {
    difference << 1 ^ (difference >> 31).wrapping_neg()
}

fn unfolded(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Seven bits in a byte.
fn put(mut number: u32, out: &mut Vec<u8>) {
    while number > 0x7F {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn read(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for at in 0..5 {
        let [byte] = take(bytes)?;
        number |= u32::from(byte & 0x7F).checked_shl(7 * at)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
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
