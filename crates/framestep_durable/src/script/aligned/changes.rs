//! What a replay of changed code has passed and skipped.

use std::fmt;

use crate::journal::Site;

/// What has changed in the code of a script that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A statement is new, and stands before the point at which the script was saved. It was passed: what it
    /// does is not done.
    Inserted,
    /// A statement is gone. What it has done stays done.
    Removed,
    /// The same, and what the script held by it was released: a clock, permits, a subscription or a promise.
    Released,
    /// A statement stands elsewhere. It was done.
    Moved,
    /// A statement has another text. It counts as done, with the value that the earlier one has returned.
    Reworded,
    /// A loop goes over something else, or ends otherwise. Its turns count in their order.
    Turned,
}

/// A change that a load has gone past, with the lines in both builds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What has become of the statement.
    pub kind: ChangeKind,
    /// What it calls: "`with`". Of a loop, "the loop".
    pub call: String,
    /// The line of the statement in the build that has made the save. `None` if it is new.
    pub line_then: Option<u32>,
    /// The file and the line of the statement in this build. `None` if it is gone.
    pub at: Option<String>,
    /// How often that was so.
    pub times: u32,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change {
            kind,
            call,
            line_then,
            at,
            times,
        } = self;
        let then = line_then.map_or(String::new(), |line| format!("line {line}"));
        let at = at.as_deref().unwrap_or_default();
        match kind {
            ChangeKind::Inserted => {
                write!(
                    f,
                    "{call} at {at} is new, before the point of the save: passed"
                )?;
            }
            ChangeKind::Removed => write!(f, "{call} of {then} is gone: skipped")?,
            ChangeKind::Released => {
                write!(
                    f,
                    "{call} of {then} is gone: what the script held by it is released"
                )?;
            }
            ChangeKind::Moved => {
                write!(f, "{call} of {then} stands at {at} now: it was done")?;
            }
            ChangeKind::Reworded => write!(
                f,
                "{call} of {then} has another text at {at}: what it has returned before counts"
            )?,
            ChangeKind::Turned => write!(
                f,
                "{call} of {then} goes round in another way at {at}: its turns count in their order"
            )?,
        }
        if *times > 1 {
            write!(f, " ({times} times)")?;
        }
        Ok(())
    }
}

/// All changes of a script so far.
#[derive(Default)]
pub(super) struct Changes {
    list: Vec<Change>,
}

impl Changes {
    pub(super) fn add(
        &mut self,
        kind: ChangeKind,
        of: &Site,
        line_then: Option<u32>,
        at: Option<String>,
    ) {
        self.add_of(kind, super::said_call(of), line_then, at);
    }

    /// Adds a loop in which an entry was taken.
    pub(super) fn add_turns(&mut self, line_then: Option<u32>, at: String) {
        let call = "the loop".to_owned();
        self.add_of(ChangeKind::Turned, call, line_then, Some(at));
    }

    fn add_of(
        &mut self,
        kind: ChangeKind,
        call: String,
        line_then: Option<u32>,
        at: Option<String>,
    ) {
        let is_it = |known: &&mut Change| {
            (known.kind, &known.call, known.line_then, &known.at) == (kind, &call, line_then, &at)
        };
        // Of a loop, the same changes follow one another.
        let mut latest = self.list.iter_mut().rev().take(64);
        match latest.find(is_it) {
            Some(known) => known.times += 1,
            None => self.list.push(Change {
                kind,
                call,
                line_then,
                at,
                times: 1,
            }),
        }
    }

    pub(super) fn into_list(self) -> Vec<Change> {
        self.list
    }
}
