//! Values that describe themselves: with the names of their fields and variants, so that a later
//! build can read them although its types have changed.
//!
//! postcard, in which everything else is saved, writes neither names nor types. JSON and CBOR lose
//! some values of serde (an `Option` in an `Option`, a NaN, a key that is a number). A tree keeps
//! all of them: `write` makes one of any value, `read` makes a value of one. `code` writes it as
//! bytes, and `text` in formats that people read.

mod code;
mod differs;
mod read;
mod text;
mod write;

pub(crate) use self::write::{Description, describe};

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value of any type that serde can serialise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Unit,
    None,
    Some(Box<Tree>),
    Bool(bool),
    Int(i128),
    F32(f32),
    F64(f64),
    /// A text, a character, or a variant without content.
    Text(String),
    Bytes(Vec<u8>),
    Seq(Vec<Tree>),
    /// A map or a struct. A variant with content is a map of its name to the content.
    Map(Vec<(Tree, Tree)>),
}

/// How deep a value may be nested. A damaged file must not use up the stack.
const DEEPEST: u32 = 100;

/// Why a value cannot be described, or is of another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfit(String);

impl Unfit {
    pub(crate) fn new(why: impl fmt::Display) -> Self {
        Unfit(why.to_string())
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl serde::ser::Error for Unfit {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Unfit::new(why)
    }
}

impl serde::de::Error for Unfit {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Unfit::new(why)
    }
}

impl Tree {
    /// Describes a value.
    pub(crate) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Tree, Unfit> {
        describe(value)
    }

    /// Reads the value.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Unfit> {
        T::deserialize(self)
    }

    /// The names of the fields that `now` does not have any more, from the outside in. A field whose value
    /// stands under a new name has been renamed.
    pub(crate) fn fields_not_in(&self, now: &Tree, lost: &mut Vec<String>) {
        match (self, now) {
            (Tree::Map(then), Tree::Map(now)) => {
                let find = |of: &'_ [(Tree, Tree)], name: &Tree| {
                    of.iter().position(|(key, _)| key == name)
                };
                for (name, value) in then {
                    if let Some(at) = find(now, name) {
                        value.fields_not_in(&now[at].1, lost);
                        continue;
                    }
                    let mut new = now.iter().filter(|(key, _)| find(then, key).is_none());
                    if let (Tree::Text(name), None) = (name, new.find(|(_, it)| it == value)) {
                        lost.push(name.clone());
                    }
                }
            }
            (Tree::Seq(then), Tree::Seq(now)) => {
                for (then, now) in then.iter().zip(now) {
                    then.fields_not_in(now, lost);
                }
            }
            (Tree::Some(then), Tree::Some(now)) => then.fields_not_in(now, lost),
            // A field that has become optional.
            (then, Tree::Some(now)) => then.fields_not_in(now, lost),
            _ => {}
        }
    }

    /// The value as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        code::put(self, &mut bytes);
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written. `None` if the bytes are anything else.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Tree> {
        let tree = code::take(&mut bytes, 0)?;
        bytes.is_empty().then_some(tree)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            text::Shown(self).serialize(serializer)
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        if deserializer.is_human_readable() {
            return text::read(deserializer);
        }
        let bytes = crate::bytes::Bytes::deserialize(deserializer)?;
        let tree = Tree::from_bytes(bytes.get());
        tree.ok_or_else(|| D::Error::custom("a description is damaged"))
    }
}

/// As JSON shows it.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |f: &mut fmt::Formatter<'_>, at| match at {
            0 => Ok(()),
            _ => f.write_str(", "),
        };
        match self {
            Tree::Unit => f.write_str("()"),
            Tree::None => f.write_str("none"),
            Tree::Some(tree) => tree.fmt(f),
            Tree::Bool(value) => value.fmt(f),
            Tree::Int(value) => value.fmt(f),
            Tree::F32(value) => write!(f, "{value:?}"),
            Tree::F64(value) => write!(f, "{value:?}"),
            Tree::Text(value) => write!(f, "{value:?}"),
            Tree::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Tree::Seq(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    comma(f, at)?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Tree::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    comma(f, at)?;
                    match key {
                        Tree::Text(key) => write!(f, "{key}: {value}")?,
                        key => write!(f, "{key}: {value}")?,
                    }
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
