//! Marks: what a value says of itself, in two bytes.

use std::cell::Cell;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes;
use crate::bytes::tree::{Description, Unfit, describe};
use crate::bytes::{Bytes, StableHash};

/// Makes marks of the bytes of a type. A mark is a hash of the description of a value: of its fields and
/// variants by name, with what is in them. Another build reads the bytes as its own type. If the mark is
/// another one then, they mean something else there, although they can be read.
#[derive(Clone, Copy)]
pub(crate) struct Mark(fn(Asked<'_>) -> Said);

/// What a type is asked.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Name,
    /// What a value says.
    Value(&'a [u8]),
    /// The value whose bytes are all zero.
    Zeros,
}

/// What a type says of bytes, and what it is called.
struct Said {
    mark: u16,
    is_read: bool,
    zeros: Option<Bytes>,
    type_name: &'static str,
}

impl Mark {
    /// The mark of a value that has none, because it has no description or cannot be read.
    pub(crate) const NONE: u16 = 0;

    pub(crate) const fn of<T: Serialize + DeserializeOwned>() -> Self {
        Mark(mark::<T>)
    }

    /// That of a `T` in a `W`, which may have none.
    pub(crate) const fn within<W: Contains, T: Serialize + DeserializeOwned>() -> Self {
        Mark(|asked| {
            let Asked::Value(value) = asked else {
                return mark::<T>(Asked::Name);
            };
            let within = bytes::read::<W>(value);
            let content = within.as_ref().and_then(W::content);
            mark::<T>(content.map_or(Asked::Name, |content| Asked::Value(content.get())))
        })
    }

    /// The mark of a value.
    pub(crate) fn mark(self, value: &[u8]) -> u16 {
        (self.0)(Asked::Value(value)).mark
    }

    /// Whether these are the bytes of a value of the type that had this mark and has it still.
    pub(crate) fn can_read(self, value: &[u8], mark: u16) -> bool {
        let said = (self.0)(Asked::Value(value));
        said.is_read && (mark == Mark::NONE || said.mark == mark)
    }

    pub(crate) fn type_name(self) -> &'static str {
        (self.0)(Asked::Name).type_name
    }

    /// A value for code of which nothing is done: that whose bytes are all zero. `None` if the type has none,
    /// or no bytes.
    pub(crate) fn zeros(self) -> Option<Bytes> {
        (self.0)(Asked::Zeros).zeros
    }

    /// Whether a value that had this mark has it still. One that cannot be read is found when it is read.
    pub(crate) fn fits(self, value: &[u8], mark: u16) -> bool {
        if mark == Mark::NONE {
            return true;
        }
        let said = (self.0)(Asked::Value(value));
        !said.is_read || said.mark == mark
    }
}

/// What may have a value in it, as it is recorded.
pub(crate) trait Contains: DeserializeOwned {
    fn content(&self) -> Option<&Bytes>;
}

/// A value that is stored outside of journals, and how it describes itself.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    value: Bytes,
    says: Cell<Says>,
}

/// How a stored value describes itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Says {
    /// As one of this type.
    As(Mark),
    /// With this mark, in the build that has made the file that it is from.
    Had(u16),
}

impl Marked {
    /// Serialises a value.
    ///
    /// # Panics
    ///
    /// If the value's `Serialize` fails.
    #[track_caller]
    pub(crate) fn of<T: Serialize + DeserializeOwned>(value: &T) -> Self {
        Marked {
            value: Bytes::of(value),
            says: Cell::new(Says::As(Mark::of::<T>())),
        }
    }

    pub(crate) fn value(&self) -> &Bytes {
        &self.value
    }

    pub(crate) fn into_value(self) -> Bytes {
        self.value
    }

    /// Its mark.
    pub(crate) fn mark(&self) -> u16 {
        match self.says.get() {
            Says::As(_) if self.value.get().is_empty() => Mark::NONE,
            Says::As(mark) => mark.mark(self.value.get()),
            Says::Had(mark) => mark,
        }
    }

    /// Whether it is one of this type, and means what it meant.
    pub(crate) fn is(&self, of: Mark) -> bool {
        of.can_read(self.value.get(), self.mark())
    }

    pub(crate) fn says(&self) -> Says {
        self.says.get()
    }

    /// Puts back what it says of itself, which is not in its bytes.
    pub(crate) fn set_says(&self, says: Says) {
        self.says.set(says);
    }
}

/// Of equal values: how they describe themselves follows from their types.
impl PartialEq for Marked {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Marked {}

/// The value alone. In a file, the marks of all stored values are beside it.
impl Serialize for Marked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Marked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Marked {
            value: Bytes::deserialize(deserializer)?,
            says: Cell::new(Says::Had(Mark::NONE)),
        })
    }
}

/// Of each type there is such a function, so it is short: what does not need the type is elsewhere.
fn mark<T: Serialize + DeserializeOwned>(asked: Asked<'_>) -> Said {
    let said = Said {
        mark: Mark::NONE,
        is_read: false,
        zeros: None,
        type_name: std::any::type_name::<T>(),
    };
    match asked {
        Asked::Name => said,
        Asked::Value(value) => match bytes::read::<T>(value) {
            Some(value) => said.of_value(describe(&value)),
            None => said,
        },
        Asked::Zeros => said.of_zeros(bytes::length_of_zeros::<T>()),
    }
}

impl Said {
    /// What it says of a value that was read.
    fn of_value(self, described: Result<Described, Unfit>) -> Self {
        let mark = described.map(|of| u16::try_from(of.hash % 0xFFFF + 1).expect("two bytes"));
        Said {
            mark: mark.unwrap_or(Mark::NONE),
            is_read: true,
            ..self
        }
    }

    /// What it says of a value with so many bytes, which are all zero.
    fn of_zeros(self, length: usize) -> Self {
        let zeros = bytes::ZEROS.get(..length).filter(|zeros| !zeros.is_empty());
        Said {
            zeros: zeros.map(Bytes::new),
            ..self
        }
    }
}

/// The hash of the description of a value, which is not made.
struct Described {
    hash: u64,
    /// That of a key of a map.
    as_key: u64,
}

impl Described {
    fn of(kind: u64, add: impl FnOnce(&mut StableHash)) -> Self {
        let mut hash = StableHash::new();
        hash.add(kind);
        add(&mut hash);
        let hash = hash.finish();
        Described { hash, as_key: hash }
    }
}

/// Whatever the order of a sequence or a map: those of hash tables have none.
impl Description for Described {
    /// The sum of the hashes.
    type Seq = u64;
    type Map = u64;

    fn unit() -> Self {
        Described::of(1, |_| ())
    }

    fn none() -> Self {
        Described::of(2, |_| ())
    }

    fn some(self) -> Self {
        Described::of(3, |hash| hash.add(self.hash))
    }

    fn bool(value: bool) -> Self {
        Described::of(4, |hash| hash.add(value.into()))
    }

    fn int(value: i128) -> Self {
        Described::of(5, |hash| hash.add_bytes(&value.to_le_bytes()))
    }

    fn f32(value: f32) -> Self {
        Described::of(6, |hash| hash.add(value.to_bits().into()))
    }

    fn f64(value: f64) -> Self {
        Described::of(7, |hash| hash.add(value.to_bits()))
    }

    fn text(value: &str) -> Self {
        let of = |text: &str| Described::of(8, |hash| hash.add_bytes(text.as_bytes()));
        // A parameter that is not used any more.
        let used = value.trim_start_matches('_');
        let text = of(value);
        Described {
            as_key: if used == value {
                text.hash
            } else {
                of(used).hash
            },
            ..text
        }
    }

    fn bytes(value: &[u8]) -> Self {
        Described::of(9, |hash| hash.add_bytes(value))
    }

    fn add_item(items: &mut u64, item: Self) {
        *items = items.wrapping_add(item.hash);
    }

    fn seq(items: u64) -> Self {
        Described::of(10, |hash| hash.add(items))
    }

    fn add_entry(entries: &mut u64, key: Self, value: Self) {
        let mut hash = StableHash::new();
        hash.add(key.as_key);
        hash.add(value.hash);
        *entries = entries.wrapping_add(hash.finish());
    }

    fn map(entries: u64) -> Self {
        Described::of(11, |hash| hash.add(entries))
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mark")
    }
}
