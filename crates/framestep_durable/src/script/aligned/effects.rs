//! Effects of changed code.

use std::borrow::Cow;

use crate::bytes::{Bytes, Mark};
use crate::journal::shift::Shifts;
use crate::journal::{Call, Found, Kind, Known, Site, Sites};
use crate::places::{Match, Turns};
use crate::script::aligned::{Aligned, ChangeKind, Taken};

impl Aligned {
    /// What an effect gets. An error says why the script cannot go on.
    pub(crate) fn effect(
        &mut self,
        call: &Call,
        here: Known,
        sites: &Sites,
    ) -> Result<Taken, Found> {
        let Some(now) = sites.get(here.id) else {
            return Ok(Taken::Pending);
        };
        while let Some(next) = self.next() {
            let Some(then) = sites.get(next.site) else {
                break;
            };
            let is_effect = matches!(next.kind, Kind::Effect | Kind::Panicked);
            if is_effect && self.may_take() && self.is_at(then, now) && then.is_like(now) {
                return self.take_effect(call, here, then, now, sites);
            }
            if !self.is_gone(then) && !self.is_of_lost_item(then, &[now.place], sites) {
                break;
            }
            self.skip(sites)?;
        }
        if let Some(at) = self.behind_moved(now, sites) {
            if self.entries[at].kind == Kind::Effect {
                self.check_entry(at, now, sites)?;
                return Ok(Taken::Value(self.take(at, Kind::Effect, here, now)));
            }
        }
        self.check_item(now, sites)?;
        if self.is_new(now) {
            return self.pass_effect(call, here, now);
        }
        match self.difference.then(now.place) {
            Match::Moved(then) => self.take_moved(here, then, now, sites),
            // A statement with another text, or a helper of one, may do more than before.
            status => {
                let is_again = self.last == Some((now.place, now.label));
                let is_left = || self.left().any(|then| self.is_it(then, now, sites));
                if is_again || matches!(status, Match::Changed(_)) && !is_left() {
                    return self.pass_effect(call, here, now);
                }
                Err(self.found(now, &self.why_not(sites)))
            }
        }
    }

    /// Takes the next entry for an effect.
    fn take_effect(
        &mut self,
        call: &Call,
        here: Known,
        then: &Site,
        now: &Site,
        sites: &Sites,
    ) -> Result<Taken, Found> {
        let (at, kind) = (self.next, self.entries[self.next].kind);
        if self.last != Some((now.place, now.label)) {
            // Statements may move by different numbers of lines.
            self.shifts = Shifts::default();
        }
        if !self.shifts.fits(call.within, then, now) {
            return Err(self.found(
                now,
                "does not follow what is before it in its function as it did: a function without `#[durable]` has \
                 changed. Keep what it does in this order, or do it in the script itself",
            ));
        }
        if kind == Kind::Panicked {
            return Ok(Taken::Panic(self.take(at, kind, here, now)));
        }
        self.check_entry(at, now, sites)?;
        if let (Match::Changed(_), true) = (self.difference.then(now.place), call.gives) {
            let (line, place) = (self.line_then(then), self.at_now(now));
            self.changes
                .add(ChangeKind::Reworded, now, Some(line), Some(place));
        }
        Ok(Taken::Value(self.take(at, kind, here, now)))
    }

    /// Whether an entry may be taken for this call: its value is still what its mark says, and it is known in
    /// which turn of a loop it was made.
    pub(super) fn check_entry(&self, at: usize, now: &Site, sites: &Sites) -> Result<(), Found> {
        if now.label == 0 && self.difference.turns(now.place) == Turns::Unsure {
            return Err(self.found(
                now,
                "is in a loop in another loop, and it goes round in another way now: the save does not say in which \
                 turn it is. Keep what it goes over and when it ends, or go over a `labelled` list",
            ));
        }
        let entry = &self.entries[at];
        // Values inside of a statement whose result nothing uses are of no use once it is over.
        if !entry.value.get().is_empty() && !self.drops_result(now) {
            self.check_value(entry.site, sites)?;
            self.check_turns(now)?;
        }
        let fits = now
            .mark
            .is_none_or(|mark| mark.fits(entry.value.get(), entry.mark));
        if fits {
            return Ok(());
        }
        Err(self.found(
            now,
            "reads its recorded value as another one: fields or variants of its type were added, removed, renamed \
             or put into another order. Add variants at the end, and give a type that has changed to a new \
             chapter",
        ))
    }

    /// Passes an effect that the earlier code did not have.
    fn pass_effect(&mut self, call: &Call, here: Known, now: &Site) -> Result<Taken, Found> {
        let made_up = call.mark.filter(|_| call.gives && self.is_of_no_use(now));
        let value = made_up.and_then(Mark::zeros);
        if call.gives && value.is_none() {
            return Err(self.found(
                now,
                "is new, and the save has no value for it: read it behind the point of the save, or in a new \
                 chapter",
            ));
        }
        self.note_passed(now)?;
        let value = value.unwrap_or(Bytes::EMPTY);
        self.push(Kind::Effect, here, &value);
        Ok(Taken::Value(value))
    }

    /// Takes the entry of a statement that stands elsewhere now.
    fn take_moved(
        &mut self,
        here: Known,
        then: u32,
        now: &Site,
        sites: &Sites,
    ) -> Result<Taken, Found> {
        let Some(at) = self.moved(now, sites, |kind| kind == Kind::Effect) else {
            let line = self.difference.line_then(then).unwrap_or(0);
            return Err(self.found(
                now,
                &format!(
                    "was in line {line}, behind the point of the save, and is before it now: it has not been done. \
                     Move it back"
                ),
            ));
        };
        self.check_entry(at, now, sites)?;
        self.note_moved(now, then);
        // What is left of the poll is before it, so the poll goes on as it was.
        let is_open = self.is_open;
        let value = self.take(at, Kind::Effect, here, now);
        self.is_open = is_open;
        Ok(Taken::Value(value))
    }

    /// Why an effect of a statement that is the same has no entry.
    fn why_not(&self, sites: &Sites) -> Cow<'static, str> {
        if let Some(lost) = self.lost_items(sites) {
            return format!("stands behind it: the save is {lost}").into();
        }
        let mut saved = self.saved.iter().filter_map(|wait| sites.get(wait.site));
        if self.next().is_none() && saved.any(|then| self.is_gone(then)) {
            return "stands behind it: the script waits in a statement that is gone. Keep that statement until no \
                    save waits there"
                .into();
        }
        let then = self.next().and_then(|next| sites.get(next.site));
        let moved = then.map(|then| self.difference.now(then.place));
        match moved {
            Some(Match::Moved(_)) => {
                "was done behind what stands behind it now, and that would be done again. Move it back".into()
            }
            _ => "it has not come to: a condition or a loop before it has changed, or depends on what is not \
                  recorded"
                .into(),
        }
    }
}
