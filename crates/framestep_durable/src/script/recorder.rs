//! What a script records: the ends of its waits, and its effects.

use std::cell::RefMut;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;

use framestep::durable::DurableWait;

use crate::bytes::{Bytes, message_of};
use crate::journal::{Call, Kind, Known};
use crate::places::note;
use crate::script::cell::{ChapterState, Mode};
use crate::script::replayed::CAN_UNWIND;
use crate::script::{Pending, ScriptCell, Slot};

/// What a wait finds when it is polled.
pub(crate) enum Polling {
    /// The script runs.
    Live,
    /// It is restored, and the wait is over.
    Ended(Bytes),
    /// It is restored, and the wait has panicked with this message.
    Failed(String),
    /// It is restored, and the wait is not over.
    Pending,
}

/// What has become of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It has been done.
    Now,
    /// It was done before, and its result is in the journal.
    Before,
    /// It must not be done, and has no result.
    Not,
}

impl ScriptCell {
    /// What a poll of the wait `number` finds.
    #[inline]
    pub(crate) fn polling(&self, number: u32, site: Known) -> Polling {
        if !self.is_replayed() {
            return Polling::Live;
        }
        if self.is_aligned.get() {
            return self.poll_aligned(number, site);
        }
        // The number of the wait is in the entry. So an entry that is not this wait's is that of another
        // wait, such as a branch of a `select!` that is polled later: this one is pending, as it was when
        // it was recorded. If no wait takes the entry, `goes_on` finds that.
        match self.take_entry(Kind::Ended(number), site, "") {
            Some(value) => Polling::Ended(value),
            None => match self.take_entry(Kind::Failed(number), site, "") {
                Some(message) if CAN_UNWIND => Polling::Failed(message.read().unwrap_or_default()),
                Some(message) => {
                    self.leave_at_panic(message.read().unwrap_or_default());
                    Polling::Pending
                }
                None => Polling::Pending,
            },
        }
    }

    /// The number for a wait that begins.
    #[inline]
    pub(crate) fn take_number(&self) -> u32 {
        let number = self.next_wait.get();
        let next = number
            .checked_add(1)
            .expect("fewer than 2^32 waits in a chapter");
        self.next_wait.set(next);
        number
    }

    /// The site of a wait.
    #[inline]
    pub(super) fn site_at(&self, call: &'static str, at: &'static Location<'static>) -> Known {
        match self.last_site.get() {
            Some((of, before, here, site))
                if ptr::eq(before, at) && ptr::eq(of, call) && here == note::here() =>
            {
                site
            }
            _ => self.find_site_at(call, at),
        }
    }

    #[inline(never)]
    fn find_site_at(&self, function: &'static str, at: &'static Location<'static>) -> Known {
        let site = self.shared.sites.of(&Call::at(function, "", at));
        self.last_site.set(Some((function, at, note::here(), site)));
        site
    }

    /// Ends a pending wait of framestep without a value, if it resumes the coroutine. Calls no user
    /// code.
    #[inline]
    pub(crate) fn end_if_resumed(&self, number: u32) -> bool {
        if !self.is_live() {
            return false;
        }
        let mut chapter = self.change();
        let Some(site) = chapter.waits.take_resumed(number) else {
            return false;
        };
        self.record_in(chapter, Kind::Ended(number), site, &[]);
        true
    }

    /// Adds a wait that has begun.
    #[inline]
    pub(crate) fn add_wait(&self, pending: Pending) {
        self.change().waits.push(pending);
    }

    /// Removes a wait that is over or was dropped.
    #[inline]
    pub(crate) fn remove_wait(&self, number: u32) -> Option<Pending> {
        if self.is_aligned.get() {
            self.forget_aligned(number);
        }
        self.change().waits.remove(number)
    }

    /// Calls `f` with the state of a wait.
    #[inline]
    pub(crate) fn with_slot<R>(&self, number: u32, f: impl FnOnce(&mut Slot) -> R) -> Option<R> {
        let mut chapter = self.change();
        Some(f(&mut chapter.waits.get(number)?.slot))
    }

    /// The site of a pending wait.
    pub(crate) fn site_of(&self, number: u32) -> Option<Known> {
        Some(self.change().waits.get(number)?.site)
    }

    /// Takes the state of a wait out while it is polled: what is called meanwhile may end
    /// other waits.
    pub(crate) fn take_slot(&self, number: u32) -> Option<Slot> {
        self.with_slot(number, |slot| mem::replace(slot, Slot::Polled))
    }

    /// Takes out a wait of framestep while it is polled. `None` if the wait has none: also if a file that was changed
    /// says that it is another one, which stays there.
    pub(super) fn take_executor_wait(&self, number: u32) -> Option<DurableWait> {
        let taken = self.with_slot(number, |slot| match mem::replace(slot, Slot::Polled) {
            Slot::Plain(wait) => Some(wait),
            other => {
                *slot = other;
                None
            }
        });
        taken.flatten()
    }

    /// Puts the state of a wait back.
    pub(crate) fn put_slot(&self, number: u32, slot: Slot) {
        self.with_slot(number, |place| *place = slot);
    }

    /// Records the end of a wait.
    #[inline]
    pub(crate) fn record_end(&self, number: u32, value: &[u8], site: Known) {
        self.record(Kind::Ended(number), site, value);
    }

    /// Records that a wait has panicked: the script may catch it, and go on.
    pub(crate) fn record_failure(&self, number: u32, message: &str, site: Known) {
        let message = Bytes::of(message);
        self.record(Kind::Failed(number), site, message.get());
    }

    #[inline(never)]
    fn record(&self, kind: Kind, site: Known, value: &[u8]) {
        if self.is_live() {
            self.record_in(self.change(), kind, site, value);
        }
    }

    #[inline(always)]
    fn record_in(
        &self,
        mut chapter: RefMut<'_, ChapterState>,
        kind: Kind,
        site: Known,
        value: &[u8],
    ) {
        let is_first = self.begins_poll.replace(false);
        chapter.journal.push(is_first, kind, site, value);
        let entries = chapter.journal.entries();
        drop(chapter);
        let trail = &self.shared.trail;
        if trail.is_kept() {
            let sites = &self.shared.sites;
            trail.note(self.named(), sites, entries, kind, site.id, Some(value));
        }
        if self.length.matters(entries) {
            let chapters = &self.shared.long_chapters;
            chapters.look_at(&self.shared.door, self.named(), &self.length, entries);
        }
    }

    /// Does an effect and records its result. In a replay, takes the result from the journal
    /// instead. `None` in a destructor of a script that is dropped because of a restore: it
    /// must do nothing, and has no result.
    pub(crate) fn effect(&self, call: Call, act: impl FnOnce() -> Bytes) -> Option<Bytes> {
        let mut value = Vec::new();
        let mut act = Some(act);
        let done = self.effect_in(&call, &mut value, &mut |value| {
            if let Some(act) = act.take() {
                value.extend_from_slice(act().get());
            }
        });
        (done != Done::Not).then(|| Bytes::new(&value))
    }

    /// The same with the place where `act` writes the result, or where that is read from the
    /// journal.
    pub(crate) fn effect_in(
        &self,
        call: &Call,
        value: &mut Vec<u8>,
        act: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Done {
        if self.is_in_closure() {
            // A part of the effect or the wait whose closure it is. In a replay, only those of questions are
            // called, to see what they say: not if that depends on an effect.
            if self.is_replayed() {
                resume_unwind(Box::new("an effect"));
            }
            act(value);
            return Done::Now;
        }
        if self.is_discarding() {
            return Done::Not;
        }
        match self.mode.get() {
            Mode::Live => {
                // All that it calls is a part of the effect, such as the start value of a watch.
                let acted = catch_unwind(AssertUnwindSafe(|| {
                    self.note_effect(call);
                    self.in_closure(|| act(value));
                }));
                let site = self.shared.sites.of(call);
                if let Err(payload) = acted {
                    // The script may catch it, and go on.
                    let message = Bytes::of(&message_of(&*payload));
                    self.record(Kind::Panicked, site, message.get());
                    resume_unwind(payload)
                }
                // `act` may have ended the script.
                if self.is_live() {
                    self.record_in(self.change(), Kind::Effect, site, value);
                }
                Done::Now
            }
            // It was replaced, or was a trial: for the world, it has never existed.
            Mode::Silent => Done::Not,
            // A destructor of a script that has ended for good. No replay comes to this point, so nothing
            // needs to be recorded.
            Mode::Ending => {
                self.in_closure(|| act(value));
                Done::Now
            }
            // The world has the effect already; only its result is repeated.
            Mode::Replay | Mode::Begin => match self.replayed_effect(call) {
                Some(recorded) => {
                    value.extend_from_slice(recorded.get());
                    Done::Before
                }
                None => Done::Not,
            },
        }
    }

    /// Notes for the sync test that an effect is about to be done.
    #[inline]
    fn note_effect(&self, call: &Call) {
        let trail = &self.shared.trail;
        if trail.is_kept() {
            let entry = self.chapter().journal.entries() + 1;
            let sites = &self.shared.sites;
            let site = sites.of(call);
            trail.note(self.named(), sites, entry, Kind::Effect, site.id, None);
        }
    }
}
