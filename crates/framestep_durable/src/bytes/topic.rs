//! Names of signals, values and permits: one for all, or one for each key.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::key;

/// The full name of a signal, a value or permits: `knock`, or `knock[3]` with a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Topic(Rc<str>);

impl Topic {
    pub(crate) fn new(name: &str) -> Self {
        Topic(name.into())
    }
}

impl Borrow<str> for Topic {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Topic {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for Topic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Topic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Topic(String::deserialize(deserializer)?.into()))
    }
}

/// A name of a state, for as long as the process lives: journals name their calls by constants. As many
/// are kept as the code has names.
pub(crate) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(Box::from(name));
    names.insert(name);
    name
}

/// The name of a [`Signal`](crate::Signal), a [`Value`](crate::Watch) or
/// [`Semaphore`](crate::Semaphore): a text, or one with a [key](Keyed). The functions of the host accept
/// both. It cannot be implemented by other types.
pub trait EventName: Clone + fmt::Debug + Sealed + 'static {}

/// What both kinds of names have.
pub trait Sealed {
    /// The name without the key.
    fn base(&self) -> &'static str;
    /// The name with the key.
    fn full(&self) -> &str;
}

impl EventName for &'static str {}

impl Sealed for &'static str {
    fn base(&self) -> &'static str {
        self
    }

    fn full(&self) -> &str {
        self
    }
}

/// A name with a key, such as the name of a signal of one entity. Made by
/// [`Signal::keyed`](crate::Signal::keyed), [`Value::keyed`](crate::Watch::keyed) and
/// [`Semaphore::keyed`](crate::Semaphore::keyed).
///
/// It prints as the name with the key: `knock[3]`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Keyed {
    base: &'static str,
    topic: Topic,
}

impl Keyed {
    #[track_caller]
    pub(crate) fn new<Q: Serialize + ?Sized>(base: &'static str, key: &Q) -> Self {
        let mut full = format!("{base}[");
        if let Err(error) = key::write(key, &mut full) {
            panic!(
                "a key of `{base}` of type `{}` has no text: {error}. Use a number, a text, an id \
                 or a tuple of these",
                std::any::type_name::<Q>()
            );
        }
        full.push(']');
        let topic = Topic(full.into());
        Keyed { base, topic }
    }
}

impl EventName for Keyed {}

impl Sealed for Keyed {
    fn base(&self) -> &'static str {
        self.base
    }

    fn full(&self) -> &str {
        self.topic.as_ref()
    }
}

impl fmt::Display for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.topic, f)
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.topic, f)
    }
}
