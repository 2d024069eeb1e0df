//! The states and values of a save: as the runtime has them, or described.

use std::fmt;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes;
use crate::bytes::Bytes;
use crate::bytes::tree::{Tree, Unfit};

/// A state or a value in a save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Content {
    /// As the runtime has it, without names of fields.
    Compact(Bytes),
    /// With the names of its fields, for builds whose types have changed.
    Described(Described),
}

/// A shared tree.
#[derive(Clone, Debug)]
pub(crate) struct Described(Rc<Tree>);

impl Content {
    /// Reads it, or says why it is not a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Unfit> {
        match self {
            Content::Compact(bytes) => match bytes::read(bytes.get()) {
                Some(value) => Ok(value),
                None => Err(Unfit::new(
                    "its fields have changed, or it is of another type",
                )),
            },
            Content::Described(Described(tree)) => tree.read(),
        }
    }
}

/// What a value can be turned into.
#[derive(Clone, Copy)]
enum Form {
    /// Nothing else: it is only read.
    Same,
    Compact,
    Described,
}

fn convert<T: Serialize + DeserializeOwned>(from: &Content, to: Form) -> Result<Content, Unfit> {
    let value: T = from.read()?;
    match to {
        Form::Same => Ok(from.clone()),
        Form::Compact => Ok(Content::Compact(Bytes::of(&value))),
        Form::Described => match Tree::of(&value) {
            Ok(tree) => Ok(Content::Described(Described(Rc::new(tree)))),
            Err(why) => Err(why),
        },
    }
}

/// Whether both are the same value: a `HashMap` has no order.
fn has_the_same_bytes(one: &Bytes, other: &Bytes) -> bool {
    let sorted = |bytes: &Bytes| {
        let mut bytes = bytes.get().to_vec();
        bytes.sort_unstable();
        bytes
    };
    one == other || sorted(one) == sorted(other)
}

impl PartialEq for Described {
    fn eq(&self, other: &Self) -> bool {
        // A NaN is not equal to itself.
        self.0.to_bytes() == other.0.to_bytes()
    }
}

/// A type of states or values.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    /// One in another form. An error says why it is of another type.
    convert: fn(&Content, Form) -> Result<Content, Unfit>,
}

impl Type {
    pub(crate) fn of<T: Serialize + DeserializeOwned>() -> Self {
        Type {
            name: std::any::type_name::<T>(),
            convert: convert::<T>,
        }
    }

    /// Describes one, or says why that is not possible.
    pub(crate) fn describe(self, content: &Content) -> Result<Content, String> {
        let Content::Compact(compact) = content else {
            return Ok(content.clone());
        };
        let convert = |from: &Content, to| (self.convert)(from, to).map_err(|why| why.to_string());
        let described = match convert(content, Form::Same) {
            Ok(_) => convert(content, Form::Described)?,
            Err(_) => return Err(DOES_NOT_READ.to_owned()),
        };
        match convert(&described, Form::Compact)? {
            Content::Compact(again) if has_the_same_bytes(&again, compact) => Ok(described),
            _ => Err(DOES_NOT_READ.to_owned()),
        }
    }

    /// The names of the fields of a described one that this type does not have.
    pub(crate) fn fields_lost_of(self, described: &Content) -> Vec<String> {
        let mut lost = Vec::new();
        let now = (self.convert)(described, Form::Described);
        if let (Content::Described(then), Ok(Content::Described(now))) = (described, now) {
            then.0.fields_not_in(&now.0, &mut lost);
        }
        lost
    }

    /// One as the runtime has it, also if it is of another type and compact.
    pub(crate) fn compact_unread(self, content: &Content) -> Option<Bytes> {
        match content {
            Content::Compact(bytes) => Some(bytes.clone()),
            Content::Described(_) => self.compact(content).ok(),
        }
    }

    /// One as the runtime has it. An error says why it is of another type.
    pub(crate) fn compact(self, content: &Content) -> Result<Bytes, String> {
        // What is compact stays as it is: a `HashMap` would be in another order.
        let form = match content {
            Content::Compact(_) => Form::Same,
            Content::Described(_) => Form::Compact,
        };
        match (self.convert)(content, form) {
            Ok(Content::Compact(bytes)) => Ok(bytes),
            Ok(Content::Described(_)) => unreachable!("it is compact"),
            Err(why) => Err(why.to_string()),
        }
    }
}

const DOES_NOT_READ: &str = "it does not read back what it writes";

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Compact(bytes) => f.write_str(&bytes::text_of(bytes.get())),
            Content::Described(Described(tree)) => tree.fmt(f),
        }
    }
}

impl Serialize for Described {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Described {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Described(Rc::new(Tree::deserialize(deserializer)?)))
    }
}
