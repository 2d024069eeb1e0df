//! The journal of a script: what its waits and effects have returned since its chapter began.
//!
//! In memory, an entry is a [word](Word), and behind it its value, if there is one. In files, the
//! same numbers have seven bits in a byte.

pub(crate) mod found;
pub(crate) mod long;
pub(crate) mod marks;
pub(crate) mod once;
pub(crate) mod said;
pub(crate) mod shift;
pub(crate) mod site;
pub(crate) mod stop_lines;

pub(crate) use self::found::{Found, OtherWaits};
pub(crate) use self::marks::Marks;
pub(crate) use self::once::Once;
pub(crate) use self::said::{said_at, waits};
pub(crate) use self::site::{Call, Known, NamedWait, Site, SiteId, SiteTable, Sites};
pub(crate) use self::stop_lines::StopLines;

use std::cell::RefCell;
use std::rc::Rc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Mark, StableHash};

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
    #[inline]
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

/// An entry without its value. From the lowest bit: whether it is the first of a poll, whether it
/// has a value, the site, and the kind with the number of its wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

const FIRST: u64 = 1;
const HAS_VALUE: u64 = 2;
const KIND_AT: u32 = 30;
const _: () = assert!(SiteId::MOST >> (KIND_AT - 2) == 0);

impl Word {
    /// An entry of this kind, with a site whose number is [small enough](SiteId::MOST).
    #[inline]
    pub(crate) fn new(kind: Kind, site: SiteId) -> Self {
        Word(kind.number() << KIND_AT | u64::from(site.0) << 2)
    }

    #[inline]
    fn with(self, is_first: bool, value: &[u8]) -> Self {
        Word(self.0 | u64::from(is_first) | u64::from(!value.is_empty()) << 1)
    }

    /// Whether it is the first entry of a poll, except for the first poll of the chapter.
    #[inline]
    pub(crate) fn is_first(self) -> bool {
        self.0 & FIRST != 0
    }

    #[inline]
    pub(crate) fn has_value(self) -> bool {
        self.0 & HAS_VALUE != 0
    }

    /// Whether both have the same kind and the same site.
    #[inline]
    pub(crate) fn is_like(self, other: Word) -> bool {
        (self.0 ^ other.0) >> 2 == 0
    }

    /// Whether it is like `other`, without a value.
    #[inline]
    pub(crate) fn is_plain(self, other: Word) -> bool {
        (self.0 ^ other.0) & !FIRST == 0
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::of(self.0 >> KIND_AT).expect("made of a kind")
    }

    pub(crate) fn site(self) -> SiteId {
        let site = self.0 >> 2 & u64::from(SiteId::MOST);
        SiteId(u32::try_from(site).expect("28 bits"))
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
    pub(crate) word: Word,
    value_at: usize,
    /// The position of the next entry.
    pub(crate) next: usize,
}

/// A journal up to some entry. Entries are only ever added, so a copy is a reference and a length.
/// Several scripts can have the same one, such as a script and its replay: the first that adds an
/// entry keeps it, and the others then copy it.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    bytes: Rc<RefCell<Vec<u8>>>,
    len: usize,
    entries: u32,
    hash: StableHash,
}

/// A copy of a journal that can be sent to another thread.
#[derive(Clone)]
pub(crate) struct SendJournal {
    bytes: Vec<u8>,
    entries: u32,
    hash: StableHash,
}

impl SendJournal {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl Journal {
    pub(crate) fn to_send(&self) -> SendJournal {
        SendJournal {
            bytes: self.bytes.borrow()[..self.len].to_vec(),
            entries: self.entries,
            hash: self.hash,
        }
    }

    pub(crate) fn of_send(sent: SendJournal) -> Self {
        Journal {
            len: sent.bytes.len(),
            bytes: Rc::new(RefCell::new(sent.bytes)),
            entries: sent.entries,
            hash: sent.hash,
        }
    }

    pub(crate) fn new() -> Self {
        Journal {
            bytes: Rc::default(),
            len: 0,
            entries: 0,
            hash: StableHash::new(),
        }
    }

    /// Begins anew, in the same memory if nobody else has it.
    pub(crate) fn restart(&mut self) {
        match Rc::get_mut(&mut self.bytes) {
            Some(bytes) => bytes.get_mut().clear(),
            None => self.bytes = Rc::default(),
        }
        (self.len, self.entries, self.hash) = (0, 0, StableHash::new());
    }

    /// How many entries there are.
    #[inline]
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// A hash of all entries, without the lines of their calls.
    pub(crate) fn hash(&self) -> StableHash {
        self.hash
    }

    /// Whether both are the same journal up to the same entry.
    pub(crate) fn is(&self, other: &Journal) -> bool {
        Rc::ptr_eq(&self.bytes, &other.bytes) && self.len == other.len
    }

    /// Adds an entry.
    #[inline(always)]
    pub(crate) fn push(&mut self, is_first: bool, kind: Kind, site: Known, value: &[u8]) {
        let word = Word::new(kind, site.id).with(is_first, value);
        self.hash.add(kind.number() << 1 | u64::from(is_first));
        self.hash.add(u64::from(site.what));
        let mut bytes = self.bytes.borrow_mut();
        if bytes.len() != self.len {
            drop(bytes);
            self.fork();
            bytes = self.bytes.borrow_mut();
        }
        bytes.extend_from_slice(&word.0.to_le_bytes());
        if !value.is_empty() {
            let len = u32::try_from(value.len()).expect("a value of less than 4 GB");
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(value);
            self.hash.add_bytes(value);
        }
        self.len = bytes.len();
        self.entries += 1;
    }

    /// Copies it, because another script has added other entries.
    #[cold]
    #[inline(never)]
    fn fork(&mut self) {
        let copy = self.bytes.borrow()[..self.len].to_vec();
        self.bytes = Rc::new(RefCell::new(copy));
    }

    /// The position of the next entry.
    pub(crate) fn end(&self) -> usize {
        self.len
    }

    /// The entry at a position, without its value. `None` if there is none.
    #[inline]
    pub(crate) fn find(&self, at: usize) -> Option<FoundEntry> {
        if at >= self.len {
            return None;
        }
        let bytes = self.bytes.borrow();
        let (word, rest) = bytes.get(at..)?.split_first_chunk()?;
        let word = Word(u64::from_le_bytes(*word));
        let mut value_at = at + size_of::<Word>();
        let mut next = value_at;
        if word.has_value() {
            let len = u32::from_le_bytes(*rest.first_chunk()?);
            value_at += size_of::<u32>();
            next = value_at + len as usize;
        }
        Some(FoundEntry {
            word,
            value_at,
            next,
        })
    }

    /// The value of an entry that was found in this journal.
    #[inline]
    pub(crate) fn value(&self, found: &FoundEntry) -> Bytes {
        if found.word.has_value() {
            Bytes::new(&self.bytes.borrow()[found.value_at..found.next])
        } else {
            Bytes::EMPTY
        }
    }

    /// Calls `f` with the entry at a position, and returns the position of the next one.
    /// `None` if there is no entry.
    pub(crate) fn read<R>(&self, at: usize, f: impl FnOnce(Entry<'_>) -> R) -> Option<(R, usize)> {
        let FoundEntry {
            word,
            value_at,
            next,
        } = self.find(at)?;
        let bytes = self.bytes.borrow();
        let entry = Entry {
            is_first: word.is_first(),
            kind: word.kind(),
            site: word.site(),
            value: &bytes[value_at..next],
        };
        Some((f(entry), next))
    }

    /// Calls `f` with each entry.
    pub(crate) fn each(&self, mut f: impl FnMut(Entry<'_>)) {
        let mut at = 0;
        while let Some(((), next)) = self.read(at, &mut f) {
            at = next;
        }
    }

    /// The kind and the site of entry number `n`.
    pub(crate) fn at(&self, number: u32) -> Option<(Kind, SiteId)> {
        self.nth(number, |entry| (entry.kind, entry.site))
    }

    /// The site of the last entry.
    pub(crate) fn last_site(&self) -> Option<SiteId> {
        Some(self.at(self.entries.checked_sub(1)?)?.1)
    }

    /// The value of entry number `n`.
    pub(crate) fn value_at(&self, number: u32) -> Option<Bytes> {
        self.nth(number, |entry| Bytes::new(entry.value))
    }

    fn nth<R>(&self, number: u32, f: impl FnOnce(Entry<'_>) -> R) -> Option<R> {
        let mut at = 0;
        for _ in 0..number {
            at = self.find(at)?.next;
        }
        Some(self.read(at, f)?.0)
    }

    /// A separate journal with the same entries, with other numbers for the sites. `None` if
    /// `site` is `None` for one of them.
    pub(crate) fn map_sites(&self, mut site: impl FnMut(SiteId) -> Option<Known>) -> Option<Self> {
        let (mut mapped, mut at) = (Journal::new(), 0);
        let mut copy = |entry: Entry<'_>| {
            mapped.push(entry.is_first, entry.kind, site(entry.site)?, entry.value);
            Some(())
        };
        while let Some((copied, next)) = self.read(at, &mut copy) {
            copied?;
            at = next;
        }
        Some(mapped)
    }

    /// What the values of the entries say of themselves.
    pub(crate) fn marks(&self, sites: &Sites) -> Marks {
        let mut marks = Marks::default();
        self.each(|entry| {
            if !entry.value.is_empty() {
                let is_value = matches!(entry.kind, Kind::Effect | Kind::Ended(_));
                let mark = sites.get(entry.site).and_then(|site| site.mark);
                let mark = mark.filter(|_| is_value);
                marks.push(mark.map_or(Mark::NONE, |mark| mark.mark(entry.value)));
            }
        });
        marks
    }

    /// The bytes of all entries in a file.
    fn to_file(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len / 2);
        self.each(|entry| {
            let head = entry.kind.number() << 1 | u64::from(entry.is_first);
            put(&mut bytes, head);
            put(&mut bytes, u64::from(entry.site.0));
            put(&mut bytes, entry.value.len() as u64);
            bytes.extend_from_slice(entry.value);
        });
        bytes
    }

    /// The journal of a file. Its hash is only right once its sites are
    /// [known](Self::map_sites).
    fn of_file(mut bytes: &[u8]) -> Option<Self> {
        let mut journal = Journal::new();
        while !bytes.is_empty() {
            let head = take(&mut bytes)?;
            let kind = Kind::of(head >> 1)?;
            let id = SiteId(u32::try_from(take(&mut bytes)?).ok()?);
            let len = usize::try_from(take(&mut bytes)?).ok()?;
            let value = bytes.get(..len).filter(|_| id.0 <= SiteId::MOST)?;
            bytes = &bytes[len..];
            journal.push(head & 1 == 1, kind, Known { id, what: 0 }, value);
        }
        Some(journal)
    }
}

/// Adds a number, seven bits in a byte.
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

fn take(left: &mut &[u8]) -> Option<u64> {
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
        serializer.serialize_bytes(&self.to_file())
    }
}

impl<'de> Deserialize<'de> for Journal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?;
        let journal = Journal::of_file(bytes.get());
        journal.ok_or_else(|| D::Error::custom("an entry of a journal is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Journal, Kind};
    use crate::journal::site::{Known, SiteId};

    const SITE: Known = Known {
        id: SiteId(70_000),
        what: 7,
    };

    fn push(journal: &mut Journal, kind: Kind, value: &[u8]) {
        journal.push(value.len() % 2 == 1, kind, SITE, value);
    }

    #[test]
    fn entries_are_read_back_in_order_also_from_a_file() {
        let kinds = [Kind::Effect, Kind::Panicked];
        let waits = [0, 1, 15, 16, u32::MAX].map(Kind::Ended);
        let failed = [0, 1, 15, 16, u32::MAX].map(Kind::Failed);
        let mut journal = Journal::new();
        let values: Vec<Vec<u8>> = (0..200).map(|len| vec![7; len]).collect();
        let kinds = kinds.into_iter().chain(waits).chain(failed).cycle();
        let expected: Vec<_> = kinds.zip(&values).collect();
        for (kind, value) in &expected {
            push(&mut journal, *kind, value);
        }
        let read = Journal::of_file(&journal.to_file()).unwrap();
        for journal in [journal, read] {
            let mut at = 0;
            for (kind, value) in &expected {
                let is = journal.read(at, |entry| {
                    assert_eq!(entry.is_first, value.len() % 2 == 1);
                    assert_eq!((entry.kind, entry.site), (*kind, SITE.id));
                    assert_eq!(entry.value, *value);
                });
                at = is.unwrap().1;
            }
            assert!(journal.read(at, |_| ()).is_none());
        }
    }

    #[test]
    fn copies_are_one_journal_until_both_have_added_an_entry() {
        let mut journal = Journal::new();
        push(&mut journal, Kind::Ended(1), b"x");
        let (same, mut other) = (journal.clone(), journal.clone());
        assert!(journal.is(&same));
        push(&mut journal, Kind::Ended(2), b"");
        assert!(!journal.is(&same));
        push(&mut other, Kind::Ended(3), b"yy");
        assert!(!journal.is(&other));
        let last = |of: &Journal| of.at(of.entries() - 1).unwrap().0;
        assert_eq!(last(&same), Kind::Ended(1));
        assert_eq!(last(&journal), Kind::Ended(2));
        assert_eq!(last(&other), Kind::Ended(3));
        assert!(same.find(same.len).is_none());
    }

    #[test]
    fn the_hash_is_that_of_the_entries_whatever_their_numbers_of_sites() {
        let mut journal = Journal::new();
        push(&mut journal, Kind::Ended(1), b"x");
        let before = journal.clone();
        push(&mut journal, Kind::Effect, b"a longer value");
        assert_ne!(journal.hash(), before.hash());
        let moved = journal.map_sites(|_| {
            Some(Known {
                id: SiteId(1),
                ..SITE
            })
        });
        assert_eq!(moved.unwrap().hash(), journal.hash());
        let other = journal.map_sites(|id| Some(Known { id, what: 8 }));
        assert_ne!(other.unwrap().hash(), journal.hash());
        let mut again = before.clone();
        push(&mut again, Kind::Effect, b"a longer value");
        assert_eq!(again.hash(), journal.hash());
    }
}
