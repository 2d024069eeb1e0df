//! The states and values of a save: as the runtime has them, or described.

use std::fmt;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{self, Bytes};
use crate::error::SaveError;
use crate::image::{SaveState, ScriptImage};
use crate::registry::Registry;
use crate::tree::{Tree, Unfit};

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
            Content::Compact(bytes) => f.write_str(&crate::look::text_of(bytes.get())),
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

impl SaveState {
    /// The same with states that describe themselves: the states of all scripts, and the values
    /// that the registry [knows](Registry::with_value), with the names of their fields. Such a save
    /// is larger, and a later build can read it although the types have changed since, without
    /// another [`VERSION`](crate::DurableScript::VERSION):
    ///
    /// - a field was added, with `#[serde(default)]`;
    /// - a field was removed, or has become an `Option`;
    /// - a field was renamed, with `#[serde(alias = "..")]`;
    /// - the fields are in another order, or a number has another size that it fits into.
    ///
    /// Whether the script continues then, is decided by its journal, as for any change of its code.
    /// What is recorded in journals is not described, nor are the results of scripts that have
    /// ended: they last as long as the chapter.
    ///
    /// [`to_bytes_with`](SaveState::to_bytes_with) describes the world, too. In formats that people
    /// read, such as JSON, states appear with their fields.
    ///
    /// Its [checksum](SaveState::checksum) is another one. A runtime that loads it continues like
    /// one that loads the save state itself.
    ///
    /// # Errors
    ///
    /// [`SaveError::NotDescribed`] if a script is not in the registry, or a state or a value does not
    /// read back what it writes.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// mod first_release {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn shop(coins: u32) {
    ///         wait_seconds(60).await;
    ///     }
    /// }
    ///
    /// mod second_release {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn shop(#[serde(default)] guests: Vec<String>, coins: u32) {
    ///         wait_seconds(60).await;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new().with::<first_release::Shop>();
    /// let runtime = Runtime::new(registry.clone());
    /// runtime.start(first_release::shop(3)).detach();
    /// let file = runtime.save()?.described(&registry)?.to_bytes();
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<second_release::Shop>());
    /// runtime.restore(&SaveState::from_bytes(&file)?, Policy::Fail)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn described(&self, registry: &Registry) -> Result<SaveState, SaveError> {
        let mut described = self.clone();
        for script in &mut described.scripts {
            let ScriptImage { name, version, .. } = &**script;
            let state = registry.describe_state(name, *version, &script.state);
            script.state = state.map_err(|why| SaveError::NotDescribed {
                what: format!("the state of the script `{name}`"),
                why,
            })?;
        }
        for (name, value, ..) in &mut described.values {
            if let Some(value) = value {
                let content = registry.describe_value(name.as_ref(), value);
                *value = content.map_err(|why| SaveError::NotDescribed {
                    what: format!("the value `{name}`"),
                    why,
                })?;
            }
        }
        described.is_described = true;
        // Another registry may not be able to read it.
        described.is_taken = false;
        Ok(described)
    }
}
