//! Where a script cannot go on because the tables of both builds leave open which statement is which.

use std::collections::HashMap;

use crate::journal::{Found, Site, SiteId, Sites};
use crate::places::doubts::Rival;
use crate::script::aligned::Aligned;

/// How often a replay has come to each statement, of those that have entries.
#[derive(Default)]
pub(super) struct Reached {
    /// Calls of each recorded site that were taken.
    taken: HashMap<SiteId, u32>,
    /// Statements of the earlier build that were skipped.
    skipped: HashMap<u32, u32>,
    /// Statements of this build.
    now: HashMap<u32, u32>,
}

impl Reached {
    pub(super) fn take(&mut self, then: SiteId, now: &Site) {
        *self.taken.entry(then).or_default() += 1;
        self.pass(now);
    }

    pub(super) fn skip(&mut self, then: &Site) {
        *self.skipped.entry(then.place).or_default() += 1;
    }

    pub(super) fn pass(&mut self, now: &Site) {
        *self.now.entry(now.place).or_default() += 1;
    }

    fn then(&self, place: u32, sites: &Sites) -> u32 {
        let is_of = |site: &SiteId| sites.get(*site).is_some_and(|site| site.place == place);
        let taken = self.taken.iter().filter(|(site, _)| is_of(site));
        let taken: u32 = taken.map(|(_, count)| count).sum();
        taken + self.skipped.get(&place).copied().unwrap_or(0)
    }

    fn now(&self, place: u32) -> u32 {
        self.now.get(&place).copied().unwrap_or(0)
    }
}

impl Aligned {
    /// Says why a script that is where it was cannot go on: at one of several statements that may be the one
    /// in which it waits, or between two of which one may be the other.
    pub(super) fn check_doubts(&self, sites: &Sites) -> Result<(), Found> {
        let doubts = &self.difference.doubts;
        for then in self.saved.iter().filter_map(|wait| sites.get(wait.site)) {
            if let Some((of, rival)) = doubts.of(then.place) {
                return Err(self.doubt("waits in", of, rival));
            }
        }
        let saved: Vec<SiteId> = self.saved.iter().map(|wait| wait.site).collect();
        self.check_turns_at(&saved, sites)?;
        for pair in &doubts.elsewhere {
            let (then, now) = (
                self.reached.then(pair.then, sites),
                self.reached.now(pair.now),
            );
            if pair.is_between(then, now) {
                let done = if then > now {
                    "was done, and would be done again"
                } else {
                    "was behind the point of the save, and has not been done"
                };
                return Err(self.unclear(format!(
                    "is between {}, which is new, and line {}, which is gone. If that is the same with another \
                     text, it {done}. {KEEP}",
                    self.line_at(pair.now),
                    self.difference.line_then(pair.then).unwrap_or(0)
                )));
            }
        }
        Ok(())
    }

    /// Says why the value of an entry cannot be taken: it may be that of another statement.
    pub(super) fn check_value(&self, then: SiteId, sites: &Sites) -> Result<(), Found> {
        let doubts = &self.difference.doubts;
        let place = sites.get(then).map_or(0, |then| then.place);
        match doubts.of(place) {
            Some((of, rival)) if of == place => Err(self.doubt("reads the value of", of, rival)),
            _ => Ok(()),
        }
    }

    /// The script `does` it with a statement that may be another one.
    fn doubt(&self, does: &str, of: u32, rival: Rival) -> Found {
        let line = self.difference.line_then(of).unwrap_or(0);
        let now = self.difference.now(of).other().unwrap_or(0);
        let (now, rival) = (
            self.line_at(now),
            match rival {
                Rival::Now(rival) => format!("that may be {} as well", self.line_at(rival)),
                Rival::Then(rival) => {
                    let rival = self.difference.line_then(rival).unwrap_or(0);
                    format!("that may be line {rival} as well, which is gone")
                }
            },
        );
        self.unclear(format!(
            "{does} line {line}, which has another text at {now}: {rival}. {KEEP}"
        ))
    }

    pub(super) fn line_at(&self, now: u32) -> String {
        let line = self.difference.line_now(now).unwrap_or(0);
        format!("{}:{line}", self.places.file)
    }

    fn unclear(&self, found: String) -> Found {
        Found::Place {
            entry: self.entry(),
            recorded: None,
            found,
        }
    }
}

/// What to do about it.
const KEEP: &str = "Keep its text until no save is there, or put such lines into a `labelled` list";
