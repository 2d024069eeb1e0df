//! What a change of code means for the saves of players, without a save.

use std::collections::BTreeMap;
use std::fmt;

use crate::places::table::Place;
use crate::places::{Difference, Match, Table};
use crate::script::Registry;

/// What has become of a statement of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatementChange {
    /// A script is gone: a save in it is refused.
    ScriptGone,
    /// A statement of this line is gone. What it has done stays done. A save that waits in it is refused.
    Removed(u32),
    /// The statement of the first line has another text, at the second place: it counts as the same.
    Reworded(u32, String),
    /// The statement of the first line stands elsewhere, at the second place. A save behind one of the two
    /// places and before the other is refused.
    Moved(u32, String),
    /// A statement at this place is new. A save behind it passes it, if it needs no value, and is refused
    /// else.
    Inserted(String),
    /// The list that the loop at this place goes over has other items. New ones before the point of a save are
    /// passed. A save in the loop is refused if one that stands before its item now, or stood there, is gone or
    /// has moved.
    List(String),
    /// The statement of the first line may be that at the second place, with another text, and may be another one
    /// as well. A save for which that matters is refused.
    Unclear(u32, String),
}

/// What has changed in a script since another build.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptChange {
    /// The name of the script.
    pub script: String,
    /// What has become of a statement of it.
    pub change: StatementChange,
}

impl fmt::Display for ScriptChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.script)?;
        match &self.change {
            StatementChange::ScriptGone => {
                f.write_str("the script is gone: saves in it are refused")
            }
            StatementChange::Removed(line) => write!(
                f,
                "line {line} is gone: what it has done stays done, and a save that waits there is refused"
            ),
            StatementChange::Reworded(line, at) => {
                write!(
                    f,
                    "line {line} has another text at {at}, and counts as the same"
                )
            }
            StatementChange::Moved(line, at) => {
                write!(
                    f,
                    "line {line} stands at {at} now: saves between the two are refused"
                )
            }
            StatementChange::Inserted(at) => write!(
                f,
                "{at} is new: saves behind it pass it, or are refused if it gives a value"
            ),
            StatementChange::List(at) => write!(
                f,
                "the list of the loop at {at} has other items: saves pass new ones, and are refused behind one that \
                 is gone or has moved, while they are in the loop"
            ),
            StatementChange::Unclear(line, at) => write!(
                f,
                "line {line} may be {at} with another text: saves for which that matters are refused"
            ),
        }
    }
}

impl Registry {
    /// The statements of all scripts, as bytes for a file. Commit that file for each build that is shipped: then a
    /// test can ask what a later build means for the saves of this one, with
    /// [`changes_since`](Self::changes_since).
    ///
    /// A file has about 14 bytes for each statement. Scripts that the attribute has not made have none.
    #[must_use]
    pub fn places(&self) -> Vec<u8> {
        let tables: BTreeMap<&str, Table> = self
            .codes()
            .map(|code| (code.name, Table::OfBuild(code.places.all())))
            .collect();
        postcard::to_stdvec(&tables).expect("tables serialise")
    }

    /// What has changed since a build, whose [`places`](Self::places) these are, and what that means for its
    /// saves. `None` if these are no places.
    ///
    /// A load decides by the point of the save, and compares the values, too. This says what has changed in the
    /// scripts themselves: a function without the attribute that does something else is not found.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// mod shipped {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn talk() {
    ///         with(|said: &mut Vec<String>| said.push("Hello.".into()));
    ///         wait_seconds(1).await;
    ///     }
    /// }
    ///
    /// mod today {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn talk() {
    ///         with(|said: &mut Vec<String>| said.push("Hello.".into()));
    ///         wait_seconds(1).await;
    ///         with(|said: &mut Vec<String>| said.push("Bye.".into()));
    ///     }
    /// }
    ///
    /// let shipped = Registry::new().script(shipped::talk).places();
    /// let changes = Registry::new().script(today::talk).changes_since(&shipped).unwrap();
    /// assert_eq!(changes.len(), 1);
    /// assert!(changes[0].to_string().contains("is new"));
    /// ```
    #[must_use]
    pub fn changes_since(&self, places: &[u8]) -> Option<Vec<ScriptChange>> {
        let tables: BTreeMap<String, Table> = postcard::from_bytes(places).ok()?;
        let mut changes = Vec::new();
        for (name, table) in &tables {
            let mut add = |change| {
                changes.push(ScriptChange {
                    script: name.clone(),
                    change,
                });
            };
            let Some(known) = self.find(name) else {
                add(StatementChange::ScriptGone);
                continue;
            };
            let places = known.code.places;
            let difference = Difference::of(table.list(), places.all(), &[]);
            let at = |now: u32| {
                let line = difference.line_now(now).unwrap_or(0);
                format!("{}:{line}", places.file)
            };
            let (old, new) = (table.list(), places.all());
            let then = difference.now.iter().zip(&difference.lines_then).zip(old);
            for ((now, &line), _) in then.skip(1).filter(|(_, old)| old.is_statement()) {
                match *now {
                    Match::None => add(StatementChange::Removed(line)),
                    Match::Changed(now) => add(StatementChange::Reworded(line, at(now))),
                    Match::Moved(now) => add(StatementChange::Moved(line, at(now))),
                    Match::Same(_) => {}
                }
            }
            let numbered = (0..).zip(&difference.then).zip(new);
            for ((now, then), place) in numbered.skip(1) {
                if place.is_list() && difference.has_other_items(now, old, new) {
                    add(StatementChange::List(at(now)));
                } else if *then == Match::None && place.is_statement() {
                    add(StatementChange::Inserted(at(now)));
                }
            }
            for (then, now) in difference.doubts.unclear() {
                let line = difference.line_then(then);
                let is_statement = old.get(then as usize).is_some_and(Place::is_statement);
                if let Some(line) = line.filter(|_| is_statement) {
                    add(StatementChange::Unclear(line, at(now)));
                }
            }
        }
        Some(changes)
    }
}
