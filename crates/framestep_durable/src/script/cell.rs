//! One script of a runtime: its future, its journal and its waits.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::Location;
use std::rc::{Rc, Weak};

use framestep::durable::{DurableWait, number_of_recorder, phase_number};
use framestep::task::CoroutineId;
use framestep::{Coroutine, Phase};

use crate::bytes::{Bytes, Content, Mark, StableHash, Topic};
use crate::events::{Carried, Events, Loss, WaitOf};
use crate::ids::{Birth, NamedScript, OwnerId, ScriptId};
use crate::journal::long::Length;
use crate::journal::{Journal, Known, Marks, Once, Sites, StopLines};
use crate::places::note::{self, Here};
use crate::places::{GoneOver, Table};
use crate::script::aligned::{Aligned, Hold, Realigned};
use crate::script::cursor::Replay;
use crate::script::waker_uses::WakerUses;
use crate::script::{Begun, ChapterFuture, Code, KeptImage, ScriptImage, Shared, WaitImage, Waits};

/// How the waits and effects of a script behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are recorded.
    Live,
    /// They take what is recorded.
    Replay,
    /// They are as the replay has left them. New ones for events begin.
    Begin,
    /// The script is being dropped: they are neither.
    Ending,
    /// The script is being dropped because another one takes its place, or because it was a
    /// trial: it must not change the world.
    Silent,
}

/// One script.
pub(crate) struct ScriptCell {
    this: Weak<ScriptCell>,
    pub(super) shared: Rc<Shared>,
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
    chapter: RefCell<ChapterState>,
    /// The image of the chapter, since it has [changed](Self::change) last.
    image: Cell<Option<KeptImage>>,
    pub(super) future: RefCell<Option<ChapterFuture>>,
    /// The number of the next wait that begins.
    pub(super) next_wait: Cell<u32>,
    /// The number of the wait of this package that has begun last.
    pub(super) latest_wait: Cell<u32>,
    /// How many chapters it has had before, modulo 2^24.
    pub(super) chapters: Cell<u32>,
    /// Its number among the recorders of the thread.
    pub(super) serial: u32,
    /// Where the script has waited last, and for what: in a loop, it is there again.
    pub(super) last_site: Cell<Option<(&'static str, &'static Location<'static>, Here, Known)>>,
    /// The statement that runs in its polls, or has run last.
    pub(super) here: Cell<Here>,
    pub(super) mode: Cell<Mode>,
    /// Whether the next entry is the first of a poll.
    pub(super) begins_poll: Cell<bool>,
    pub(super) is_in_closure: Cell<bool>,
    /// Whether what a replay was given for an effect is being [dropped](Self::discarding).
    is_discarding: Cell<bool>,
    pub(crate) length: Length,
    pub(super) replay: RefCell<Replay>,
    /// The replay, if its code has changed since.
    pub(super) aligned: RefCell<Option<Box<Aligned>>>,
    pub(super) is_aligned: Cell<bool>,
    pub(crate) realigned: RefCell<Realigned>,
    /// The waits that the code of its save did not have, and that have yet to begin. Those of framestep have
    /// their states.
    pub(super) new_waits: RefCell<BTreeMap<u32, Option<DurableWait>>>,
    /// The subscriptions in a state with which the script restarts, until it does.
    pub(crate) carried: RefCell<Vec<Carried>>,
    /// The events that subscriptions had not read which this poll has dropped.
    unread: RefCell<Vec<(Topic, u64)>>,
    /// Whether the next poll looks at what this one has left.
    looks_back: Cell<bool>,
    pub(super) waker_uses: WakerUses,
    /// The coroutine that runs the script, until its end.
    pub(crate) coroutine: RefCell<Option<Coroutine<()>>>,
    coroutine_id: Cell<Option<CoroutineId>>,
}

/// What a save state has of the chapter of a script.
pub(crate) struct ChapterState {
    /// The state with which it began.
    pub(crate) state: Bytes,
    pub(crate) journal: Journal,
    /// The waits that have begun and are not over.
    pub(crate) waits: Waits,
    /// Which lines have stopped the scripts that it has joined.
    pub(crate) stop_lines: StopLines,
    /// What its loops have gone over.
    pub(crate) gone_over: GoneOver,
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

impl ScriptCell {
    pub(crate) fn new(
        shared: &Rc<Shared>,
        id: ScriptId,
        code: Code,
        home: Phase,
        owner: Option<OwnerId>,
        state: Bytes,
        future: ChapterFuture,
    ) -> Rc<Self> {
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
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| ScriptCell {
            this: Weak::clone(this),
            shared: Rc::clone(shared),
            epoch: shared.handles.epoch.get(),
            generation: shared.generation.get(),
            id,
            birth: Cell::default(),
            code,
            home,
            owner,
            chapter: RefCell::new(ChapterState {
                state,
                journal,
                waits: Waits::default(),
                stop_lines: StopLines::default(),
                gone_over: GoneOver::default(),
                once: Once::default(),
                history: 0,
                has_begun: false,
                restarts_after_wait: false,
            }),
            image: Cell::default(),
            future: RefCell::new(Some(future)),
            next_wait: Cell::new(0),
            latest_wait: Cell::new(0),
            chapters: Cell::new(0),
            serial: number_of_recorder(),
            last_site: Cell::new(None),
            here: Cell::new(0),
            mode: Cell::new(Mode::Live),
            begins_poll: Cell::new(false),
            is_in_closure: Cell::new(false),
            is_discarding: Cell::new(false),
            length: shared.long_chapters.begin(),
            replay: RefCell::default(),
            aligned: RefCell::default(),
            is_aligned: Cell::new(false),
            realigned: RefCell::default(),
            new_waits: RefCell::default(),
            carried: RefCell::default(),
            unread: RefCell::default(),
            looks_back: Cell::new(false),
            waker_uses: WakerUses::default(),
            coroutine: RefCell::default(),
            coroutine_id: Cell::new(None),
        })
    }

    /// The script, to keep it. `None` while it is dropped.
    #[inline]
    pub(crate) fn this(&self) -> Option<Rc<ScriptCell>> {
        self.this.upgrade()
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    #[inline]
    pub(crate) fn events(&self) -> &Rc<Events> {
        &self.shared.events
    }

    /// Its number among the recorders of the thread.
    pub(crate) fn serial(&self) -> u32 {
        self.serial
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

    pub(crate) fn named(&self) -> NamedScript {
        let (id, name) = (self.id, self.code.name);
        NamedScript { id, name }
    }

    /// What a save state has of the chapter.
    #[inline]
    pub(crate) fn chapter(&self) -> Ref<'_, ChapterState> {
        self.chapter.borrow()
    }

    /// The same, to change it. User code must not run meanwhile.
    #[inline]
    pub(crate) fn change(&self) -> RefMut<'_, ChapterState> {
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
                .is_none_or(|kept| kept.is_like(&self.image_of(&mut chapter))),
            "each change of a chapter drops its image"
        );
        let image = kept.unwrap_or_else(|| KeptImage::new(self.image_of(&mut chapter)));
        let result = f(&image);
        self.image.set(Some(image));
        result
    }

    /// The image of the script with this chapter.
    fn image_of(&self, chapter: &mut ChapterState) -> ScriptImage {
        let waits = chapter.waits.sorted().iter().map(|pending| WaitImage {
            named: pending.named(),
            slot: pending.slot.image(),
        });
        let waits = waits.collect();
        ScriptImage {
            id: self.id,
            birth: self.birth.get(),
            name: self.name().into(),
            version: self.code.version,
            statements: Table::OfBuild(self.code.places.all()),
            mark_of_state: self.code.mark,
            table: 0,
            mark: Mark::NONE,
            marks: Marks::default(),
            generation: self.generation(),
            home: phase_number(self.home),
            owner: self.owner,
            state: Content::Compact(chapter.state.clone()),
            journal: chapter.journal.clone(),
            stop_lines: chapter.stop_lines.clone(),
            gone_over: chapter.gone_over.clone(),
            once: chapter.once.clone(),
            history: chapter.history,
            has_begun: chapter.has_begun,
            restarts_after_wait: chapter.restarts_after_wait,
            has_new_waits: self.realigned.borrow().has_new_waits,
            waits,
        }
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

    /// The wait that has begun last. A new one in changed code begins after others with higher numbers.
    pub(crate) fn latest_wait(&self) -> WaitOf {
        (self.id, self.latest_wait.get())
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
            let current = framestep::durable::unrecorded(framestep::task::current);
            self.coroutine_id.set(Some(current));
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

    /// Makes a new script one that [restarts after its wait](ChapterState::restarts_after_wait).
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
        if self.looks_back.get() {
            self.look_back();
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
        let unread = self.shared.events.drop_all_but(self.id, &carried);
        for unread in unread {
            self.note_unread(unread);
        }
        self.shared.events.carry(self.id, &carried);
        // The hash of the old state and journal, so before both are replaced.
        let history = self.history();
        let mut chapter = self.change();
        chapter.history = history;
        chapter.state = state;
        chapter.journal.restart();
        chapter.stop_lines = StopLines::default();
        chapter.gone_over = GoneOver::default();
        chapter.has_begun = false;
        chapter.restarts_after_wait = false;
        drop(chapter);
        self.next_wait.set(0);
        // Those of the chapter that is over.
        drop(self.new_waits.take());
        self.chapters.set((self.chapters.get() + 1) & 0xFF_FFFF);
        note::replace(0);
        self.length.reset(&self.shared.long_chapters);
        self.waker_uses.reset();
        self.future.replace(Some(future));
        self.report_unread();
    }

    /// Notes that a subscription was dropped with events that it had not read.
    pub(crate) fn note_unread(&self, unread: (Topic, u64)) {
        if self.is_live() {
            self.unread.borrow_mut().push(unread);
            self.look_back_next();
        }
    }

    /// Makes the next poll look at what this one, or an aligned replay, leaves.
    pub(super) fn look_back_next(&self) {
        self.looks_back.set(true);
    }

    /// Looks at what an earlier poll has left, in the chapter that goes on.
    #[cold]
    fn look_back(&self) {
        self.looks_back.set(false);
        self.look_at_waker_uses();
        self.unread.take();
        if self.realigned.take().has_new_waits {
            // They begin in this poll.
            self.image.take();
        }
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
            self.shared.losses.report(&loss);
        }
    }

    /// Takes the future, to drop it. Its waits and effects are neither recorded nor replayed
    /// any more.
    pub(crate) fn take_future(&self) -> Option<ChapterFuture> {
        self.mode.set(Mode::Ending);
        self.future.take()
    }

    /// The line that has stopped the script whose join is the latest entry. If the join has ended
    /// just now, it is `found`, and is kept for replays.
    pub(crate) fn stop_line(&self, found: Option<String>) -> Option<String> {
        if self.is_aligned.get() {
            return self.aligned.borrow_mut().as_mut()?.stop_line();
        }
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

    /// Whether its code has changed since the save that is read to it.
    pub(crate) fn is_aligned(&self) -> bool {
        self.is_aligned.get()
    }

    /// Whether it is being replayed, or [begins new waits](Self::begin_new_waits) after that.
    #[inline]
    pub(crate) fn is_replayed(&self) -> bool {
        matches!(self.mode.get(), Mode::Replay | Mode::Begin)
    }

    /// Calls `f`, in which a replay drops what was given for an effect. The effects of its destructor are none of the
    /// script's own.
    pub(crate) fn discarding<R>(&self, f: impl FnOnce() -> R) -> R {
        let _leave = Flag::raise(&self.is_discarding);
        f()
    }

    /// Whether what a replay was given for an effect is being [dropped](Self::discarding).
    pub(super) fn is_discarding(&self) -> bool {
        self.is_discarding.get()
    }

    /// Calls `f` as a closure of the script: effects inside of it are a part of what calls it, and
    /// waits are refused.
    pub(crate) fn in_closure<R>(&self, f: impl FnOnce() -> R) -> R {
        let _leave = Flag::raise(&self.is_in_closure);
        f()
    }
}

/// A flag that is raised until this is dropped. What is called meanwhile may raise it again, and panic.
struct Flag<'a>(&'a Cell<bool>, bool);

impl<'a> Flag<'a> {
    fn raise(flag: &'a Cell<bool>) -> Self {
        Flag(flag, flag.replace(true))
    }
}

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl fmt::Debug for ScriptCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptCell")
            .field("id", &self.id)
            .field("name", &self.code.name)
            .finish_non_exhaustive()
    }
}

/// Whether a script that is being dropped, or replayed, still has what it had: then what it drops is
/// not over. A replay notes it.
pub(crate) fn counts(cell: &Weak<ScriptCell>, hold: Hold) -> Option<Rc<ScriptCell>> {
    let cell = cell.upgrade()?;
    if !cell.has_effects() {
        cell.note_dropped(hold);
        return None;
    }
    Some(cell)
}
