//! One script of a runtime: its future, its journal and its waits.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;

use framestep::durable::{FrameWait, home};
use framestep::task::CoroutineId;
use framestep::{Coroutine, Phase};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bytes::{self, Bytes};
use crate::context;
use crate::driver::{dispose, message_of};
use crate::error::{Found, OtherWaits};
use crate::hand_over::Carried;
use crate::hash::StableHash;
use crate::image::NamedWait;
use crate::journal::{self, Journal, Kind, Word};
use crate::kept::KeptImage;
use crate::long::Length;
use crate::loss::Loss;
use crate::once::Once;
use crate::owner::OwnerId;
use crate::quiet;
use crate::save::image_of;
use crate::script::{Begun, ChapterFuture, Code};
use crate::shared::Shared;
use crate::shift::Shifts;
use crate::site::{Call, Known, SiteId, Sites};
use crate::slot::{Pending, Slot, Waits};
use crate::stop_lines::StopLines;
use crate::topic::Topic;
use crate::typed::Typed;

/// The number of a script, which no other script of the runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScriptId(pub(crate) u64);

impl ScriptId {
    /// The id of a number: scripts are numbered from 1, in the order in which they were made.
    #[must_use]
    pub const fn from_raw(number: u64) -> Self {
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

/// Tells a script from all others that the process has made, also from those that have its number in
/// other timelines, which a rollback separates. Save states in memory have it, files do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Birth(usize);

impl Birth {
    /// That of a script that is made now.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Birth(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// That of a script of a save state: another one if the state is from a file.
    pub(crate) fn of_save(self) -> Self {
        if self == Birth::default() {
            Birth::new()
        } else {
            self
        }
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
    /// Set before the runtime has the script.
    pub(crate) birth: Cell<Birth>,
    pub(crate) code: Code,
    pub(crate) home: Phase,
    pub(crate) owner: Option<OwnerId>,
    chapter: RefCell<Chapter>,
    /// The image of the chapter, since it has [changed](Self::change) last.
    image: Cell<Option<KeptImage>>,
    future: RefCell<Option<ChapterFuture>>,
    /// The number of the next wait that begins.
    next_wait: Cell<u32>,
    /// Where the script has waited for a frame last: in a loop, it is there again.
    frame_site: Cell<Option<(&'static Location<'static>, Known)>>,
    mode: Cell<Mode>,
    /// Whether the next entry is the first of a poll.
    begins_poll: Cell<bool>,
    is_in_closure: Cell<bool>,
    pub(crate) length: Length,
    replay: RefCell<Replay>,
    /// The subscriptions in a state with which the script restarts, until it does.
    pub(crate) carried: RefCell<Vec<Carried>>,
    /// The events that subscriptions had not read which this poll has dropped.
    unread: RefCell<Vec<(Topic, u64)>>,
    /// Whether there are any, or were before this poll.
    has_unread: Cell<bool>,
    /// The coroutine that runs the script, while there are handles.
    pub(crate) coroutine: RefCell<Option<Coroutine<()>>>,
    coroutine_id: Cell<Option<CoroutineId>>,
}

/// What a save state has of the chapter of a script.
pub(crate) struct Chapter {
    /// The state with which it began.
    pub(crate) state: Bytes,
    pub(crate) journal: Journal,
    /// The waits that have begun and are not over.
    pub(crate) waits: Waits,
    /// Which lines have stopped the scripts that it has joined.
    pub(crate) stop_lines: StopLines,
    /// What the script has done once in its life.
    pub(crate) once: Once,
    /// A hash of what was before the chapter: of earlier chapters, and of the script that has made this
    /// one. Two timelines that have led to the same chapter in different ways differ in it.
    pub(crate) history: u64,
    /// Whether it has been polled.
    pub(crate) has_begun: bool,
    /// Whether it waits as the code of its save did, and restarts then.
    pub(crate) restarts_after_wait: bool,
}

/// How far a replay has come.
#[derive(Default)]
struct Replay {
    journal: Option<Journal>,
    /// The next entry. `None` at the end, or if it cannot be read.
    next: Option<journal::Found>,
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
    /// The subscriptions and promises that it has made.
    held: Vec<Typed>,
    /// How many effects have had no result since.
    without_result: u32,
}

/// Whether a replay can unwind out of a script that does what was not recorded. Where panics abort,
/// as on the web, its effects return [zeros](bytes::read_zeros) until it waits.
const CAN_UNWIND: bool = cfg!(panic = "unwind");

/// How many effects may return zeros before the script is taken to be in a loop without end.
const MOST_WITHOUT_RESULT: u32 = 100_000;

impl Replay {
    /// Whether the poll under way may take the next entry.
    #[inline]
    fn may_take(&self, next: Word) -> bool {
        self.is_open || !next.is_first()
    }

    /// Goes on to the entry after `taken`.
    #[inline]
    fn go_on(&mut self, taken: &journal::Found) -> Option<&Journal> {
        let journal = self.journal.as_ref()?;
        self.next = journal.find(taken.next);
        self.entry += 1;
        self.is_open = false;
        Some(journal)
    }

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
            birth: Cell::default(),
            code,
            home,
            owner,
            chapter: RefCell::new(Chapter {
                state,
                journal,
                waits: Waits::default(),
                stop_lines: StopLines::default(),
                once: Once::default(),
                history: 0,
                has_begun: false,
                restarts_after_wait: false,
            }),
            image: Cell::default(),
            future: RefCell::new(Some(future)),
            next_wait: Cell::new(0),
            frame_site: Cell::new(None),
            mode: Cell::new(Mode::Live),
            begins_poll: Cell::new(false),
            is_in_closure: Cell::new(false),
            length: shared.long_chapters.begin(),
            replay: RefCell::default(),
            carried: RefCell::default(),
            unread: RefCell::default(),
            has_unread: Cell::new(false),
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

    /// What a save state has of the chapter.
    #[inline]
    pub(crate) fn chapter(&self) -> Ref<'_, Chapter> {
        self.chapter.borrow()
    }

    /// The same, to change it. User code must not run meanwhile.
    #[inline]
    pub(crate) fn change(&self) -> RefMut<'_, Chapter> {
        self.image.take();
        self.chapter.borrow_mut()
    }

    /// The image of the script for a save state. It is made once after each change.
    pub(crate) fn image(&self) -> KeptImage {
        self.with_image(KeptImage::clone)
    }

    /// The hash of the image, without the lines of its calls.
    pub(crate) fn image_hash(&self, sites: &Sites) -> u64 {
        self.with_image(|image| image.hash(sites))
    }

    /// Puts the waits in the order of a save state.
    pub(crate) fn sort_waits(&self) {
        self.chapter.borrow_mut().waits.sorted();
    }

    fn with_image<R>(&self, f: impl FnOnce(&KeptImage) -> R) -> R {
        let kept = self.image.take();
        let mut chapter = self.chapter.borrow_mut();
        debug_assert!(
            kept.as_ref()
                .is_none_or(|kept| kept.is_like(&image_of(self, &mut chapter))),
            "each change of a chapter drops its image"
        );
        let image = kept.unwrap_or_else(|| KeptImage::new(image_of(self, &mut chapter)));
        let result = f(&image);
        self.image.set(Some(image));
        result
    }

    pub(crate) fn journal(&self) -> Journal {
        self.chapter().journal.clone()
    }

    /// Drops the states of all waits.
    pub(crate) fn drop_waits(&self) {
        let waits = mem::take(&mut self.change().waits);
        drop(waits);
    }

    pub(crate) fn future(&self) -> &RefCell<Option<ChapterFuture>> {
        &self.future
    }

    /// The number of the next wait that begins.
    pub(crate) fn next_wait(&self) -> u32 {
        self.next_wait.get()
    }

    pub(crate) fn coroutine_id(&self) -> Option<CoroutineId> {
        self.coroutine_id.get()
    }

    /// A hash of all that the script has done and been told, and of what has led to it.
    pub(crate) fn history(&self) -> u64 {
        let chapter = self.chapter();
        let mut hash = StableHash::new();
        hash.add(chapter.history);
        hash.add_bytes(chapter.state.get());
        hash.add(chapter.journal.hash().state());
        hash.finish()
    }

    /// A number for a question or a promise that begins now. Another one has the same number only if
    /// the same script makes it, with the same content, at the same time, after the same history.
    pub(crate) fn stamp(&self, content: &[u8]) -> u64 {
        let time = self.shared.executor.time();
        let time = time.map(|time| (time.frame, time.elapsed, time.unscaled_elapsed));
        let mut hash = StableHash::new();
        hash.add_bytes(Bytes::of(&(self.id, time, content, self.history())).get());
        hash.finish()
    }

    /// Notes the coroutine that runs the script.
    pub(crate) fn set_coroutine(&self, coroutine: Coroutine<()>) {
        self.coroutine_id.set(Some(coroutine.id()));
        self.coroutine.replace(Some(coroutine));
    }

    /// Notes which coroutine runs the script, in a poll of it. A script that is started is polled
    /// before the call that starts it has returned the coroutine.
    fn note_coroutine(&self) {
        if self.coroutine_id.get().is_none() {
            self.coroutine_id.set(Some(framestep::task::current()));
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
        self.chapter().has_begun
    }

    /// Makes a new script one that [restarts after its wait](Chapter::restarts_after_wait).
    pub(crate) fn begin_wait_of_save(&self, waits: Waits) {
        let mut chapter = self.change();
        chapter.restarts_after_wait = true;
        chapter.has_begun = true;
        chapter.waits = waits;
    }

    /// Notes that a poll of the script begins.
    #[inline(always)]
    pub(crate) fn begin_poll(&self) {
        let has_begun = self.has_begun();
        self.begins_poll.set(has_begun);
        if self.has_unread.get() {
            self.forget_unread();
        }
        if !has_begun {
            self.note_coroutine();
            self.change().has_begun = true;
        }
    }

    /// Begins another chapter.
    // Inlined, it would take registers of each poll.
    #[inline(never)]
    pub(crate) fn begin_chapter(&self, begun: Begun) {
        let Begun {
            state,
            future,
            carried,
        } = begun;
        // While the script still has its old chapter: the waits are of it, and what the new state does
        // not carry along ends with it.
        self.drop_waits();
        let unread = self.shared.drop_all_but(self.id, &carried);
        for unread in unread {
            self.note_unread(unread);
        }
        self.shared.carry(self.id, &carried);
        // The hash of the old state and journal, so before both are replaced.
        let history = self.history();
        let mut chapter = self.change();
        chapter.history = history;
        chapter.state = state;
        chapter.journal.restart();
        chapter.stop_lines = StopLines::default();
        chapter.has_begun = false;
        chapter.restarts_after_wait = false;
        drop(chapter);
        self.next_wait.set(0);
        self.length.reset(&self.shared.long_chapters);
        self.future.replace(Some(future));
        self.report_unread();
    }

    /// Notes that a subscription was dropped with events that it had not read.
    pub(crate) fn note_unread(&self, unread: (Topic, u64)) {
        if self.is_live() {
            self.unread.borrow_mut().push(unread);
            self.has_unread.set(true);
        }
    }

    /// Forgets what an earlier poll has noted, in the chapter that goes on.
    #[cold]
    fn forget_unread(&self) {
        self.has_unread.set(false);
        self.unread.take();
    }

    /// Reports the events that the chapter had not read when it ended.
    fn report_unread(&self) {
        for (signal, events) in self.unread.take() {
            let loss = Loss::Unread {
                script: self.id,
                name: self.name(),
                signal: signal.to_string(),
                events,
            };
            self.shared.report_loss(&loss);
        }
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
        let mut chapter = self.change();
        chapter.has_begun = true;
        self.replay.replace(Replay {
            next: chapter.journal.find(0),
            journal: Some(chapter.journal.clone()),
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

    /// The line that has stopped the script whose join is the latest entry. If the join has ended
    /// just now, it is `found`, and is kept for replays.
    pub(crate) fn stop_line(&self, found: Option<String>) -> Option<String> {
        if self.is_replayed() {
            let entry = self.replayed();
            return self.chapter().stop_lines.of(entry).map(str::to_owned);
        }
        if let Some(line) = found.as_ref().filter(|_| self.is_live()) {
            let mut chapter = self.change();
            let entry = chapter.journal.entries();
            chapter.stop_lines.insert(entry, line);
        }
        found
    }

    /// Whether it is neither replayed nor dropped.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.mode.get() == Mode::Live
    }

    /// What a poll of the wait `number` finds.
    #[inline]
    pub(crate) fn polling(&self, number: u32, site: Known) -> Polling {
        if !self.is_replayed() {
            return Polling::Live;
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

    /// Whether it is being replayed.
    #[inline]
    pub(crate) fn is_replayed(&self) -> bool {
        self.mode.get() == Mode::Replay
    }

    /// Begins a wait without a value in a replay, and returns its number and whether it is over.
    /// `None` if this is not as simple as usual: then nothing has changed.
    pub(crate) fn begin_replayed(&self, site: Known) -> Option<(u32, bool)> {
        // The number is only looked at until the entry has decided: the slow way takes it itself.
        let end = Kind::Ended(self.next_wait.get());
        let is_over = self.take_plain(end, site)?;
        let number = self.take_number();
        if !is_over {
            self.change().waits.push_frame(number, site, None);
        }
        Some((number, is_over))
    }

    /// Whether a wait that [has begun so](Self::begin_replayed) is over. `None` if this is not as
    /// simple as usual.
    pub(crate) fn end_replayed(&self, number: u32) -> Option<bool> {
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
        // Here only what is certainly equal is taken. Another kind, another line, a value, a build whose
        // lines differ, a replay that has gone wrong: `take_entry` decides, and nothing has changed yet.
        let is_it = next.word.is_plain(Word::new(expected, here.id));
        if !(is_it && replay.compares_lines && replay.divergence.is_none()) {
            return None;
        }
        replay.go_on(&next)?;
        Some(true)
    }

    /// Takes the next entry in a replay, if it is the one that is expected. If the wait of the
    /// entry is another one now, that is a divergence. Of an effect, anything else is. `within` is
    /// that of the call.
    fn take_entry(&self, expected: Kind, here: Known, within: &'static str) -> Option<Bytes> {
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
    fn record_in(&self, mut chapter: RefMut<'_, Chapter>, kind: Kind, site: Known, value: &[u8]) {
        let is_first = self.begins_poll.replace(false);
        chapter.journal.push(is_first, kind, site, value);
        let entries = chapter.journal.entries();
        drop(chapter);
        let trail = &self.shared.trail;
        if trail.is_kept() {
            trail.note(self, entries, kind, site.id, Some(value));
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
            // A part of the effect or the wait whose closure it is. That is not called in a replay.
            act(value);
            return Done::Now;
        }
        match self.mode.get() {
            Mode::Live => {
                let acted = catch_unwind(AssertUnwindSafe(|| {
                    self.note_effect(call);
                    act(value);
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
                act(value);
                Done::Now
            }
            // The world has the effect already; only its result is repeated.
            Mode::Replay => match self.replayed_effect(call) {
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
            let site = self.shared.sites.of(call);
            trail.note(self, entry, Kind::Effect, site.id, None);
        }
    }

    /// The result of an effect in a replay. `None` if the script has left its replay: in a
    /// destructor, or where panics abort.
    fn replayed_effect(&self, call: &Call) -> Option<Bytes> {
        let site = self.shared.sites.of(call);
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
            // In a destructor of the script that is unwinding: a second panic would end the process.
            if std::thread::panicking() {
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
    fn leave_replay(&self, found: Found) {
        self.replay.borrow_mut().divergence.get_or_insert(found);
        if CAN_UNWIND && !std::thread::panicking() {
            resume_unwind(Box::new(Diverged));
        }
    }

    /// Leaves a replay at the entry that it has taken last, a panic that the script has caught.
    fn leave_at_panic(&self, message: String) {
        let entry = self.replayed().saturating_sub(1);
        self.leave_replay(Found::Panicked { entry, message });
    }

    /// Panics if a script that has left its replay does not come to a wait.
    #[cold]
    fn count_without_result(&self) {
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

    /// Calls `f` as a closure of the script: effects inside of it are a part of what calls it, and
    /// waits are refused.
    pub(crate) fn in_closure<R>(&self, f: impl FnOnce() -> R) -> R {
        /// Closures may nest, and panic.
        struct Leave<'a>(&'a Cell<bool>, bool);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _leave = Leave(&self.is_in_closure, self.is_in_closure.replace(true));
        f()
    }

    /// Begins to wait for the next frame, in the [usual case](FrameWait::begin). Returns the number
    /// of the wait.
    #[inline(always)]
    pub(crate) fn begin_frame(
        &self,
        cx: &Context<'_>,
        kind: &'static str,
        at: &'static Location<'static>,
    ) -> Option<u32> {
        if !self.is_live() {
            return None;
        }
        let wait = FrameWait::begin(cx)?;
        let site = match self.frame_site.get() {
            Some((before, site)) if ptr::eq(before, at) => site,
            _ => self.frame_site_at(kind, at),
        };
        let number = self.take_number();
        self.change().waits.push_frame(number, site, Some(wait));
        Some(number)
    }

    #[inline(never)]
    fn frame_site_at(&self, function: &'static str, at: &'static Location<'static>) -> Known {
        let site = self.shared.sites.of(&Call {
            function,
            name: "",
            at,
            within: "",
        });
        self.frame_site.set(Some((at, site)));
        site
    }

    /// Adds a wait that has begun.
    #[inline]
    pub(crate) fn add_wait(&self, pending: Pending) {
        self.change().waits.push(pending);
    }

    /// Removes a wait that is over or was dropped.
    #[inline]
    pub(crate) fn remove_wait(&self, number: u32) -> Option<Pending> {
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

    /// Puts the state of a wait back.
    pub(crate) fn put_slot(&self, number: u32, slot: Slot) {
        self.with_slot(number, |place| *place = slot);
    }
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
