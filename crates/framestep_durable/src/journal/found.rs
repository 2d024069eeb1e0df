//! What a replay finds that does not fit its journal.

use std::panic::Location;

use crate::journal::{Kind, NamedWait, SiteId};

/// Why pending waits are not those of the save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherWaits {
    /// Other calls, or for something else.
    Calls,
    /// The number of a wait in the save, and now.
    Number(u32, u32),
    /// They are in other lines, or not as far from the calls before them as they were.
    Place,
}

/// A divergence, as found by a replay.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Damaged {
        entry: u32,
    },
    NotReached {
        entry: u32,
        now: Vec<NamedWait>,
    },
    OtherLine {
        entry: u32,
        here: SiteId,
    },
    /// The call has moved by another number of lines than those before it.
    OtherShift {
        entry: u32,
        here: SiteId,
    },
    Other {
        entry: u32,
        kind: Kind,
        here: SiteId,
    },
    OtherValue {
        entry: u32,
        type_name: &'static str,
    },
    /// What was done once has another label.
    OtherLabel {
        entry: u32,
        label: String,
    },
    Returned {
        entry: u32,
    },
    Panicked {
        entry: u32,
        message: String,
    },
    NotRecorded {
        entry: u32,
        /// Where the wait began, if it is one of framestep.
        at: Option<&'static Location<'static>>,
    },
    OtherWaits {
        entry: u32,
        saved: Vec<NamedWait>,
        now: Vec<NamedWait>,
        why: OtherWaits,
    },
    /// A wait is about another script, owner, subscription or promise: what it is about in the save,
    /// and now.
    OtherSubject {
        entry: u32,
        wait: NamedWait,
        says: [String; 2],
    },
    /// A value that is stored for the script is of another type than it reads.
    OtherStored {
        entry: u32,
        what: String,
        type_name: &'static str,
        /// Whether it can be read as one.
        is_one: bool,
    },
    /// A call of changed code. `recorded` is what the save has there, if the journal does not say it.
    Place {
        entry: u32,
        recorded: Option<String>,
        found: String,
    },
    /// A value means something else in the types of now.
    OtherMeaning {
        entry: u32,
    },
    /// A list has other items.
    OtherItems {
        entry: u32,
    },
    OtherVersion {
        saved: u32,
        now: u32,
    },
    OtherState {
        type_name: String,
        why: String,
    },
}
