//! Marks: what a value says of itself, in two bytes.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::StableHash;
use crate::bytes::tree::Tree;

/// Makes marks of the bytes of a type. A mark is a hash of the description of a value: of its fields and
/// variants by name, with what is in them. Another build reads the bytes as its own type. If the mark is
/// another one then, they mean something else there, although they can be read.
#[derive(Clone, Copy)]
pub(crate) struct Mark(fn(Option<&[u8]>) -> Said);

/// What a type says of bytes, and what it is called.
struct Said {
    mark: u16,
    is_read: bool,
    type_name: &'static str,
}

impl Mark {
    /// The mark of a value that has none, because it has no description or cannot be read.
    pub(crate) const NONE: u16 = 0;

    pub(crate) const fn of<T: Serialize + DeserializeOwned>() -> Self {
        Mark(mark::<T>)
    }

    /// The mark of a value.
    pub(crate) fn mark(self, value: &[u8]) -> u16 {
        (self.0)(Some(value)).mark
    }

    /// Whether these are the bytes of a value of the type.
    pub(crate) fn can_read(self, value: &[u8]) -> bool {
        (self.0)(Some(value)).is_read
    }

    pub(crate) fn type_name(self) -> &'static str {
        (self.0)(None).type_name
    }

    /// Whether a value that had this mark has it still. One that cannot be read is found when it is read.
    pub(crate) fn fits(self, value: &[u8], mark: u16) -> bool {
        if mark == Mark::NONE {
            return true;
        }
        let said = (self.0)(Some(value));
        !said.is_read || said.mark == mark
    }
}

fn mark<T: Serialize + DeserializeOwned>(value: Option<&[u8]>) -> Said {
    let read = value.and_then(bytes::read::<T>);
    let tree = read.as_ref().and_then(|value| Tree::of(value).ok());
    let mark = tree.map(|tree| u16::try_from(hash_of(&tree) % 0xFFFF + 1).expect("two bytes"));
    Said {
        mark: mark.unwrap_or(Mark::NONE),
        is_read: read.is_some(),
        type_name: std::any::type_name::<T>(),
    }
}

/// Whatever the order of a sequence or a map: those of hash tables have none.
fn hash_of(tree: &Tree) -> u64 {
    let mut hash = StableHash::new();
    match tree {
        Tree::Unit => hash.add(1),
        Tree::None => hash.add(2),
        Tree::Some(tree) => add(&mut hash, 3, hash_of(tree)),
        Tree::Bool(value) => add(&mut hash, 4, u64::from(*value)),
        Tree::Int(value) => {
            hash.add(5);
            hash.add_bytes(&value.to_le_bytes());
        }
        Tree::F32(value) => add(&mut hash, 6, u64::from(value.to_bits())),
        Tree::F64(value) => add(&mut hash, 7, value.to_bits()),
        Tree::Text(text) => {
            hash.add(8);
            hash.add_bytes(text.as_bytes());
        }
        Tree::Bytes(bytes) => {
            hash.add(9);
            hash.add_bytes(bytes);
        }
        Tree::Seq(items) => add(&mut hash, 10, sum(items.iter().map(hash_of))),
        Tree::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let mut hash = StableHash::new();
                let key = match key {
                    // A parameter that is not used any more.
                    Tree::Text(name) => hash_of(&Tree::Text(name.trim_start_matches('_').into())),
                    key => hash_of(key),
                };
                add(&mut hash, key, hash_of(value));
                hash.finish()
            });
            add(&mut hash, 11, sum(entries));
        }
    }
    hash.finish()
}

fn add(hash: &mut StableHash, kind: u64, content: u64) {
    hash.add(kind);
    hash.add(content);
}

fn sum(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0, u64::wrapping_add)
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mark")
    }
}
