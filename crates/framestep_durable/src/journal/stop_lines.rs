//! Which lines have stopped scripts, for the errors of joins. They are another text in another build,
//! so they stand beside what checksums cover: results and journals.

use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The lines that have stopped the scripts which a chapter has joined, by the number of the entry of
/// the join, from 1. A copy is a reference: only a change while there is another copy copies the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopLines(Option<Rc<Vec<(u32, String)>>>);

impl StopLines {
    /// The line of an entry.
    pub(crate) fn of(&self, entry: u32) -> Option<&str> {
        let lines = self.0.as_ref()?;
        // Entries only ever follow. What was read may be damaged: then there is no line.
        let at = lines.binary_search_by_key(&entry, |(entry, _)| *entry);
        Some(&lines[at.ok()?].1)
    }

    /// Adds that of the latest entry.
    pub(crate) fn insert(&mut self, entry: u32, line: &str) {
        let lines = self.0.get_or_insert_default();
        Rc::make_mut(lines).push((entry, line.to_owned()));
    }
}

impl Serialize for StopLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lines = self.0.as_ref().map_or(&[][..], |lines| lines);
        lines.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StopLines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lines = Vec::deserialize(deserializer)?;
        Ok(StopLines((!lines.is_empty()).then(|| Rc::new(lines))))
    }
}
