//! Names of signals, watches and semaphores: one for all, or one for each key.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use framestep::durable::SourceName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// The name of a signal, a watch or a semaphore, for a wait to keep.
#[derive(Clone)]
pub(crate) struct SourceTopic {
    /// Without the key.
    pub(crate) base: &'static str,
    keyed: Option<Topic>,
}

impl SourceTopic {
    pub(crate) fn of(name: SourceName<'_>) -> Self {
        SourceTopic {
            base: name.base,
            keyed: name.keyed.map(|full| Topic(Rc::clone(full))),
        }
    }

    /// With the key.
    pub(crate) fn full(&self) -> &str {
        self.keyed.as_ref().map_or(self.base, Topic::as_ref)
    }
}
