//! The journal of a script: what its waits and effects have returned since its chapter began.

use std::cell::RefCell;
use std::rc::Rc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;
use crate::site::SiteId;

/// What an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The end of the wait of this number.
    Ended(u32),
    /// The panic of the wait of this number.
    Failed(u32),
    /// The result of an effect on the world outside.
    Effect,
    /// The panic of an effect.
    Panicked,
}

impl Kind {
    fn number(self) -> u64 {
        match self {
            Kind::Ended(wait) => u64::from(wait) << 2,
            Kind::Failed(wait) => u64::from(wait) << 2 | 1,
            Kind::Effect => 2,
            Kind::Panicked => 3,
        }
    }

    fn of(number: u64) -> Option<Kind> {
        let wait = u32::try_from(number >> 2);
        match (number & 3, number >> 2) {
            (0, _) => Some(Kind::Ended(wait.ok()?)),
            (1, _) => Some(Kind::Failed(wait.ok()?)),
            (2, 0) => Some(Kind::Effect),
            (3, 0) => Some(Kind::Panicked),
            _ => None,
        }
    }
}

/// An entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// Whether it is the first entry of a poll, except for the first poll of the chapter.
    pub(crate) is_first: bool,
    pub(crate) kind: Kind,
    /// Which call it is.
    pub(crate) site: SiteId,
    pub(crate) value: &'a [u8],
}

/// Where an entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundEntry {
    pub(crate) is_first: bool,
    pub(crate) kind: Kind,
    pub(crate) site: SiteId,
    value_at: usize,
    /// The position of the next entry.
    pub(crate) next: usize,
}

/// A journal up to some entry. One script appends entries, and none are ever changed, so a
/// copy is a reference and a length.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    bytes: Rc<RefCell<Vec<u8>>>,
    len: usize,
    entries: u32,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Journal {
            bytes: Rc::default(),
            len: 0,
            entries: 0,
        }
    }

    /// How many entries there are.
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// Whether both are the same journal up to the same entry.
    pub(crate) fn is(&self, other: &Journal) -> bool {
        Rc::ptr_eq(&self.bytes, &other.bytes) && self.len == other.len
    }

    /// A journal with the same entries, to which others may be added.
    pub(crate) fn fork(&self) -> Self {
        Journal {
            bytes: Rc::new(RefCell::new(self.bytes.borrow()[..self.len].to_vec())),
            ..*self
        }
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let mut bytes = self.bytes.borrow_mut();
        debug_assert!(bytes.len() == self.len, "only one script adds entries");
        put(
            &mut bytes,
            entry.kind.number() << 1 | u64::from(entry.is_first),
        );
        put(&mut bytes, u64::from(entry.site.0));
        put(&mut bytes, entry.value.len() as u64);
        bytes.extend_from_slice(entry.value);
        self.len = bytes.len();
        self.entries += 1;
    }

    /// The entry at a position, without its value. `None` if there is none, or none that can
    /// be read.
    #[inline]
    pub(crate) fn find(&self, at: usize) -> Option<FoundEntry> {
        let bytes = self.bytes.borrow();
        let (entry, next) = entry_at(&bytes[..self.len], at)?;
        Some(FoundEntry {
            is_first: entry.is_first,
            kind: entry.kind,
            site: entry.site,
            value_at: next - entry.value.len(),
            next,
        })
    }

    /// The value of an entry that was found in this journal.
    #[inline]
    pub(crate) fn value(&self, found: &FoundEntry) -> Bytes {
        Bytes::new(&self.bytes.borrow()[found.value_at..found.next])
    }

    /// Calls `f` with the entry at a position, and returns the position of the next one.
    /// `None` if there is no entry, or none that can be read.
    pub(crate) fn read<R>(&self, at: usize, f: impl FnOnce(Entry<'_>) -> R) -> Option<(R, usize)> {
        let bytes = self.bytes.borrow();
        let (entry, next) = entry_at(&bytes[..self.len], at)?;
        Some((f(entry), next))
    }

    /// The kind and the site of entry number `n`.
    pub(crate) fn at(&self, number: u32) -> Option<(Kind, SiteId)> {
        self.nth(number, |entry| (entry.kind, entry.site))
    }

    /// The value of entry number `n`.
    pub(crate) fn value_at(&self, number: u32) -> Option<Bytes> {
        self.nth(number, |entry| Bytes::new(entry.value))
    }

    fn nth<R>(&self, number: u32, f: impl FnOnce(Entry<'_>) -> R) -> Option<R> {
        let mut at = 0;
        for _ in 0..number {
            at = self.read(at, |_| ())?.1;
        }
        Some(self.read(at, f)?.0)
    }

    /// A separate journal with the same entries, with other numbers for the sites. `None` if
    /// `site` is `None` for one of them.
    pub(crate) fn map_sites(&self, mut site: impl FnMut(SiteId) -> Option<SiteId>) -> Option<Self> {
        let (mut mapped, mut at) = (Journal::new(), 0);
        let mut copy = |entry: Entry<'_>| {
            let site = site(entry.site)?;
            mapped.push(&Entry { site, ..entry });
            Some(())
        };
        while let Some((copied, next)) = self.read(at, &mut copy) {
            copied?;
            at = next;
        }
        Some(mapped)
    }

    /// The bytes of all entries.
    fn to_vec(&self) -> Vec<u8> {
        self.bytes.borrow()[..self.len].to_vec()
    }
}

#[inline]
fn entry_at(bytes: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    let mut left = bytes.get(at..)?;
    let head = take(&mut left)?;
    let site = SiteId(u32::try_from(take(&mut left)?).ok()?);
    let len = usize::try_from(take(&mut left)?).ok()?;
    let value = left.get(..len)?;
    let entry = Entry {
        is_first: head & 1 == 1,
        kind: Kind::of(head >> 1)?,
        site,
        value,
    };
    Some((entry, bytes.len() - left.len() + len))
}

/// Adds a number, seven bits in a byte.
#[inline]
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7F).expect("seven bits");
        number >>= 7;
        if number == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

#[inline]
fn take(left: &mut &[u8]) -> Option<u64> {
    match left {
        [byte, rest @ ..] if *byte < 0x80 => {
            *left = rest;
            Some(u64::from(*byte))
        }
        _ => take_long(left),
    }
}

fn take_long(left: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for at in 0..10 {
        let (&byte, rest) = left.split_first()?;
        *left = rest;
        number |= u64::from(byte & 0x7F).checked_shl(7 * at)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl Serialize for Journal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Bytes::new(&self.to_vec()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Journal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?.get().to_vec();
        let (mut at, mut entries) = (0, 0);
        while at < bytes.len() {
            let Some((_, next)) = entry_at(&bytes, at) else {
                return Err(D::Error::custom("an entry of a journal is damaged"));
            };
            (at, entries) = (next, entries + 1);
        }
        Ok(Journal {
            len: bytes.len(),
            bytes: Rc::new(RefCell::new(bytes)),
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Journal, Kind};
    use crate::site::SiteId;

    fn entry(kind: Kind, value: &[u8]) -> Entry<'_> {
        Entry {
            is_first: value.len() % 2 == 1,
            kind,
            site: SiteId(70_000),
            value,
        }
    }

    #[test]
    fn entries_are_read_back_in_order() {
        let kinds = [Kind::Effect, Kind::Panicked];
        let waits = [0, 1, 15, 16, u32::MAX].map(Kind::Ended);
        let failed = [0, 1, 15, 16, u32::MAX].map(Kind::Failed);
        let mut journal = Journal::new();
        let values: Vec<Vec<u8>> = (0..200).map(|len| vec![7; len]).collect();
        let expected: Vec<_> = kinds
            .into_iter()
            .chain(waits)
            .chain(failed)
            .cycle()
            .zip(&values)
            .collect();
        for (kind, value) in &expected {
            journal.push(&entry(*kind, value));
        }
        let mut at = 0;
        for (kind, value) in expected {
            let read = |read: Entry<'_>| assert_eq!(read, entry(kind, value));
            at = journal.read(at, read).unwrap().1;
        }
        assert!(journal.read(at, |_| ()).is_none());
    }

    #[test]
    fn a_fork_is_another_journal_and_a_clone_is_the_same_until_one_is_added() {
        let mut journal = Journal::new();
        journal.push(&entry(Kind::Ended(1), b"x"));
        let (same, fork) = (journal.clone(), journal.fork());
        assert!(journal.is(&same) && !journal.is(&fork));
        journal.push(&entry(Kind::Ended(2), b""));
        assert!(!journal.is(&same));
        assert_eq!(
            (same.entries(), journal.entries(), fork.entries()),
            (1, 2, 1)
        );
        assert!(same.find(fork.to_vec().len()).is_none());
    }
}
