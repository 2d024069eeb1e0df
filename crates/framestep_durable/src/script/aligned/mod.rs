//! Reading a journal to code that has changed since: which recorded entry is which call of now.
//!
//! Entries are taken in order, and compared by the [statements](crate::places) that have made them. What
//! the journal does not have is *passed* if its statement is new. What no statement makes any more is
//! *skipped*. What stands elsewhere takes its own entry. Meanwhile the journal is written anew, as this
//! build would have written it. Whatever is none of these is a divergence: a guess would be another story.

mod cell;
pub(crate) mod changes;
mod doubts;
mod effects;
mod holds;
mod items;
mod lists;
mod loops;
mod pending;

pub(crate) use self::cell::Realigned;
pub(crate) use self::changes::{Change, ChangeKind};
pub(crate) use self::holds::{Hold, Holders};
pub(crate) use self::loops::LoopsThen;

use std::collections::BTreeMap;
use std::mem;

use framestep::durable::DurableWait;

use crate::bytes::{Bytes, Mark};
use crate::journal::said::COMES;
use crate::journal::shift::Shifts;
use crate::journal::{
    Found, Journal, Kind, Known, Marks, NamedWait, Site, SiteId, Sites, StopLines,
};
use crate::places::table::{Place, Places};
use crate::places::{Difference, GoneOver, Match, Turns};
use crate::script::aligned::changes::Changes;
use crate::script::aligned::doubts::Reached;
use crate::script::aligned::holds::Holds;
use crate::script::aligned::items::Items;
use crate::script::aligned::lists::Lists;

/// How many calls may be passed or skipped without one that is recorded. More, and the code that is new
/// is a loop that never comes to where the script was.
const MOST_PASSED: u32 = 10_000;

/// An entry of the earlier build.
struct Recorded {
    is_first: bool,
    kind: Kind,
    site: SiteId,
    value: Bytes,
    mark: u16,
    is_taken: bool,
}

/// A statement, for an item.
type Spot = (u32, u32);

/// A replay of changed code.
pub(crate) struct Aligned {
    difference: Difference,
    /// The statements of the script.
    places: Places,
    entries: Vec<Recorded>,
    /// All before this one are taken.
    next: usize,
    /// What the script waited for.
    saved: Vec<NamedWait>,
    /// What its questions said, by the numbers of their waits.
    asked: BTreeMap<u32, Bytes>,
    /// Whether the poll under way may take an entry that is the first of a poll.
    is_open: bool,
    /// Whether the next entry of the new journal is the first of a poll.
    begins_poll: bool,
    /// What this build would have written.
    journal: Journal,
    stop_lines: StopLines,
    stop_lines_then: StopLines,
    /// The number of the latest entry that was taken, from 1.
    taken: u32,
    /// The numbers that the waits of now had, as far as that is known.
    numbers: BTreeMap<u32, u32>,
    /// Where the waits are that are not over.
    waiting: BTreeMap<u32, Spot>,
    /// Those of framestep among them, as they begin.
    not_begun: BTreeMap<u32, DurableWait>,
    next_number: u32,
    /// New waits that are over.
    passed: BTreeMap<u32, Bytes>,
    /// Waits that stood elsewhere, and their entries.
    given: BTreeMap<u32, usize>,
    /// Where the latest entry was made.
    last: Option<Spot>,
    shifts: Shifts,
    items: Items,
    lists: Lists,
    /// What the loops of the save had gone over, and what those without such a number may be told by.
    loops_then: LoopsThen,
    /// What this build writes as the value of the next entry.
    written: Option<Bytes>,
    holds: Holds,
    changes: Changes,
    /// How often the script has come to what may be the same statement.
    reached: Reached,
    /// How much was passed or skipped since an entry was taken.
    since_taken: u32,
}

/// What a call of changed code gets.
pub(crate) enum Taken {
    Value(Bytes),
    Panic(Bytes),
    /// A wait is not over.
    Pending,
}

/// What there is after an aligned replay.
pub(crate) struct Outcome {
    pub(crate) journal: Journal,
    pub(crate) stop_lines: StopLines,
    pub(crate) changes: Vec<Change>,
    /// What the earlier code held, and this one does not.
    pub(crate) released: Vec<Hold>,
    /// The waits of framestep that are pending, as they begin.
    pub(crate) not_begun: BTreeMap<u32, DurableWait>,
}

impl Aligned {
    pub(crate) fn new(
        (difference, old, places): (Difference, &[Place], Places),
        journal: &Journal,
        marks: &Marks,
        saved: Vec<NamedWait>,
        asked: BTreeMap<u32, Bytes>,
        stop_lines_then: StopLines,
        (loops_then, gone_over): (LoopsThen, &GoneOver),
    ) -> Self {
        let (mut entries, mut values) = (Vec::new(), 0);
        journal.each(|entry| {
            let mut mark = Mark::NONE;
            if !entry.value.is_empty() {
                mark = marks.get(values);
                values += 1;
            }
            entries.push(Recorded {
                is_first: entry.is_first,
                kind: entry.kind,
                site: entry.site,
                value: Bytes::new(entry.value),
                mark,
                is_taken: false,
            });
        });
        let lists = Lists::of(&difference, old, places, gone_over);
        Aligned {
            difference,
            places,
            entries,
            next: 0,
            saved,
            asked,
            is_open: false,
            begins_poll: false,
            journal: Journal::new(),
            stop_lines: StopLines::default(),
            stop_lines_then,
            taken: 0,
            numbers: BTreeMap::new(),
            waiting: BTreeMap::new(),
            not_begun: BTreeMap::new(),
            next_number: 0,
            passed: BTreeMap::new(),
            given: BTreeMap::new(),
            last: None,
            shifts: Shifts::default(),
            items: Items::default(),
            lists,
            loops_then,
            written: None,
            holds: Holds::default(),
            changes: Changes::default(),
            reached: Reached::default(),
            since_taken: 0,
        }
    }

    /// Begins another poll, which may take the entries of another recorded one.
    pub(crate) fn begin_poll(&mut self) {
        self.is_open = true;
        self.begins_poll = true;
    }

    /// Notes what this build writes as the value of the next entry.
    pub(crate) fn begin_list(&mut self, items: Bytes) {
        self.written = Some(items);
    }

    /// The first entry that is not taken.
    fn next(&self) -> Option<&Recorded> {
        self.entries.get(self.next)
    }

    /// The number of that entry, for messages.
    pub(crate) fn entry(&self) -> u32 {
        u32::try_from(self.next).unwrap_or(u32::MAX)
    }

    /// The next entry of a statement that does not stand elsewhere: others may have to be taken first, or later.
    fn ahead(&self, sites: &Sites) -> Option<usize> {
        let is_moved = |site| {
            let then = sites.get(site);
            then.is_some_and(|then: &Site| {
                matches!(self.difference.now(then.place), Match::Moved(_))
            })
        };
        let mut left = (self.next..self.entries.len()).filter(|at| !self.entries[*at].is_taken);
        left.find(|at| !is_moved(self.entries[*at].site))
    }

    /// The entry of a call behind entries of statements that stand elsewhere, if the poll under way may take it.
    fn behind_moved(&self, now: &Site, sites: &Sites) -> Option<usize> {
        let at = self.ahead(sites)?;
        let entry = &self.entries[at];
        let may_take = at > self.next && (self.is_open || !entry.is_first);
        (may_take && self.is_it(entry.site, now, sites)).then_some(at)
    }

    /// What is left of the journal, and what the script waited for.
    fn left(&self) -> impl Iterator<Item = SiteId> {
        let entries = self.entries[self.next..].iter();
        let entries = entries
            .filter(|entry| !entry.is_taken)
            .map(|entry| entry.site);
        entries.chain(self.saved.iter().map(|wait| wait.site))
    }

    /// Whether the poll under way may take the next entry.
    fn may_take(&self) -> bool {
        self.next()
            .is_some_and(|next| self.is_open || !next.is_first)
    }

    /// Whether a recorded call is of a statement or an item that is gone.
    fn is_gone(&self, then: &Site) -> bool {
        self.difference.now(then.place) == Match::None || self.items.is_gone(then.label)
    }

    /// Whether a call is of a statement or an item that is new.
    fn is_new(&self, now: &Site) -> bool {
        let is_new = self.difference.then(now.place) == Match::None || self.items.is_new(now.label);
        is_new || self.is_of_new_item(now)
    }

    /// Whether a call is of a statement that is new and whose result nothing uses. What it reads is made up: all
    /// that it does is passed.
    fn is_of_no_use(&self, now: &Site) -> bool {
        self.drops_result(now) && self.is_new(now)
    }

    /// Whether nothing uses the result of its statement.
    fn drops_result(&self, now: &Site) -> bool {
        let place = self.places.list.get(now.place as usize);
        place.is_some_and(|place| place.drops_result)
    }

    /// Whether both are the same statement, for the same item.
    fn is_at(&self, then: &Site, now: &Site) -> bool {
        let is_at =
            self.difference.now(then.place).other() == Some(now.place) && then.label == now.label;
        is_at && !self.is_of_new_item(now)
    }

    /// Whether both are the same call of it.
    fn is_it(&self, then: SiteId, now: &Site, sites: &Sites) -> bool {
        let then = sites.get(then);
        then.is_some_and(|then| self.is_at(then, now) && then.is_like(now))
    }

    /// Adds an entry to the new journal.
    fn push(&mut self, kind: Kind, site: Known, value: &Bytes) {
        let is_first = mem::replace(&mut self.begins_poll, false);
        let written = self.written.take();
        let value = written.as_ref().unwrap_or(value);
        self.journal.push(is_first, kind, site, value.get());
    }

    /// Takes an entry for a call of now.
    fn take(&mut self, at: usize, kind: Kind, here: Known, now: &Site) -> Bytes {
        let entry = &mut self.entries[at];
        entry.is_taken = true;
        let (value, site) = (entry.value.clone(), entry.site);
        self.reached.take(site, now);
        self.taken = u32::try_from(at + 1).unwrap_or(u32::MAX);
        self.is_open = false;
        self.since_taken = 0;
        self.holds.take(&now.call, &value);
        self.note_turns(now);
        self.push(kind, here, &value);
        self.last = Some((now.place, now.label));
        self.go_on();
        value
    }

    /// Notes that an entry was taken in a loop that goes round in another way.
    fn note_turns(&mut self, now: &Site) {
        let Turns::Other(of) = self.difference.turns(now.place) else {
            return;
        };
        let then = self.difference.then(of).other();
        let line = then.and_then(|then| self.difference.line_then(then));
        let line_now = self.difference.line_now(of).unwrap_or(0);
        if now.label == 0 {
            let at = format!("{}:{line_now}", self.places.file);
            self.changes.add_turns(line, at);
        }
    }

    fn go_on(&mut self) {
        while self.next().is_some_and(|next| next.is_taken) {
            self.next += 1;
        }
    }

    /// Skips the next entry, whose statement or item is gone.
    fn skip(&mut self, sites: &Sites) -> Result<(), Found> {
        let at = self.next;
        let Some(then) = sites.get(self.entries[at].site) else {
            return Ok(());
        };
        let line = self.line_then(then);
        let entry = &mut self.entries[at];
        entry.is_taken = true;
        self.is_open &= !entry.is_first;
        if let Kind::Ended(number) | Kind::Failed(number) = entry.kind {
            self.next_number = self.next_number.max(number.saturating_add(1));
        }
        let kind = if self.holds.skip(&then.call, &entry.value) {
            ChangeKind::Released
        } else {
            ChangeKind::Removed
        };
        self.changes.add(kind, then, Some(line), None);
        self.reached.skip(then);
        self.go_on();
        self.count(then)
    }

    /// Counts what is passed or skipped.
    fn count(&mut self, now: &Site) -> Result<(), Found> {
        self.since_taken += 1;
        if self.since_taken
            <= MOST_PASSED.max(u32::try_from(self.entries.len()).unwrap_or(u32::MAX))
        {
            return Ok(());
        }
        Err(self.found(
            now,
            "is in a loop that is new, and does not come to where the script was: put it behind that point, or \
             into another chapter",
        ))
    }

    /// Notes that a call of now is passed.
    fn note_passed(&mut self, now: &Site) -> Result<(), Found> {
        let at = self.at_now(now);
        self.changes.add(ChangeKind::Inserted, now, None, Some(at));
        self.reached.pass(now);
        self.count(now)
    }

    fn line_then(&self, then: &Site) -> u32 {
        match self.difference.line_then(then.place) {
            Some(line) if then.place != 0 => line,
            _ => then.line,
        }
    }

    /// The file and the line of a statement of now.
    fn at_now(&self, now: &Site) -> String {
        match self.difference.line_now(now.place) {
            Some(line) if now.place != 0 => format!("{}:{line}", self.places.file),
            _ => format!("{}:{}", now.file, now.line),
        }
    }

    /// The entry of a call that stands elsewhere now, if it is left.
    fn moved(&self, now: &Site, sites: &Sites, is_kind: fn(Kind) -> bool) -> Option<usize> {
        let is_it = |at: &usize| {
            let entry = &self.entries[*at];
            !entry.is_taken && is_kind(entry.kind) && self.is_it(entry.site, now, sites)
        };
        (self.next..self.entries.len()).find(is_it)
    }

    /// Notes that a call of now is that of an earlier statement, which stood elsewhere.
    fn note_moved(&mut self, now: &Site, then: u32) {
        let (line, at) = (self.difference.line_then(then), self.at_now(now));
        self.changes.add(ChangeKind::Moved, now, line, Some(at));
    }

    /// The line that has stopped the script whose join was taken last.
    pub(crate) fn stop_line(&mut self) -> Option<String> {
        let line = self.stop_lines_then.of(self.taken)?.to_owned();
        self.stop_lines.insert(self.journal.entries(), &line);
        Some(line)
    }

    /// Notes that what a script holds is dropped.
    pub(crate) fn note_dropped(&mut self, hold: Hold) {
        self.holds.drop(hold);
    }

    /// Something that the script holds, and did not hold at the save.
    pub(crate) fn holds_too_much(&self, is_held: impl Fn(Hold) -> bool) -> Option<Hold> {
        let mut held = self.holds.held();
        held.find(|&hold| hold.is_compared() && !is_held(hold))
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        Outcome {
            released: self.holds.released().collect(),
            journal: self.journal,
            stop_lines: self.stop_lines,
            changes: self.changes.into_list(),
            not_begun: self.not_begun,
        }
    }

    /// A divergence at a call of now, which `says` what is wrong with it.
    fn found(&self, now: &Site, says: &str) -> Found {
        let call = said_call(now);
        let found = format!("{COMES}{call} at {}, which {says}", self.at_now(now));
        Found::Place {
            entry: self.entry(),
            recorded: None,
            found,
        }
    }

    /// What the save has at the point that the replay has come to.
    pub(crate) fn recorded(&self, sites: &Sites) -> String {
        let said = |site: SiteId| match sites.get(site) {
            Some(then) => self.said_then(then),
            None => "?".to_owned(),
        };
        match self.next() {
            Some(next) => match next.kind {
                Kind::Ended(_) | Kind::Failed(_) => format!("the end of {}", said(next.site)),
                Kind::Effect | Kind::Panicked => said(next.site),
            },
            None if self.saved.is_empty() => "nothing more".to_owned(),
            None => {
                let saved: Vec<String> = self.saved.iter().map(|wait| said(wait.site)).collect();
                format!("it awaiting {}", saved.join(" and "))
            }
        }
    }

    /// A call of the earlier build, with its lines in both.
    fn said_then(&self, then: &Site) -> String {
        let (call, line) = (said_call(then), self.line_then(then));
        match self.difference.now(then.place) {
            _ if then.place == 0 => format!("{call} at {}:{}", then.file, then.line),
            Match::None => format!("{call} in line {line}, which is gone"),
            now => {
                let line_now = now.other().and_then(|now| self.difference.line_now(now));
                let line_now = line_now.unwrap_or(0);
                format!("{call} in line {line}, now {}:{line_now}", self.places.file)
            }
        }
    }
}

/// What a call is called.
fn said_call(site: &Site) -> String {
    match &*site.name {
        "" => format!("`{}`", site.call),
        name => format!("`{}` of `{name}`", site.call),
    }
}
