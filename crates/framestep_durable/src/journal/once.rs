//! What a script does once in its life, beyond chapters and restarts.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;

/// The labels of what a script has done once, with the results. A copy is a reference: only a
/// change while there is another copy copies the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Once(Option<Rc<BTreeMap<Box<str>, Bytes>>>);

impl Once {
    /// The result of what was done under this label.
    pub(crate) fn get(&self, label: &str) -> Option<&Bytes> {
        self.0.as_ref()?.get(label)
    }

    pub(crate) fn insert(&mut self, label: &str, result: Bytes) {
        let results = self.0.get_or_insert_default();
        Rc::make_mut(results).insert(label.into(), result);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The labels, in their order, with the results.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        let results = self.0.iter().flat_map(|results| results.iter());
        results.map(|(label, result)| (&**label, result))
    }
}

impl Serialize for Once {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(results) => (**results).serialize(serializer),
            None => BTreeMap::<Box<str>, Bytes>::new().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let results = BTreeMap::deserialize(deserializer)?;
        Ok(Once((!results.is_empty()).then(|| Rc::new(results))))
    }
}
