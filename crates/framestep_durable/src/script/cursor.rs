//! Where a replay is in its journal.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::events::Typed;
use crate::journal;
use crate::journal::shift::Shifts;
use crate::journal::{Found, Journal, Marks, SiteId, Word};

/// How far a replay has come.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) journal: Option<Journal>,
    /// The next entry. `None` at the end, or if it cannot be read.
    pub(super) next: Option<journal::FoundEntry>,
    /// The number of the next entry, for messages.
    pub(super) entry: u32,
    /// Whether the poll under way may take an entry that is the first of a poll.
    pub(super) is_open: bool,
    pub(super) compares_lines: bool,
    /// The entries of another build that are in other lines now.
    pub(super) moved: Vec<(u32, SiteId)>,
    pub(super) shifts: Shifts,
    /// For each recorded site of another build, the site that it has been found to be now.
    pub(super) compared: Vec<Option<SiteId>>,
    /// What the values said of themselves, if they are compared.
    pub(super) marks: Marks,
    /// How many of the entries that it has taken had values.
    pub(super) values: usize,
    pub(super) divergence: Option<Found>,
    /// The subscriptions and promises that it has made.
    pub(super) held: Vec<Typed>,
    /// Whether the save has several questions of one name: then what they say tells them apart.
    pub(super) tells_questions_apart: bool,
    /// What the questions of now say, by the numbers of their waits.
    pub(super) questions: BTreeMap<u32, Bytes>,
    /// How many effects have had no result since.
    pub(super) without_result: u32,
}

impl Replay {
    /// Whether the poll under way may take the next entry.
    #[inline]
    pub(super) fn may_take(&self, next: Word) -> bool {
        self.is_open || !next.is_first()
    }

    /// Goes on to the entry after `taken`.
    #[inline]
    pub(super) fn go_on(&mut self, taken: &journal::FoundEntry) -> Option<&Journal> {
        let journal = self.journal.as_ref()?;
        self.next = journal.find(taken.next);
        self.entry += 1;
        self.values += usize::from(taken.word.has_value());
        self.is_open = false;
        Some(journal)
    }

    /// What the value of the next entry said of itself. `None` if it has none.
    pub(super) fn mark(&self) -> Option<u16> {
        let has_value = self.next.is_some_and(|next| next.word.has_value());
        (has_value && !self.marks.is_empty()).then(|| self.marks.get(self.values))
    }

    /// Whether the site of an entry and the present one have yet to be compared.
    #[inline]
    pub(super) fn is_to_be_compared(&self, recorded: SiteId, here: SiteId) -> bool {
        if self.compares_lines {
            return recorded != here;
        }
        self.compared.get(recorded.0 as usize) != Some(&Some(here))
    }

    pub(super) fn note_compared(&mut self, recorded: SiteId, here: SiteId) {
        let at = recorded.0 as usize;
        if self.compared.len() <= at {
            self.compared.resize(at + 1, None);
        }
        self.compared[at] = Some(here);
    }
}
