//! A script whose journal is read to it.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::resume_unwind;

use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::Bytes;
use crate::events::Typed;
use crate::journal::{Call, Found, Kind, Known, Marks, NamedWait, OtherWaits, SiteId, Word};
use crate::script::cell::Mode;
use crate::script::cursor::Replay;
use crate::script::{Pending, ScriptCell, Slot, context};

/// Whether a replay can unwind out of a script that does what was not recorded. Where panics abort,
/// as on the web, its effects return [zeros](bytes::read_zeros) until it waits.
pub(super) const CAN_UNWIND: bool = cfg!(panic = "unwind");

/// How many effects may return zeros before the script is taken to be in a loop without end.
const MOST_WITHOUT_RESULT: u32 = 100_000;

/// The payload with which a replay leaves a script.
struct Diverged;

impl ScriptCell {
    /// Begins to read the journal to a new future.
    pub(crate) fn begin_replay(&self, compares_lines: bool, marks: &Marks) {
        self.mode.set(Mode::Replay);
        let mut chapter = self.change();
        chapter.has_begun = true;
        self.replay.replace(Replay {
            next: chapter.journal.find(0),
            journal: Some(chapter.journal.clone()),
            // The first poll of a chapter has no entry that is marked as the first of a poll.
            compares_lines,
            marks: if compares_lines {
                Marks::default()
            } else {
                marks.clone()
            },
            ..Replay::default()
        });
    }

    /// Notes what does not fit. The first divergence is the one that explains the others.
    pub(super) fn note_divergence(&self, found: Found) {
        self.replay.borrow_mut().divergence.get_or_insert(found);
    }

    /// Whether the script has left its replay.
    pub(super) fn has_diverged(&self) -> bool {
        self.replay.borrow().divergence.is_some()
    }

    /// What the replay has found that does not fit.
    pub(crate) fn divergence(&self) -> Option<Found> {
        self.replay.borrow_mut().divergence.take()
    }

    /// Begins another poll of a replay. Returns `false` if the last one has taken the last
    /// entry: then the script is as it was.
    pub(crate) fn goes_on(&self) -> Result<bool, Found> {
        if let Some(found) = self.divergence() {
            return Err(found);
        }
        let mut replay = self.replay.borrow_mut();
        // The next poll may take one entry that is marked as the first of a poll; taking it closes this
        // again, so each poll takes what the recorded one took, and no more.
        let was_open = mem::replace(&mut replay.is_open, true);
        let entry = replay.entry;
        match replay.next {
            // The poll has taken all of its entries, and the next one belongs to a later poll.
            Some(next) if next.word.is_first() && !was_open => Ok(true),
            // Either an entry of the poll itself is left, which the recorded script reached and this one
            // did not; or the poll was open and has taken nothing, so another one would not, either.
            Some(_) => Err(Found::NotReached {
                entry,
                now: self.awaited(),
            }),
            // The cursor stops at the end and at bytes that are no entry: the count tells them apart.
            None if entry == self.chapter().journal.entries() => Ok(false),
            None => Err(Found::Damaged { entry }),
        }
    }

    /// What the script waits for, by number.
    pub(crate) fn awaited(&self) -> Vec<NamedWait> {
        let mut chapter = self.change();
        chapter.waits.sorted().iter().map(Pending::named).collect()
    }

    /// The same if it is a single wait.
    pub(crate) fn awaited_alone(&self) -> Option<NamedWait> {
        match self.change().waits.sorted() {
            [wait] => Some(wait.named()),
            _ => None,
        }
    }

    /// Notes in a replay what a pending wait is about.
    pub(crate) fn note_wait(&self, number: u32, typed: Typed) {
        self.with_slot(number, |slot| {
            if matches!(slot, Slot::Replayed) {
                *slot = Slot::Typed(Box::new(typed));
            }
        });
    }

    /// Notes in a replay that the script has something in which values are stored.
    pub(crate) fn note_held(&self, held: Typed) {
        if self.is_replayed() {
            self.replay.borrow_mut().held.push(held);
        }
    }

    /// Says whether the questions of the save have to be told apart. If they do, a replay calls what makes
    /// them.
    pub(crate) fn tell_questions_apart(&self, is_needed: bool) {
        self.replay.borrow_mut().tells_questions_apart = is_needed && CAN_UNWIND;
    }

    pub(crate) fn tells_questions_apart(&self) -> bool {
        self.is_replayed() && self.replay.borrow().tells_questions_apart
    }

    /// Notes what the question of a wait says.
    pub(crate) fn note_question(&self, number: u32, content: Bytes) {
        let mut replay = self.replay.borrow_mut();
        replay.questions.insert(number, content);
    }

    /// What the questions of now say, as far as that is known.
    pub(crate) fn questions(&self) -> BTreeMap<u32, Bytes> {
        self.replay.borrow().questions.clone()
    }

    /// What the replay has noted.
    pub(crate) fn noted(&self) -> Vec<Typed> {
        let mut noted = self.replay.borrow().held.clone();
        let mut chapter = self.change();
        noted.extend(
            chapter
                .waits
                .iter_mut()
                .filter_map(|wait| match &wait.slot {
                    Slot::Typed(typed) => Some(**typed),
                    _ => None,
                }),
        );
        noted
    }

    /// How many entries a replay has taken.
    pub(crate) fn replayed(&self) -> u32 {
        if self.is_aligned.get() {
            return self.entry_aligned();
        }
        self.replay.borrow().entry
    }

    pub(crate) fn end_replay(&self) {
        self.mode.set(Mode::Live);
        let Replay { moved, .. } = self.replay.take();
        if !moved.is_empty() {
            // Saved again, its lines are those of this build.
            let (mut moved, mut entry) = (moved.into_iter().peekable(), 0);
            let sites = self.shared.sites.sites();
            let mut chapter = self.change();
            let journal = chapter.journal.map_sites(|site| {
                let here = moved.next_if(|(at, _)| *at == entry);
                entry += 1;
                sites.known(here.map_or(site, |(_, here)| here))
            });
            chapter.journal = journal.expect("each site has a number");
        }
    }

    /// Begins a wait without a value in a replay, and returns its number and whether it is over.
    /// `None` if this is not as simple as usual: then nothing has changed.
    pub(crate) fn take_begun(&self, site: Known) -> Option<(u32, bool)> {
        if self.is_aligned.get() {
            return None;
        }
        // The number is only looked at until the entry has decided: the slow way takes it itself.
        let end = Kind::Ended(self.next_wait.get());
        let is_over = self.take_plain(end, site)?;
        let number = self.take_number();
        if !is_over {
            self.change().waits.push_replayed(number, site);
        }
        Some((number, is_over))
    }

    /// Whether a wait that [has begun so](Self::take_begun) is over. `None` if this is not as
    /// simple as usual.
    pub(crate) fn take_ended(&self, number: u32) -> Option<bool> {
        if self.is_aligned.get() {
            return None;
        }
        let site = self.chapter().waits.replayed(number)?;
        let is_over = self.take_plain(Kind::Ended(number), site)?;
        if is_over {
            self.change().waits.drop_replayed();
        }
        Some(is_over)
    }

    /// Takes the next entry of a replay, if it is the one that is expected, in the same line and
    /// without a value. Returns `false` if the poll may not take an entry, and `None` if it is
    /// another one.
    #[inline(always)]
    fn take_plain(&self, expected: Kind, here: Known) -> Option<bool> {
        let mut replay = self.replay.borrow_mut();
        let replay = &mut *replay;
        // At the end of the journal, or of what this poll may take, every wait is pending. Nothing is left
        // to compare, so this needs no slow way.
        let Some(next) = replay.next.filter(|next| replay.may_take(next.word)) else {
            return Some(false);
        };
        // Here only what is certainly equal is taken. Another kind, another line, a value, a line of another
        // build that has yet to be compared, a replay that has gone wrong: `take_entry` decides, and nothing
        // has changed yet.
        let is_it = next.word.is_plain(Word::new(expected, here.id));
        let is_known = !replay.is_to_be_compared(here.id, here.id);
        if !(is_it && is_known && replay.divergence.is_none()) {
            return None;
        }
        replay.go_on(&next)?;
        Some(true)
    }

    /// Takes the next entry in a replay, if it is the one that is expected. If the wait of the
    /// entry is another one now, that is a divergence. Of an effect, anything else is. `within` is
    /// that of the call.
    pub(super) fn take_entry(
        &self,
        expected: Kind,
        here: Known,
        within: &'static str,
    ) -> Option<Bytes> {
        let mut replay = self.replay.borrow_mut();
        let next = replay.next?;
        // The entry is of a later poll. To take it now would run the script ahead of its record: a wait
        // that ended in frame 7 would be over in the poll of frame 3.
        if !replay.may_take(next.word) {
            return None;
        }
        let is_like = next.word.is_like(Word::new(expected, here.id));
        if !(is_like && replay.compares_lines) {
            self.compare(&mut replay, next.word, expected, here, within)?;
        }
        replay.go_on(&next).map(|journal| journal.value(&next))
    }

    /// Compares the next entry of a replay with what is expected. `None` if it is another one.
    fn compare(
        &self,
        replay: &mut Replay,
        next: Word,
        expected: Kind,
        here: Known,
        within: &'static str,
    ) -> Option<()> {
        // Another wait has ended here, or an effect was done: the caller knows what that means.
        if next.kind() != expected {
            return None;
        }
        let (recorded, here) = (next.site(), here.id);
        if let Some(found) = self.compare_mark(replay, here) {
            replay.divergence.get_or_insert(found);
            return None;
        }
        if replay.is_to_be_compared(recorded, here) {
            if let Some(found) = self.compare_sites(replay, next, within, here) {
                let is_other = matches!(found, Found::Other { .. });
                // The first divergence is the one that explains the others.
                replay.divergence.get_or_insert(found);
                // The entry of another call may have a value of another type: it is not taken. The same
                // call in another line takes its entry, so that the script comes to its next wait.
                if is_other {
                    return None;
                }
            }
        }
        if recorded != here && !replay.compares_lines {
            let entry = replay.entry;
            replay.moved.push((entry, here));
        }
        Some(())
    }

    /// Whether the value of the next entry is still what its mark says.
    fn compare_mark(&self, replay: &Replay, here: SiteId) -> Option<Found> {
        let mark = replay.mark()?;
        let of_value = self.shared.sites.sites().get(here)?.mark?;
        let value = replay.journal.as_ref()?.value(replay.next.as_ref()?);
        let entry = replay.entry;
        (!of_value.fits(value.get(), mark)).then_some(Found::OtherMeaning { entry })
    }

    /// Compares the site of an entry with that of the call that is to take it.
    fn compare_sites(
        &self,
        replay: &mut Replay,
        next: Word,
        within: &'static str,
        here: SiteId,
    ) -> Option<Found> {
        let sites = self.shared.sites.sites();
        let entry = replay.entry;
        let (recorded, now) = (sites.get(next.site())?, sites.get(here)?);
        if !recorded.is_like(now) {
            let kind = next.kind();
            return Some(Found::Other { entry, kind, here });
        }
        if replay.compares_lines {
            return Some(Found::OtherLine { entry, here });
        }
        // A function without the attribute is called in other statements.
        let spots = [recorded, now].map(|site| (site.place, site.label));
        if spots[0] != spots[1] && spots.iter().all(|(place, _)| *place != 0) {
            return Some(Found::OtherShift { entry, here });
        }
        // Of another build, lines may differ, if all calls of a function have moved by as much.
        if !replay.shifts.fits(within, recorded, now) {
            return Some(Found::OtherShift { entry, here });
        }
        // Only what fits is remembered: a call that does not fit is compared, and found, each time.
        replay.note_compared(next.site(), here);
        None
    }

    /// Why the script does not wait for what it waited for at the save. `None` if it does.
    pub(crate) fn other_waits(&self, saved: &[NamedWait], now: &[NamedWait]) -> Option<OtherWaits> {
        let sites = self.shared.sites.sites();
        let mut replay = self.replay.borrow_mut();
        // Both are sorted by number, so that the same waits are in the same places.
        if saved.len() != now.len() {
            return Some(OtherWaits::Calls);
        }
        saved.iter().zip(now).find_map(|(saved, now)| {
            let (Some(then), Some(here)) = (sites.get(saved.site), sites.get(now.site)) else {
                return Some(OtherWaits::Calls);
            };
            if !then.is_like(here) {
                return Some(OtherWaits::Calls);
            }
            // The save names a wait by its number. With another one, the code begins more or fewer waits
            // before it, and would be given the state of another wait.
            if saved.number != now.number {
                return Some(OtherWaits::Number(saved.number, now.number));
            }
            let is_in_place = if replay.compares_lines {
                saved.site == now.site
            } else {
                replay.shifts.fits("", then, here)
            };
            (!is_in_place).then_some(OtherWaits::Place)
        })
    }

    /// The result of an effect in a replay. `None` if the script has left its replay: in a
    /// destructor, or where panics abort.
    pub(super) fn replayed_effect(&self, call: &Call) -> Option<Bytes> {
        let site = self.shared.sites.of(call);
        if self.is_aligned.get() {
            return self.effect_aligned(call, site);
        }
        if self.take_plain(Kind::Effect, site) == Some(true) {
            return Some(Bytes::EMPTY);
        }
        self.replayed_effect_slowly(call, site)
    }

    #[inline(never)]
    fn replayed_effect_slowly(&self, call: &Call, site: Known) -> Option<Bytes> {
        // The script has left its record. Whatever it asks for now has no recorded result, not even if the
        // next entry looks like it.
        if self.replay.borrow().divergence.is_some() {
            if !CAN_UNWIND {
                self.count_without_result();
                return None;
            }
            // In a destructor of the script that is unwinding: a second panic would end the process. Or the host
            // unwinds, and loads in a destructor: then the script goes on.
            if std::thread::panicking() {
                self.count_without_result();
                return None;
            }
        }
        if let Some(value) = self.take_entry(Kind::Effect, site, call.within) {
            return Some(value);
        }
        if let Some(message) = self.take_entry(Kind::Panicked, site, call.within) {
            let message = message.read::<String>().unwrap_or_default();
            if CAN_UNWIND {
                resume_unwind(Box::new(message));
            }
            self.leave_at_panic(message);
            return None;
        }
        // A wait whose entry does not come stays pending. An effect has to return now, and there is no
        // result: this is a divergence, at the end of the journal as well as in the middle.
        let here = site.id;
        let entry = self.replay.borrow().entry;
        let kind = Kind::Effect;
        self.leave_replay(Found::Other { entry, kind, here });
        None
    }

    /// Leaves a replay in which the script does what was not recorded. Returns in a destructor of
    /// a script that unwinds already, and where panics abort.
    pub(super) fn leave_replay(&self, found: Found) {
        self.note_divergence(found);
        if CAN_UNWIND && !std::thread::panicking() {
            resume_unwind(Box::new(Diverged));
        }
    }

    /// Leaves a replay at the entry that it has taken last, a panic that the script has caught.
    pub(super) fn leave_at_panic(&self, message: String) {
        let entry = self.replayed().saturating_sub(1);
        self.leave_replay(Found::Panicked { entry, message });
    }

    /// Panics if a script that has left its replay does not come to a wait.
    #[cold]
    pub(super) fn count_without_result(&self) {
        let mut replay = self.replay.borrow_mut();
        replay.without_result += 1;
        assert!(
            replay.without_result < MOST_WITHOUT_RESULT,
            "the script `{}` does not fit its save, and does not stop: a loop in it waits for nothing",
            self.code.name
        );
    }

    /// Leaves a replay in which the script reads the value of the entry that it has taken last as
    /// another type than it has. If it returns, `true`: the script goes on with another value.
    /// `false` if it is not replayed.
    fn leave_at_value(&self, type_name: &'static str) -> bool {
        let is_replayed = self.is_replayed();
        if is_replayed {
            let entry = self.replayed().saturating_sub(1);
            self.leave_replay(Found::OtherValue { entry, type_name });
        }
        is_replayed && !CAN_UNWIND
    }

    /// Leaves a replay in which the script does under another label what was done once. Returns if
    /// it is not replayed.
    pub(crate) fn leave_at_label(&self, label: &str) {
        if self.is_replayed() {
            let entry = self.replayed().saturating_sub(1);
            let label = label.to_owned();
            self.leave_replay(Found::OtherLabel { entry, label });
        }
    }
}

/// Reports that a recorded value is not one of a `T`. In a replay where panics abort, returns a
/// made-up one.
#[track_caller]
pub(crate) fn unreadable<T: DeserializeOwned>(why: fmt::Arguments<'_>) -> T {
    let cell = context::current();
    let goes_on = cell.is_some_and(|cell| cell.leave_at_value(std::any::type_name::<T>()));
    let made_up = if goes_on { bytes::read_zeros() } else { None };
    made_up.unwrap_or_else(|| panic!("{why}"))
}

/// Leaves a destructor that needs the result of an effect, but must do nothing, and for which no
/// result can be made up.
pub(crate) fn leave() -> ! {
    resume_unwind(Box::new(Diverged))
}
