//! Waits of changed code.

use std::borrow::Cow;
use std::collections::BTreeMap;

use framestep::durable::DurableWait;

use crate::bytes::{Bytes, Mark};
use crate::journal::{Found, Kind, Known, NamedWait, Site, Sites};
use crate::places::{GoneOver, Match};
use crate::script::aligned::{Aligned, Taken, said_call};

/// What a script that waits in an aligned replay is told.
pub(crate) enum Next {
    /// It is where it was: the number that each wait of the save has now.
    There {
        numbers: BTreeMap<u32, u32>,
        /// Whether it waits for more than it did.
        has_new: bool,
    },
    /// It is polled again.
    Polls,
}

impl Aligned {
    /// What a poll of a wait gets. An error says why the script cannot go on.
    pub(crate) fn wait(&mut self, number: u32, here: Known, sites: &Sites) -> Result<Taken, Found> {
        let Some(now) = sites.get(here.id) else {
            return Ok(Taken::Pending);
        };
        let spot = (now.place, now.label);
        self.waiting.insert(number, spot);
        if !self.is_new(now) && !self.numbers.contains_key(&number) {
            self.numbers.insert(number, self.next_number);
            self.next_number = self.next_number.saturating_add(1);
        }
        if let Some(value) = self.passed.remove(&number) {
            self.push(Kind::Ended(number), here, &value);
            return Ok(Taken::Value(value));
        }
        if let Some(at) = self.given.remove(&number) {
            self.check_entry(at, now, sites)?;
            return Ok(Taken::Value(self.take(at, Kind::Ended(number), here, now)));
        }
        while self.may_take() {
            let at = self.next;
            let (kind, site) = (self.entries[at].kind, self.entries[at].site);
            let Some(then) = sites.get(site) else {
                break;
            };
            if self.is_gone(then) || self.is_of_lost_item(then, &[now.place], sites) {
                self.skip(sites)?;
                continue;
            }
            let (Kind::Ended(numbered) | Kind::Failed(numbered)) = kind else {
                break;
            };
            if !(self.is_at(then, now) && then.is_like(now)) {
                break;
            }
            // One of several waits of this statement.
            let is_known_as = |other: u32| self.numbers.get(&other) == Some(&numbered);
            let mut others = self.waiting.iter().filter(|(_, other)| **other == spot);
            if !is_known_as(number)
                && others.any(|(&other, _)| other != number && is_known_as(other))
            {
                break;
            }
            if let Kind::Failed(_) = kind {
                return Ok(Taken::Panic(self.take(at, Kind::Failed(number), here, now)));
            }
            self.check_entry(at, now, sites)?;
            self.next_number = self.next_number.max(numbered.saturating_add(1));
            return Ok(Taken::Value(self.take(at, Kind::Ended(number), here, now)));
        }
        if let Some(at) = self.behind_moved(now, sites) {
            let mut others = self
                .waiting
                .iter()
                .filter(|(other, at)| **other != number && **at == spot);
            if let (Kind::Ended(numbered), None) = (self.entries[at].kind, others.next()) {
                self.check_entry(at, now, sites)?;
                self.next_number = self.next_number.max(numbered.saturating_add(1));
                return Ok(Taken::Value(self.take(at, Kind::Ended(number), here, now)));
            }
        }
        Ok(Taken::Pending)
    }

    /// Keeps the state of a wait that may be new.
    pub(crate) fn note_not_begun(&mut self, number: u32, wait: DurableWait) {
        self.not_begun.insert(number, wait);
    }

    /// Forgets a wait that is over, or was dropped. Returns its state.
    pub(crate) fn forget(&mut self, number: u32) -> Option<DurableWait> {
        self.waiting.remove(&number);
        self.not_begun.remove(&number)
    }

    /// Decides for a script that waits for these.
    /// `questions` is what its questions say, and `gone_over` what its loops have gone over.
    pub(crate) fn decide(
        &mut self,
        awaited: &[NamedWait],
        questions: &BTreeMap<u32, Bytes>,
        gone_over: &GoneOver,
        sites: &Sites,
    ) -> Result<Next, Found> {
        let places = awaited
            .iter()
            .filter_map(|wait| Some(sites.get(wait.site)?.place));
        let places: Vec<u32> = places.collect();
        while let Some(next) = self.next() {
            let Some(then) = sites.get(next.site) else {
                break;
            };
            if !self.is_gone(then) && !self.is_of_lost_item(then, &places, sites) {
                break;
            }
            self.skip(sites)?;
        }
        let ahead = self.ahead(sites);
        let begins_poll = |at: usize| self.entries[at].is_first;
        if ahead.is_none() {
            if let Some((numbers, has_new)) = self.as_saved(awaited, questions, sites) {
                self.check_all_moved(sites)?;
                self.check_doubts(sites)?;
                self.check_loops(gone_over)?;
                return Ok(Next::There { numbers, has_new });
            }
        }
        let (next, ahead) = (self.next().map(|_| self.next), ahead);
        if [next, ahead].into_iter().flatten().any(begins_poll) && !self.is_open {
            // Its poll has taken what it had.
            return Ok(Next::Polls);
        }
        self.unlock(awaited, sites)?;
        Ok(Next::Polls)
    }

    /// Says why a script that is where it was cannot go on: it would do again what stands behind that point now.
    fn check_all_moved(&self, sites: &Sites) -> Result<(), Found> {
        let then = self.next().and_then(|next| sites.get(next.site));
        let Some((then, Match::Moved(now))) =
            then.map(|then| (then, self.difference.now(then.place)))
        else {
            return Ok(());
        };
        Err(Found::Place {
            entry: self.entry(),
            recorded: None,
            found: format!(
                "is where it was, before {}: there stands now what was in line {}, and it would be done again. Move \
                 it back",
                self.line_at(now),
                self.line_then(then)
            ),
        })
    }

    /// What the waits of the save are now, by their numbers, and whether there are others. `None` if one is
    /// missing.
    fn as_saved(
        &self,
        awaited: &[NamedWait],
        questions: &BTreeMap<u32, Bytes>,
        sites: &Sites,
    ) -> Option<(BTreeMap<u32, u32>, bool)> {
        let (mut numbers, mut left) = (BTreeMap::new(), awaited.to_vec());
        // Questions that say the same, first: others take what is left.
        for saved in &self.saved {
            let is_it = |wait: &NamedWait| {
                let now = sites.get(wait.site);
                let content = questions.get(&wait.number);
                content.is_some()
                    && content == self.asked.get(&saved.number)
                    && now.is_some_and(|now| self.is_it(saved.site, now, sites))
            };
            if let Some(at) = left.iter().position(is_it) {
                numbers.insert(saved.number, left.remove(at).number);
            }
        }
        for saved in &self.saved {
            if numbers.contains_key(&saved.number) {
                continue;
            }
            let is_it = |wait: &NamedWait| {
                let now = sites.get(wait.site);
                now.is_some_and(|now| self.is_it(saved.site, now, sites))
            };
            let exact = left.iter().position(|wait| {
                is_it(wait) && self.numbers.get(&wait.number) == Some(&saved.number)
            });
            let at = exact.or_else(|| left.iter().position(is_it))?;
            numbers.insert(saved.number, left.remove(at).number);
        }
        Some((numbers, !left.is_empty()))
    }

    /// Ends a wait that the earlier code did not have, or that stood elsewhere. An error if there is none:
    /// then the script does not come to where it was.
    fn unlock(&mut self, awaited: &[NamedWait], sites: &Sites) -> Result<(), Found> {
        let mut new = Vec::new();
        for wait in awaited {
            let Some(now) = sites.get(wait.site) else {
                continue;
            };
            if let Match::Moved(then) = self.difference.then(now.place) {
                let is_end = |kind| matches!(kind, Kind::Ended(_));
                if let Some(at) = self.moved(now, sites, is_end) {
                    self.note_moved(now, then);
                    self.given.insert(wait.number, at);
                    return Ok(());
                }
            }
            if !self.left().any(|then| self.is_it(then, now, sites)) {
                new.push((wait.number, now));
            }
        }
        // Of a call whose result nothing uses, it is of no consequence which wait ends first.
        if new.iter().all(|(_, now)| self.is_of_no_use(now)) {
            new.truncate(1);
        }
        match &new[..] {
            &[(number, now)] => {
                self.check_item(now, sites)?;
                let status = self.difference.then(now.place);
                let may_be_more = matches!(status, Match::Changed(_))
                    || self.last == Some((now.place, now.label));
                if !(self.is_new(now) || may_be_more) || self.waits_there(now, sites) {
                    return Err(self.found(now, &self.not_reached(sites)));
                }
                let made_up = now.mark.filter(|_| self.is_of_no_use(now));
                let value = made_up.and_then(Mark::zeros);
                if now.mark.is_some() && value.is_none() {
                    return Err(self.found(
                        now,
                        "is a new wait for a value, which the save does not have: wait for it behind the point of \
                         the save, or in a new chapter",
                    ));
                }
                // It stands for a wait of another kind, which was over.
                let replaced = self.next().filter(|next| {
                    let is_end = matches!(next.kind, Kind::Ended(_)) && next.value.get().is_empty();
                    let then = sites.get(next.site);
                    is_end && then.is_some_and(|then| self.is_at(then, now))
                });
                if replaced.is_some() {
                    self.skip(sites)?;
                }
                self.note_passed(now)?;
                self.passed.insert(number, value.unwrap_or(Bytes::EMPTY));
                Ok(())
            }
            [] => Err(
                match awaited.first().and_then(|wait| sites.get(wait.site)) {
                    Some(now) => self.found(now, &self.not_reached(sites)),
                    None => Found::Place {
                        entry: self.entry(),
                        recorded: None,
                        found: "waits for nothing".to_owned(),
                    },
                },
            ),
            [(_, now), ..] => {
                let calls: Vec<String> = new.iter().map(|(_, now)| said_call(now)).collect();
                Err(self.found(
                    now,
                    &format!(
                        "waits with others that are new ({}): the save does not say which of them ends first. Put \
                         them behind the point of the save",
                        calls.join(", ")
                    ),
                ))
            }
        }
    }

    /// Whether the script waited in this statement when it was saved, and has nothing left to take.
    fn waits_there(&self, now: &Site, sites: &Sites) -> bool {
        let mut saved = self.saved.iter().filter_map(|wait| sites.get(wait.site));
        self.next().is_none() && saved.any(|then| self.is_at(then, now))
    }

    fn not_reached(&self, sites: &Sites) -> Cow<'static, str> {
        if let Some(lost) = self.lost_items(sites) {
            return format!("is not over: the save is {lost}").into();
        }
        let mut saved = self.saved.iter().filter_map(|wait| sites.get(wait.site));
        let is_moved = |then: &&Site| matches!(self.difference.now(then.place), Match::Moved(_));
        match saved.find(is_moved) {
            Some(then) => format!(
                "is not over: the script waits in line {}, which stands elsewhere now. Move it back until no save \
                 waits there",
                self.line_then(then)
            )
            .into(),
            None => NOT_REACHED.into(),
        }
    }

    /// What is wrong with a script that ends without coming to where it was.
    pub(crate) fn returned(&self, sites: &Sites) -> Found {
        let saved = self.saved.first().map(|wait| wait.site);
        let site = self.next().map(|next| next.site).or(saved);
        let then = site.and_then(|site| sites.get(site));
        let lost = self.lost_items(sites);
        let lost = lost.map(|lost| format!("comes to its end: the save is {lost}"));
        let found = match then {
            _ if lost.is_some() => lost.as_deref().unwrap_or_default(),
            Some(then) if self.is_gone(then) => {
                "comes to its end without it: the statement is gone, or stands in a function that is no script. \
                 Keep it until no save waits there"
            }
            _ => "comes to its end without it",
        };
        Found::Place {
            entry: self.entry(),
            recorded: None,
            found: found.to_owned(),
        }
    }
}

/// What is said of a wait that is not over.
const NOT_REACHED: &str = "is not over: the script does not come to where it was. Keep what was before that point \
                           in its order";
