//! A script whose journal is read to changed code.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use framestep::durable::{DurableWait, Event, EventNote};

use crate::bytes::{Bytes, dispose, quiet};
use crate::journal::{Call, Found, Known};
use crate::places::GoneOver;
use crate::script::aligned::pending::Next;
use crate::script::aligned::{Aligned, Change, Hold, Holders, Outcome, Taken};
use crate::script::cell::Mode;
use crate::script::recorder::Polling;
use crate::script::replayed::CAN_UNWIND;
use crate::script::{ScriptCell, Slot, context};

/// What a script has of its replay, until it goes on.
#[derive(Default)]
pub(crate) struct Realigned {
    /// The numbers that the waits of its save have now. Others are what they were.
    pub(crate) numbers: BTreeMap<u32, u32>,
    /// Whether it waits for more than at its save.
    pub(crate) has_new_waits: bool,
    /// What has changed.
    pub(crate) changes: Vec<Change>,
    /// What the earlier code held, and this one does not.
    pub(crate) released: Vec<Hold>,
}

impl ScriptCell {
    /// Begins to read the journal to changed code.
    pub(crate) fn begin_aligned(&self, aligned: Aligned) {
        self.mode.set(Mode::Replay);
        self.change().has_begun = true;
        self.aligned.replace(Some(Box::new(aligned)));
        self.is_aligned.set(true);
    }

    /// The aligned replay under way, and what it has to do with it.
    fn with_aligned<R>(&self, f: impl FnOnce(&mut Aligned) -> R) -> Option<R> {
        self.aligned.borrow_mut().as_deref_mut().map(f)
    }

    /// What a poll of a wait gets.
    pub(crate) fn poll_aligned(&self, number: u32, site: Known) -> Polling {
        if self.has_diverged() {
            return Polling::Pending;
        }
        let sites = self.shared.sites.sites();
        let taken = self.with_aligned(|aligned| aligned.wait(number, site, &sites));
        match taken {
            Some(Ok(Taken::Value(value))) => Polling::Ended(value),
            Some(Ok(Taken::Panic(message))) => {
                let message = message.read().unwrap_or_default();
                if CAN_UNWIND {
                    return Polling::Failed(message);
                }
                self.leave_at_panic(message);
                Polling::Pending
            }
            Some(Err(found)) => {
                self.note_divergence(found);
                Polling::Pending
            }
            Some(Ok(Taken::Pending)) | None => Polling::Pending,
        }
    }

    /// The result of an effect. `None` if the script has left its replay: in a destructor, or where panics
    /// abort.
    pub(crate) fn effect_aligned(&self, call: &Call, site: Known) -> Option<Bytes> {
        if self.has_diverged() && (!CAN_UNWIND || std::thread::panicking()) {
            self.count_without_result();
            return None;
        }
        let sites = self.shared.sites.sites();
        let taken = self.with_aligned(|aligned| aligned.effect(call, site, &sites));
        match taken? {
            Ok(Taken::Value(value)) => Some(value),
            Ok(Taken::Panic(message)) => {
                let message = message.read::<String>().unwrap_or_default();
                if CAN_UNWIND {
                    resume_unwind(Box::new(message));
                }
                self.leave_at_panic(message);
                None
            }
            Ok(Taken::Pending) => None,
            Err(found) => {
                self.leave_replay(found);
                None
            }
        }
    }

    /// Notes the items of a list that is about to be recorded: this build would have written them.
    pub(crate) fn begin_list(&self, items: impl FnOnce() -> Bytes) {
        if self.is_aligned.get() {
            self.with_aligned(|aligned| aligned.begin_list(items()));
        }
    }

    /// Compares the items of a list with those that were recorded.
    pub(crate) fn compare_items(&self, call: &Call, then: Option<Vec<u32>>, now: &[u32]) {
        let Some(then) = then.filter(|_| self.is_replayed()) else {
            return;
        };
        if self.is_aligned.get() {
            self.note_items(call, &then, now);
        } else if then != now {
            // A table of data has changed.
            let entry = self.replayed().saturating_sub(1);
            self.leave_replay(Found::OtherItems { entry });
        }
    }

    /// Notes the label of an item without a list.
    pub(crate) fn note_item_alone(&self, label: u32) {
        if self.is_aligned.get() {
            self.with_aligned(|aligned| aligned.note_item_alone(label));
        }
    }

    /// Notes that a loop begins, or its next turn.
    pub(crate) fn note_turn(&self, number: u16, is_next: bool) {
        let of = u32::from(number);
        self.note_loop(|loops| {
            if is_next {
                loops.turn(of);
            } else {
                loops.begin(of);
            }
        });
        if self.is_aligned.get() {
            self.with_aligned(|aligned| aligned.note_turn(of, is_next));
        }
    }

    /// What its loops have gone over.
    pub(crate) fn gone_over(&self) -> GoneOver {
        self.chapter().gone_over.clone()
    }

    /// Notes what a loop goes over.
    pub(crate) fn note_loop(&self, note: impl FnOnce(&mut GoneOver)) {
        note(&mut self.change().gone_over);
    }

    fn note_items(&self, call: &Call, then: &[u32], now: &[u32]) {
        let here = self.shared.sites.of(call);
        let sites = self.shared.sites.sites();
        let noted = self.with_aligned(|aligned| match sites.get(here.id) {
            Some(site) => aligned.note_items(site, then, now, &sites),
            None => Ok(()),
        });
        if let Some(Err(found)) = noted {
            self.leave_replay(found);
        }
    }

    /// Whether a wait has yet to begin that the code of the save did not have. It does now.
    #[cold]
    pub(crate) fn begins_new_wait(&self, number: u32, event: Option<Event>) -> bool {
        let may_begin = match self.mode.get() {
            // The others find what they wait for once the script is polled.
            Mode::Begin => matches!(
                event,
                Some(Event::Signal(_) | Event::Value(_) | Event::Permit(_))
            ),
            mode => mode == Mode::Live,
        };
        let begins = may_begin && self.new_waits.borrow_mut().remove(&number).is_some();
        if begins {
            self.latest_wait.set(number);
        }
        begins
    }

    /// Whether new waits begin, and nothing else happens.
    pub(crate) fn only_begins(&self) -> bool {
        self.mode.get() == Mode::Begin
    }

    /// Begins the new waits for events, which may come before the script is polled. The script is where it was:
    /// nothing ends meanwhile.
    pub(crate) fn begin_new_waits(self: &Rc<Self>) {
        if self.new_waits.borrow().is_empty() {
            return;
        }
        self.mode.set(Mode::Begin);
        let mut cx = Context::from_waker(Waker::noop());
        let mut poll = || match self.future.borrow_mut().as_mut() {
            Some(future) => future.as_mut().poll(&mut cx).map(drop),
            None => Poll::Pending,
        };
        let polled = context::within_replay(self, || quiet::catch(&mut poll));
        self.mode.set(Mode::Live);
        match polled {
            Ok(polled) => debug_assert!(polled.is_pending(), "nothing ends"),
            // It does in each poll what is not recorded. The next one panics.
            Err(payload) => dispose(payload),
        }
    }

    /// Shows that the script waits for an event, outside of its polls.
    pub(crate) fn note_event(&self, event: Event, slot: &Slot) -> Option<EventNote> {
        let door = &self.shared.door;
        door.note_event(self.coroutine_id()?, event, slot.full_name())
    }

    /// Begins another poll. Returns `false` if the script is where it was.
    pub(crate) fn goes_on_aligned(&self) -> Result<bool, Found> {
        if let Some(found) = self.divergence() {
            return Err(found);
        }
        let (awaited, questions) = (self.awaited(), self.questions());
        let gone_over = self.gone_over();
        let sites = self.shared.sites.sites();
        let next = self.with_aligned(|aligned| {
            let next = aligned.decide(&awaited, &questions, &gone_over, &sites)?;
            if matches!(next, Next::Polls) {
                aligned.begin_poll();
            }
            Ok(next)
        });
        match next {
            Some(Ok(Next::Polls)) => Ok(true),
            Some(Ok(Next::There { numbers, has_new })) => {
                let mut realigned = self.realigned.borrow_mut();
                (realigned.numbers, realigned.has_new_waits) = (numbers, has_new);
                Ok(false)
            }
            Some(Err(found)) => Err(found),
            None => Ok(false),
        }
    }

    /// Compares what the script holds with what it held.
    pub(crate) fn compare_holds(&self, holders: &dyn Holders) -> Result<(), Found> {
        let is_held = |hold| holders.is_held(self.id, hold);
        let too_much = self.with_aligned(|aligned| {
            let hold = aligned.holds_too_much(is_held)?;
            Some((aligned.entry(), hold))
        });
        match too_much.flatten() {
            None => Ok(()),
            Some((entry, hold)) => Err(Found::Place {
                entry,
                recorded: Some(format!("that it has given up {hold}")),
                found: "holds it still: what gave it up before the point of the save is gone"
                    .to_owned(),
            }),
        }
    }

    /// Ends the replay.
    pub(crate) fn end_aligned(&self) {
        self.mode.set(Mode::Live);
        self.is_aligned.set(false);
        let Some(aligned) = self.aligned.take() else {
            return;
        };
        let Outcome {
            journal,
            stop_lines,
            changes,
            released,
            mut not_begun,
        } = aligned.into_outcome();
        let mut chapter = self.change();
        chapter.journal = journal;
        chapter.stop_lines = stop_lines;
        drop(chapter);
        let mut realigned = self.realigned.borrow_mut();
        (realigned.changes, realigned.released) = (changes, released);
        if realigned.has_new_waits {
            let awaited = self.awaited();
            let numbers = awaited.iter().map(|wait| wait.number);
            let is_new = |number: &u32| !realigned.numbers.values().any(|known| known == number);
            // The others go on as they were saved.
            let new = numbers.filter(is_new);
            let new = new.map(|number| (number, not_begun.remove(&number)));
            self.new_waits.replace(new.collect());
            self.look_back_next();
        }
    }

    /// Keeps a wait of framestep that is pending: the code of the save may not have had it. Then it begins once
    /// the script is polled again.
    pub(crate) fn note_not_begun(&self, number: u32, wait: DurableWait) {
        self.with_aligned(|aligned| aligned.note_not_begun(number, wait));
    }

    /// Forgets a wait that is over, or was dropped.
    pub(crate) fn forget_aligned(&self, number: u32) {
        let not_begun = self.with_aligned(|aligned| aligned.forget(number));
        drop(not_begun);
    }

    /// The number of the next entry, for messages.
    pub(crate) fn entry_aligned(&self) -> u32 {
        self.with_aligned(|aligned| aligned.entry()).unwrap_or(0)
    }

    /// What is wrong with a script that has come to its end.
    pub(crate) fn returned_aligned(&self) -> Option<Found> {
        let sites = self.shared.sites.sites();
        self.with_aligned(|aligned| aligned.returned(&sites))
    }

    /// What the save has at the point that the replay has come to.
    pub(crate) fn recorded_aligned(&self) -> Option<String> {
        let sites = self.shared.sites.sites();
        self.with_aligned(|aligned| aligned.recorded(&sites))
    }

    /// The number that a wait of its save has now.
    pub(crate) fn number_now(&self, number: u32) -> u32 {
        let realigned = self.realigned.borrow();
        realigned.numbers.get(&number).copied().unwrap_or(number)
    }

    /// The number that a wait had in its save. One that it did not have has none there.
    pub(crate) fn number_then(&self, number: u32) -> u32 {
        let realigned = self.realigned.borrow();
        if realigned.numbers.is_empty() {
            return number;
        }
        let mut numbers = realigned.numbers.iter();
        let then = numbers.find(|(_, now)| **now == number);
        then.map_or(u32::MAX, |(then, _)| *then)
    }

    /// Notes that something that the script holds is dropped, if that is in an aligned replay.
    pub(crate) fn note_dropped(&self, hold: Hold) {
        if self.is_aligned.get() && self.is_replayed() {
            self.with_aligned(|aligned| aligned.note_dropped(hold));
        }
    }
}
