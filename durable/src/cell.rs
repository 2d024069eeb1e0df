//! One script of a runtime: its future, its journal and its waits.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::durable::{EventNote, home};
use framestep::{Coroutine, CoroutineId, Phase};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::context;
use crate::driver::{dispose, message_of};
use crate::error::Found;
use crate::image::NamedWait;
use crate::journal::{Entry, FoundEntry, Journal, Kind};
use crate::long::Length;
use crate::once::Once;
use crate::owner::OwnerId;
use crate::quiet;
use crate::script::{ChapterFuture, Code};
use crate::shared::Shared;
use crate::shift::Shifts;
use crate::site::{Call, SiteId};
use crate::slot::{Awaited, Pending, Slot};

/// The number of a script, which no other script of the runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScriptId(pub(crate) u64);

impl ScriptId {
    /// The id of a number: scripts are numbered from 1, in the order in which they were made.
    #[must_use]
    pub const fn of(number: u64) -> Self {
        ScriptId(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ScriptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// How the waits and effects of a script behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// They are recorded.
    Live,
    /// They take what is recorded.
    Replay,
    /// The script is being dropped: they are neither.
    Ending,
    /// The script is being dropped because another one takes its place, or because it was a
    /// trial: it must not change the world.
    Silent,
}

/// One script.
pub(crate) struct ScriptCell {
    shared: Rc<Shared>,
    /// That of the runtime when it was made.
    epoch: u32,
    /// The same: which registry its code is from.
    generation: u32,
    pub(crate) id: ScriptId,
    pub(crate) code: Code,
    pub(crate) home: Phase,
    pub(crate) owner: Option<OwnerId>,
    /// The state with which the chapter began.
    state: RefCell<Bytes>,
    journal: RefCell<Journal>,
    /// What it has done once in its life.
    once: RefCell<Once>,
    future: RefCell<Option<ChapterFuture>>,
    /// The waits that have begun and are not over.
    slots: RefCell<Vec<Pending>>,
    /// The number of the next wait that begins.
    next_wait: Cell<u32>,
    mode: Cell<Mode>,
    /// Whether the next entry is the first of a poll.
    begins_poll: Cell<bool>,
    is_in_closure: Cell<bool>,
    /// Whether the chapter has been polled.
    has_begun: Cell<bool>,
    /// Whether it waits as the code of its save did, and restarts its chapter then.
    restarts_after_wait: Cell<bool>,
    pub(crate) length: Length,
    replay: RefCell<Replay>,
    /// The coroutine that runs the script, while there are handles.
    pub(crate) coroutine: RefCell<Option<Coroutine<()>>>,
    coroutine_id: Cell<Option<CoroutineId>>,
}

/// How far a replay has come.
#[derive(Default)]
struct Replay {
    /// The next entry. `None` at the end, or if it cannot be read.
    next: Option<FoundEntry>,
    /// The number of the next entry, for messages.
    entry: u32,
    /// Whether the poll under way may take an entry that is the first of a poll.
    is_open: bool,
    compares_lines: bool,
    /// The entries of another build that are in other lines now.
    moved: Vec<(u32, SiteId)>,
    shifts: Shifts,
    /// For each recorded site of another build, the site that it has been found to be now.
    compared: Vec<Option<SiteId>>,
    divergence: Option<Found>,
}

impl Replay {
    /// Whether the site of an entry and the present one have yet to be compared.
    #[inline]
    fn is_to_be_compared(&self, recorded: SiteId, here: SiteId) -> bool {
        if self.compares_lines {
            return recorded != here;
        }
        self.compared.get(recorded.0 as usize) != Some(&Some(here))
    }

    fn note_compared(&mut self, recorded: SiteId, here: SiteId) {
        let at = recorded.0 as usize;
        if self.compared.len() <= at {
            self.compared.resize(at + 1, None);
        }
        self.compared[at] = Some(here);
    }
}

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

impl ScriptCell {
    pub(crate) fn new(
        shared: &Rc<Shared>,
        id: ScriptId,
        code: Code,
        home: Phase,
        owner: Option<OwnerId>,
        state: Bytes,
        future: ChapterFuture,
    ) -> Self {
        let journal = Journal::new();
        Self::restored(shared, id, code, home, owner, state, journal, future)
    }

    /// A script with entries that have yet to be [read to it](Self::begin_replay).
    #[expect(clippy::too_many_arguments, reason = "each is a part of a script")]
    pub(crate) fn restored(
        shared: &Rc<Shared>,
        id: ScriptId,
        code: Code,
        home: Phase,
        owner: Option<OwnerId>,
        state: Bytes,
        journal: Journal,
        future: ChapterFuture,
    ) -> Self {
        ScriptCell {
            shared: Rc::clone(shared),
            epoch: shared.epoch.get(),
            generation: shared.generation.get(),
            id,
            code,
            home,
            owner,
            state: RefCell::new(state),
            journal: RefCell::new(journal),
            once: RefCell::default(),
            future: RefCell::new(Some(future)),
            slots: RefCell::default(),
            next_wait: Cell::new(0),
            mode: Cell::new(Mode::Live),
            begins_poll: Cell::new(false),
            is_in_closure: Cell::new(false),
            has_begun: Cell::new(false),
            restarts_after_wait: Cell::new(false),
            length: shared.long_chapters.begin(),
            replay: RefCell::default(),
            coroutine: RefCell::default(),
            coroutine_id: Cell::new(None),
        }
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    pub(crate) fn name(&self) -> &'static str {
        self.code.name
    }

    pub(crate) fn state(&self) -> Bytes {
        self.state.borrow().clone()
    }

    pub(crate) fn journal(&self) -> Journal {
        self.journal.borrow().clone()
    }

    pub(crate) fn future(&self) -> &RefCell<Option<ChapterFuture>> {
        &self.future
    }

    pub(crate) fn slots(&self) -> &RefCell<Vec<Pending>> {
        &self.slots
    }

    /// Whether its future is being polled.
    pub(crate) fn is_polled(&self) -> bool {
        self.future.try_borrow().is_err()
    }

    pub(crate) fn next_wait(&self) -> u32 {
        self.next_wait.get()
    }

    pub(crate) fn coroutine_id(&self) -> Option<CoroutineId> {
        self.coroutine_id.get()
    }

    /// Notes the coroutine that runs the script.
    pub(crate) fn set_coroutine(&self, coroutine: Coroutine<()>) {
        self.coroutine_id.set(Some(coroutine.id()));
        self.coroutine.replace(Some(coroutine));
    }

    /// Notes which coroutine runs the script, in a poll of it. A script that is started is polled
    /// before the call that starts it has returned the coroutine.
    #[inline]
    pub(crate) fn note_coroutine(&self) {
        if self.coroutine_id.get().is_none() {
            self.coroutine_id.set(Some(framestep::current()));
        }
    }

    #[inline]
    pub(crate) fn is_in_closure(&self) -> bool {
        self.is_in_closure.get()
    }

    /// Whether what it does changes the world: not if its journal is being read to it, and not
    /// if it is being dropped silently.
    pub(crate) fn has_effects(&self) -> bool {
        matches!(self.mode.get(), Mode::Live | Mode::Ending)
    }

    /// Whether the chapter has been polled.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.get()
    }

    /// Whether it waits as the code of its save did, and restarts its chapter then.
    pub(crate) fn restarts_after_wait(&self) -> bool {
        self.restarts_after_wait.get()
    }

    /// Makes a new script one that [restarts after its wait](Self::restarts_after_wait).
    pub(crate) fn begin_wait_of_save(&self, waits: Vec<Pending>) {
        self.restarts_after_wait.set(true);
        self.has_begun.set(true);
        self.slots.replace(waits);
    }

    /// What the script has done once in its life.
    pub(crate) fn once(&self) -> &RefCell<Once> {
        &self.once
    }

    /// Notes that a poll of the script begins.
    pub(crate) fn begin_poll(&self) {
        self.begins_poll.set(self.has_begun.replace(true));
    }

    /// Begins another chapter.
    pub(crate) fn begin_chapter(&self, state: Bytes, future: ChapterFuture) {
        self.state.replace(state);
        self.journal.replace(Journal::new());
        drop(self.slots.take());
        self.next_wait.set(0);
        self.has_begun.set(false);
        self.restarts_after_wait.set(false);
        self.length.reset(&self.shared.long_chapters);
        self.future.replace(Some(future));
    }

    /// Takes the future, to drop it. Its waits and effects are neither recorded nor replayed
    /// any more.
    pub(crate) fn take_future(&self) -> Option<ChapterFuture> {
        self.mode.set(Mode::Ending);
        self.future.take()
    }

    /// Drops the future. The effects of its destructors are ignored.
    pub(crate) fn drop_silently(self: &Rc<Self>) {
        self.mode.set(Mode::Silent);
        let _entered = context::enter(self);
        let future = self.future.take();
        // A destructor that unwinds is left.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            dispose(payload);
        }
    }

    /// The same for a script that only a trial has made: no panic is printed.
    pub(crate) fn drop_trial(self: &Rc<Self>) {
        if let Err(payload) = quiet::catch(|| self.drop_silently()) {
            dispose(payload);
        }
    }

    /// Begins to read the journal to a new future.
    pub(crate) fn begin_replay(&self, compares_lines: bool) {
        self.mode.set(Mode::Replay);
        self.has_begun.set(true);
        self.replay.replace(Replay {
            next: self.journal.borrow().find(0),
            // The first poll of a chapter has no entry that is marked as the first of a poll.
            compares_lines,
            ..Replay::default()
        });
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
        let was_open = mem::replace(&mut replay.is_open, true);
        let entry = replay.entry;
        match replay.next {
            Some(next) if next.is_first && !was_open => Ok(true),
            Some(_) => Err(Found::NotReached {
                entry,
                now: self.awaited(),
            }),
            None if entry == self.journal.borrow().entries() => Ok(false),
            None => Err(Found::Damaged { entry }),
        }
    }

    /// What the script waits for, by number.
    pub(crate) fn awaited(&self) -> Vec<NamedWait> {
        let slots = self.slots.borrow();
        let found = slots.iter().map(|pending| self.named(pending));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable_by_key(|wait| wait.number);
        found
    }

    /// What a wait is for, by name.
    pub(crate) fn named(&self, pending: &Pending) -> NamedWait {
        let of_call = || self.shared.sites.of(&pending.awaited.call());
        NamedWait {
            number: pending.number,
            site: pending.site_of_save.unwrap_or_else(of_call),
        }
    }

    /// How many entries a replay has taken.
    pub(crate) fn replayed(&self) -> u32 {
        self.replay.borrow().entry
    }

    pub(crate) fn end_replay(&self) {
        self.mode.set(Mode::Live);
        let Replay { moved, .. } = self.replay.take();
        if !moved.is_empty() {
            // Saved again, its lines are those of this build.
            let (mut moved, mut entry) = (moved.into_iter().peekable(), 0);
            let journal = self.journal.borrow().map_sites(|site| {
                let here = moved.next_if(|(at, _)| *at == entry);
                entry += 1;
                Some(here.map_or(site, |(_, here)| here))
            });
            self.journal
                .replace(journal.expect("each site has a number"));
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

    /// What a poll of the wait `number` finds.
    #[inline]
    pub(crate) fn polling(&self, number: u32, call: &Call) -> Polling {
        match self.mode.get() {
            Mode::Live | Mode::Ending | Mode::Silent => Polling::Live,
            Mode::Replay => match self.take_entry(Kind::Ended(number), call) {
                Some(value) => Polling::Ended(value),
                None => match self.take_entry(Kind::Failed(number), call) {
                    Some(message) => Polling::Failed(message.read().unwrap_or_default()),
                    None => Polling::Pending,
                },
            },
        }
    }

    /// Takes the next entry in a replay, if it is the one that is expected. If the wait of the
    /// entry is another one now, that is a divergence. Of an effect, anything else is.
    fn take_entry(&self, expected: Kind, call: &Call) -> Option<Bytes> {
        let mut replay = self.replay.borrow_mut();
        let next = replay.next?;
        if next.kind != expected || next.is_first && !replay.is_open {
            return None;
        }
        let here = self.shared.sites.of(call);
        if replay.is_to_be_compared(next.site, here) {
            if let Some(found) = self.compare_sites(&mut replay, &next, call, here) {
                let is_other = matches!(found, Found::Other { .. });
                replay.divergence.get_or_insert(found);
                if is_other {
                    return None;
                }
            }
        }
        if next.site != here && !replay.compares_lines {
            let entry = replay.entry;
            replay.moved.push((entry, here));
        }
        let journal = self.journal.borrow();
        replay.next = journal.find(next.next);
        replay.entry += 1;
        replay.is_open = false;
        Some(journal.value(&next))
    }

    /// Compares the site of an entry with that of the call that is to take it.
    fn compare_sites(
        &self,
        replay: &mut Replay,
        next: &FoundEntry,
        call: &Call,
        here: SiteId,
    ) -> Option<Found> {
        let sites = self.shared.sites.sites();
        let entry = replay.entry;
        let (recorded, now) = (sites.get(next.site)?, sites.get(here)?);
        if !recorded.is_like(now) {
            let kind = next.kind;
            return Some(Found::Other { entry, kind, here });
        }
        if replay.compares_lines {
            return Some(Found::OtherLine { entry, here });
        }
        if !replay.shifts.fits(call.within, recorded, now) {
            return Some(Found::OtherShift { entry, here });
        }
        replay.note_compared(next.site, here);
        None
    }

    /// Whether the script waits for what it waited for at the save.
    pub(crate) fn awaits_the_same(&self, saved: &[NamedWait], now: &[NamedWait]) -> bool {
        let sites = self.shared.sites.sites();
        let mut replay = self.replay.borrow_mut();
        let mut fits = |saved: &NamedWait, now: &NamedWait| {
            let (Some(then), Some(here)) = (sites.get(saved.site), sites.get(now.site)) else {
                return false;
            };
            let is_in_place = if replay.compares_lines {
                saved.site == now.site
            } else {
                replay.shifts.fits("", then, here)
            };
            saved.number == now.number && then.is_like(here) && is_in_place
        };
        saved.len() == now.len() && saved.iter().zip(now).all(|(saved, now)| fits(saved, now))
    }

    /// Records the end of a wait.
    #[inline]
    pub(crate) fn record_end(&self, number: u32, value: &[u8], call: &Call) {
        self.record(Kind::Ended(number), value, call);
    }

    /// Records that a wait has panicked: the script may catch it, and go on.
    pub(crate) fn record_failure(&self, number: u32, message: &str, call: &Call) {
        self.record(Kind::Failed(number), Bytes::of(message).get(), call);
    }

    #[inline]
    fn record(&self, kind: Kind, value: &[u8], call: &Call) {
        if self.mode.get() != Mode::Live {
            return;
        }
        let mut journal = self.journal.borrow_mut();
        journal.push(&Entry {
            is_first: self.begins_poll.replace(false),
            kind,
            site: self.shared.sites.of(call),
            value,
        });
        let entries = journal.entries();
        drop(journal);
        let trail = &self.shared.trail;
        if trail.is_kept() {
            let site = self.shared.sites.of(call);
            trail.note(self, entries, kind, site, Some(value));
        }
        if self.length.matters(entries) {
            let chapters = &self.shared.long_chapters;
            chapters.look_at(&self.shared.door, self, entries);
        }
    }

    /// Does an effect and records its result. In a replay, takes the result from the journal
    /// instead. `None` in a destructor of a script that is dropped because of a restore: it
    /// must do nothing, and has no result.
    pub(crate) fn effect(&self, call: Call, act: impl FnOnce() -> Bytes) -> Option<Bytes> {
        match self.mode.get() {
            Mode::Live => match catch_unwind(AssertUnwindSafe(|| self.act(&call, act))) {
                Ok(value) => {
                    self.record(Kind::Effect, value.get(), &call);
                    Some(value)
                }
                Err(payload) => {
                    // The script may catch it, and go on.
                    let message = Bytes::of(&message_of(&*payload));
                    self.record(Kind::Panicked, message.get(), &call);
                    resume_unwind(payload)
                }
            },
            Mode::Silent => None,
            Mode::Ending => Some(act()),
            Mode::Replay => self.replayed_effect(&call),
        }
    }

    #[inline]
    fn act(&self, call: &Call, act: impl FnOnce() -> Bytes) -> Bytes {
        let trail = &self.shared.trail;
        if trail.is_kept() {
            let entry = self.journal.borrow().entries() + 1;
            trail.note(self, entry, Kind::Effect, self.shared.sites.of(call), None);
        }
        act()
    }

    /// The result of an effect in a replay. `None` in a destructor of a script that has left its
    /// replay.
    fn replayed_effect(&self, call: &Call) -> Option<Bytes> {
        if std::thread::panicking() && self.replay.borrow().divergence.is_some() {
            return None;
        }
        if let Some(value) = self.take_entry(Kind::Effect, call) {
            return Some(value);
        }
        if let Some(message) = self.take_entry(Kind::Panicked, call) {
            resume_unwind(Box::new(message.read::<String>().unwrap_or_default()));
        }
        let here = self.shared.sites.of(call);
        let entry = self.replay.borrow().entry;
        let kind = Kind::Effect;
        self.leave_replay(Found::Other { entry, kind, here });
        None
    }

    /// Leaves a replay in which the script does what was not recorded. Returns in a destructor of
    /// a script that unwinds already.
    fn leave_replay(&self, found: Found) {
        self.replay.borrow_mut().divergence.get_or_insert(found);
        if !std::thread::panicking() {
            resume_unwind(Box::new(Diverged));
        }
    }

    /// Leaves a replay in which the script reads the value of the entry that it has taken last as
    /// another type than it has. Returns if it is not replayed.
    fn leave_at_value(&self, type_name: &'static str) {
        if self.mode.get() == Mode::Replay {
            let entry = self.replayed().saturating_sub(1);
            self.leave_replay(Found::OtherValue { entry, type_name });
        }
    }

    /// Leaves a replay in which the script does under another label what was done once. Returns if
    /// it is not replayed.
    pub(crate) fn leave_at_label(&self, label: &str) {
        if self.mode.get() == Mode::Replay {
            let entry = self.replayed().saturating_sub(1);
            let label = label.to_owned();
            self.leave_replay(Found::OtherLabel { entry, label });
        }
    }

    /// Calls `f` as a closure of the script: waits and effects inside of it are refused.
    pub(crate) fn in_closure<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a Cell<bool>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.is_in_closure.set(true);
        let _leave = Leave(&self.is_in_closure);
        f()
    }

    /// Adds the state of a wait that has begun.
    #[inline]
    pub(crate) fn add_slot(&self, number: u32, awaited: Awaited, slot: Slot) {
        let event = awaited.event;
        let note = event.and_then(|event| EventNote::begin(event, awaited.at));
        self.slots.borrow_mut().push(Pending {
            number,
            awaited,
            site_of_save: None,
            slot,
            note,
        });
    }

    /// Removes the state of a wait that is over or was dropped.
    #[inline]
    pub(crate) fn remove_slot(&self, number: u32) -> Option<Slot> {
        let mut slots = self.slots.borrow_mut();
        let at = slots.iter().position(|pending| pending.number == number)?;
        Some(slots.swap_remove(at).slot)
    }

    /// Calls `f` with the state of a wait.
    #[inline]
    pub(crate) fn with_slot<R>(&self, number: u32, f: impl FnOnce(&mut Slot) -> R) -> Option<R> {
        let mut slots = self.slots.borrow_mut();
        let pending = slots.iter_mut().find(|pending| pending.number == number)?;
        Some(f(&mut pending.slot))
    }

    /// Polls a pending wait of framestep.
    #[inline]
    #[track_caller]
    pub(crate) fn poll_slot(
        &self,
        number: u32,
        cx: &mut Context<'_>,
        name: &'static str,
    ) -> Poll<()> {
        // It may drop a waker of another library, whose destructor may use the runtime.
        let Some(Slot::Plain(mut wait)) = self.take_slot(number) else {
            return Poll::Pending;
        };
        let polled = wait.poll(cx, name);
        if polled.is_pending() {
            self.put_slot(number, Slot::Plain(wait));
        }
        polled
    }

    /// Takes the state of a wait out while it is polled: what is called meanwhile may end
    /// other waits.
    pub(crate) fn take_slot(&self, number: u32) -> Option<Slot> {
        self.with_slot(number, |slot| mem::replace(slot, Slot::Polled))
    }

    /// Puts the state of a wait back.
    pub(crate) fn put_slot(&self, number: u32, slot: Slot) {
        self.with_slot(number, |place| *place = slot);
    }
}

/// Reports that a recorded value is not one of a `T`.
#[track_caller]
pub(crate) fn unreadable<T>(why: fmt::Arguments<'_>) -> ! {
    if let Some(cell) = context::current() {
        cell.leave_at_value(std::any::type_name::<T>());
    }
    panic!("{why}")
}

/// Leaves a destructor that needs the result of an effect, but must do nothing, and for which no
/// result can be made up.
pub(crate) fn leave() -> ! {
    resume_unwind(Box::new(Diverged))
}

/// The payload with which a replay leaves a script.
struct Diverged;

impl fmt::Debug for ScriptCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptCell")
            .field("id", &self.id)
            .field("name", &self.code.name)
            .finish_non_exhaustive()
    }
}

/// Calls `f` as a closure of the script, if a durable one calls it.
pub(crate) fn in_closure<R>(cell: Option<&ScriptCell>, f: impl FnOnce() -> R) -> R {
    match cell {
        Some(cell) => cell.in_closure(f),
        None => f(),
    }
}

/// The home phase of a script, or of the coroutine being polled.
#[track_caller]
pub(crate) fn home_of(cell: Option<&ScriptCell>) -> Phase {
    cell.map_or_else(home, |cell| cell.home)
}
