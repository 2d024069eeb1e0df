//! What a node does for one shard: follow its log, tick, save, give up.
//!
//! A [`Role`] is a state machine without clock, thread or network. It is told what happened as an
//! [`Event`], and answers with [`Command`]s. So the simulator runs many nodes as values, and tries
//! what machines and networks do at every step.
//!
//! # The rules
//!
//! 1. **Who ticks owns.** A tick is appended only if the last tick in the log is the one that the
//!    node has read last. There is no lease and no election: a node that is refused reads on.
//! 2. **The node that has ticked a frame computes it first**, when it reads its tick: with the entries
//!    between the tick before and this one. The others compute it when they read the next tick, which
//!    says that a node has survived it. So a room that ends or hangs its process takes one node with
//!    it, not all that follow. If the next tick does not come, the frame is tried in a child process
//!    before it is computed ([`Command::Try`]).
//! 3. **A tick names all that is before it**: the hash of the chain up to the tick before, and of
//!    rooms that have their turn. A tick that does not fit is void for every reader ([`Position::accepts`]).
//! 4. **A log is read from the last frame on, which must still be the same.** After each interruption,
//!    the entries of the frame at which the node is are read once more. If they are others, the log
//!    was cut back, and the node begins again from a save. ([`Position::is_after`] says why the tick
//!    alone is not enough: the simulator found that.)
//! 5. **A save is taken after a tick**, and used only if the log still has that tick.
//! 6. **Only the build that ran a frame replays it.** An old owner hands over with its last tick, and
//!    the save of exactly that tick is where a build of a later generation begins
//!    ([`Position::lets`]). An earlier one never does: it would drop what it does not know of the
//!    state. Or a build begins where there is no room: that state is the same for every build
//!    ([`Position::is_empty`]).
//! 7. **A build is offered only what it can read.** A node of another build loads the newest save, as
//!    a trial, and says in its [`Heartbeat`](crate::member::Heartbeat) whether it could. If it could
//!    not read the save of the hand-over, because the state has changed since, the old owner goes on
//!    at once.

mod terms;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Build, Entry, Generation, Position, Tick};
use crate::member::Members;

pub(crate) use terms::{Command, Event, Fold, Loaded, Mutant, Note, Settings};

/// How often a node tries frames of an owner that ticks on before it takes over without.
const OUTRUN: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Without state.
    Away,
    /// Waits for a save.
    Loading,
    /// Waits before it loads again.
    Later(Duration),
    /// Reads the log.
    Follows,
}

#[derive(Clone, Debug)]
struct Pending {
    attempt: u64,
    after: u64,
    frame: u64,
    body: Arc<[u8]>,
    again_at: Duration,
    /// Whether the log has answered.
    is_answered: bool,
    /// Whether all of the log was read since then, and there was no tick.
    is_missing: bool,
}

/// A frame that another node has ticked, and that is not computed yet.
#[derive(Debug)]
struct Trailing {
    at: Position,
    entries: Vec<Entry>,
    is_tried: bool,
    /// Whether the log had nothing more while it was tried: the next tick is a new one.
    was_last: bool,
}

/// What a node does for one shard.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each has its own rule")]
pub(crate) struct Role {
    me: Arc<str>,
    build: Build,
    /// The generation of the build, as far as it is known.
    generation: Generation,
    shard: u32,
    settings: Settings,
    stage: Stage,
    /// The last tick that was read.
    at: Position,
    /// Whether there is the state at `at`, or, if a frame trails, that before it. Otherwise only the
    /// chain is followed.
    has_state: bool,
    /// The frame of `at`, if nobody is known to have survived it.
    trailing: Option<Trailing>,
    /// How often the next tick was there before a frame was tried.
    outrun: u8,
    /// The number of rooms that are out for which the state was loaded once more.
    out_for: u32,
    /// The number that the last tick has named since the state was loaded.
    out_of_tick: u32,
    /// The first entries that are read must be those of the last frame.
    is_checking: bool,
    /// The place at which the state was loaded, until a tick was read.
    loaded_at: Option<u64>,
    /// The last entry read.
    read: u64,
    /// The last tick in the log, void ones included.
    last_tick: u64,
    /// What was read since `at`.
    queue: Vec<Entry>,
    is_caught_up: bool,
    /// The last tick that did not fit: what is read once more up to it, and does not fit, is void.
    suspect: Option<u64>,
    differs: bool,
    pending: Option<Pending>,
    attempts: u64,
    next_at: Duration,
    /// When the last tick was read.
    heard_at: Duration,
    /// Since when this node is the one that should tick.
    first_since: Option<Duration>,
    /// The entry of the save that is being stored.
    saving: Option<u64>,
    /// A save of an entry that was not read yet, and how often the log had nothing more since.
    beyond: Option<(u64, u8)>,
    saved_at: Duration,
    saved: u64,
    not_of_this_log: Option<u64>,
    reload_at: Option<Duration>,
    is_computed: bool,
    is_finishing: bool,
    wants_save: bool,
    /// Whether this build could read the newest save, if that is of another one.
    reads: Option<bool>,
    /// When such a save is tried again.
    try_again_at: Option<Duration>,
    /// Why a save could not be read, as it was noted last.
    noted_why: String,
    /// The build of which it was noted that it cannot read the save.
    noted_build: Option<Build>,
    /// Whether it was noted that the shard stands still.
    has_noted_still: bool,
}

impl Role {
    pub(crate) fn new(me: Arc<str>, build: Build, shard: u32, settings: Settings) -> Self {
        Role {
            me,
            build,
            generation: 0,
            shard,
            settings,
            stage: Stage::Away,
            at: Position::start(),
            has_state: false,
            trailing: None,
            outrun: 0,
            out_for: 0,
            out_of_tick: 0,
            is_checking: false,
            loaded_at: None,
            read: 0,
            last_tick: 0,
            queue: Vec::new(),
            is_caught_up: false,
            suspect: None,
            differs: false,
            pending: None,
            attempts: 0,
            next_at: Duration::ZERO,
            heard_at: Duration::ZERO,
            first_since: None,
            saving: None,
            beyond: None,
            saved_at: Duration::ZERO,
            saved: 0,
            not_of_this_log: None,
            reload_at: None,
            is_computed: false,
            is_finishing: false,
            wants_save: false,
            reads: None,
            try_again_at: None,
            noted_why: String::new(),
            noted_build: None,
            has_noted_still: false,
        }
    }

    /// The last tick that was read, if there is a state.
    pub(crate) fn at(&self) -> Option<&Position> {
        self.has_state.then_some(&self.at)
    }

    /// Whether the frame of this entry waits until somebody is known to have survived it.
    pub(crate) fn is_trying(&self, at: u64) -> bool {
        let is_it = |trailing: &Trailing| trailing.is_tried && trailing.at.seq == at;
        self.trailing.as_ref().is_some_and(is_it)
    }

    /// Whether the last tick is this node's, and the node has read all of the log.
    pub(crate) fn owns(&self) -> bool {
        self.has_state && self.ticked_last() && self.is_caught_up
    }

    /// Whether this node has appended the last tick that it has read.
    pub(crate) fn is_last_ticker(&self) -> bool {
        self.has_state && self.ticked_last()
    }

    /// Whether the last frame is saved.
    pub(crate) fn is_saved(&self) -> bool {
        self.saving.is_none() && self.saved == self.at.seq
    }

    /// Whether a save was stored since [`save_soon`](Self::save_soon).
    pub(crate) fn has_saved(&self) -> bool {
        !self.wants_save && self.saving.is_none() && self.saved > 0
    }

    /// Whether this build can begin the shard, which is another build's. `None` if it is not, or if
    /// that is not known.
    pub(crate) fn can_begin(&self) -> Option<bool> {
        let is_read = self.stage != Stage::Away && self.is_of_another_build();
        let is_empty = self.at.is_empty.then_some(true);
        is_empty.or(self.reads).filter(|_| is_read)
    }

    fn is_of_another_build(&self) -> bool {
        self.at.seq > 0 && self.at.build != self.build
    }

    /// Saves after the next tick, if this node is the owner.
    pub(crate) fn save_soon(&mut self) {
        self.wants_save = true;
    }

    /// The node stops, and no other one takes over: no more ticks, and one more save.
    pub(crate) fn finish(&mut self) {
        self.is_finishing = true;
    }

    fn ticked_last(&self) -> bool {
        self.at.by == self.me
    }

    /// When the next [`Event::Time`] is useful, at the latest.
    pub(crate) fn wake_at(&self, now: Duration) -> Duration {
        let soon = now + self.settings.failover_timeout / 8;
        if self.ticked_last() && self.pending.is_none() && self.has_state {
            return self.next_at.min(soon);
        }
        soon
    }

    /// Handles an event that happened at `now`.
    pub(crate) fn on(
        &mut self,
        now: Duration,
        event: Event,
        members: &Members,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        self.hear_generation(now, members);
        match event {
            Event::Loaded(loaded) if self.stage == Stage::Loading => {
                self.loaded(now, &loaded, fold, out);
            }
            // The stage guards each answer: one that comes after its stage has ended is of a load or a
            // reading that this node has given up since, and says nothing about the present one.
            Event::LoadFailed if self.stage == Stage::Loading => {
                self.stage = Stage::Later(now + self.settings.failover_timeout);
            }
            Event::Read(entry) if self.stage == Stage::Follows => self.read(now, entry, fold, out),
            Event::Idle if self.stage == Stage::Follows => {
                if self.is_checking {
                    // The log ends before the tick at which the node is.
                    self.is_cut(fold, out);
                } else {
                    self.is_caught_up = true;
                    // From here on, the next tick is one that was appended after the try began.
                    if let Some(trailing) = &mut self.trailing {
                        trailing.was_last |= trailing.is_tried;
                    }
                    // The log has acknowledged a tick that reading to its end does not show. Without
                    // an answer that proves nothing: the tick may be on its way.
                    if let Some(pending) = &mut self.pending {
                        pending.is_missing = pending.is_answered;
                    }
                    self.look_beyond(now);
                }
            }
            Event::Broken if self.stage == Stage::Follows => self.follow(out),
            Event::Appended { attempt, seq } => self.appended(now, attempt, seq, fold, out),
            Event::Refused { attempt } => self.answered(now, attempt),
            // No answer came, and the tick may be stored or not: the same bytes are appended again at once.
            // If they are stored, the compare refuses the second copy.
            Event::Lost { attempt } => {
                if let Some(pending) = self
                    .pending
                    .as_mut()
                    .filter(|it| it.attempt == attempt && !it.is_answered)
                {
                    pending.again_at = now;
                }
            }
            Event::Saved { at, needed, newest } if self.saving == Some(at) => {
                self.saving = None;
                self.beyond = (newest > self.read.max(at)).then_some((newest, 0));
                // Only now does a save exist that needs none of the entries before it.
                if let Some(before) = needed.filter(|_| !self.settings.has(Mutant::TrimBeforeSave))
                {
                    out.push(Command::Trim { before });
                }
            }
            Event::SaveFailed { at } if self.saving == Some(at) => {
                self.saving = None;
                self.save_again(now);
            }
            Event::Tried { at } if self.is_trying(at) => self.catch_up(fold, out),
            _ => {}
        }
        self.time(now, members, fold, out);
    }

    /// Takes the generation of this build, which rises if the operator prefers the build.
    fn hear_generation(&mut self, now: Duration, members: &Members) {
        let generation = members.generation(self.build);
        if generation <= self.generation {
            return;
        }
        self.generation = generation;
        let may_begin = self.at.hands_over && !self.at.is_empty && self.may_go_on();
        if self.stage == Stage::Follows && !self.has_state && may_begin {
            self.reload_at.get_or_insert(now);
        }
    }

    /// Whether this build may go on after the last tick.
    fn may_go_on(&self) -> bool {
        self.at.lets(self.build, self.generation)
    }

    /// The log has nothing more. A save of a later entry is of a log that was cut back. The first time
    /// does not count: what is said then may be older than the save.
    fn look_beyond(&mut self, now: Duration) {
        match &mut self.beyond {
            Some((newest, _)) if *newest <= self.read => self.beyond = None,
            Some((newest, times)) => {
                *times += 1;
                if *times > 1 {
                    self.not_of_this_log = Some(*newest);
                    self.beyond = None;
                    self.save_again(now);
                }
            }
            None => {}
        }
    }

    /// The last save was not stored. The next one is due soon.
    fn save_again(&mut self, now: Duration) {
        self.saved = 0;
        let wait = self
            .settings
            .snapshot_interval
            .saturating_sub(self.settings.failover_timeout);
        self.saved_at = now.saturating_sub(wait);
    }

    fn time(
        &mut self,
        now: Duration,
        members: &Members,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let rank = members.rank(&self.me, self.shard);
        if rank == Some(0) {
            self.first_since.get_or_insert(now);
        } else {
            self.first_since = None;
        }
        let is_wanted = rank.is_some_and(|rank| rank <= self.settings.standbys);
        match self.stage {
            Stage::Away if is_wanted => self.load(None, out),
            Stage::Later(at) if now >= at => {
                if is_wanted {
                    self.load(None, out);
                } else {
                    self.stage = Stage::Away;
                }
            }
            Stage::Follows => {
                let is_idle = now >= self.heard_at + self.settings.failover_timeout * 8;
                // Neither owner nor standby. But if no tick has come for a long time, those who should run the
                // shard cannot, and the state here may be the last one.
                if !is_wanted && !self.ticked_last() && !is_idle {
                    self.unload(fold, out);
                } else if self.is_caught_up && self.reload_at.is_some_and(|at| now >= at) {
                    self.reload_at = None;
                    self.load(None, out);
                } else if self.is_to_try_again(now, members) {
                    self.try_again_at = None;
                    self.load(None, out);
                } else {
                    self.note_builds(now, members, out);
                    self.tick(now, rank, members, fold, out);
                    self.save(now, rank, fold, out);
                }
            }
            _ => {}
        }
    }

    /// Whether it is time to read the newest save of another build, which may have to hand over. As
    /// long as no node of that runs, the save is the same one. Not before all of the log is read: where
    /// that takes longer than the wait, a node would begin again without end.
    fn is_to_try_again(&self, now: Duration, members: &Members) -> bool {
        self.is_caught_up
            && !self.has_state
            && self.is_of_another_build()
            && self.reads != Some(true)
            && self.try_again_at.is_some_and(|at| now >= at)
            && members.has_build(self.at.build)
            && members.is_superseded_unread(self.at.build)
    }

    /// Notes what builds cannot do.
    fn note_builds(&mut self, now: Duration, members: &Members, out: &mut Vec<Command>) {
        if self.owns() {
            let refusing = members.refusing(self.build, self.shard);
            let Some(it) = refusing.filter(|it| self.noted_build != Some(it.build)) else {
                return;
            };
            self.noted_build = Some(it.build);
            out.push(Command::Note(Note::NotOffered {
                node: it.node.to_string(),
                build: it.build,
            }));
        } else if !self.has_state
            && self.is_caught_up
            && self.is_of_another_build()
            && !self.at.is_empty
            && !members.has_build(self.at.build)
            && now >= self.heard_at + self.settings.failover_timeout * 8
            && !std::mem::replace(&mut self.has_noted_still, true)
        {
            out.push(Command::Note(Note::StandsStill {
                frame: self.at.frame,
                build: self.at.build,
                is_handed_over: self.at.hands_over,
                own: self.build,
            }));
        }
    }

    fn load(&mut self, before: Option<u64>, out: &mut Vec<Command>) {
        self.stage = Stage::Loading;
        self.trailing = None;
        out.push(Command::Load { before });
    }

    fn unload(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        fold.unload();
        self.has_state = false;
        self.trailing = None;
        self.stage = Stage::Away;
        self.pending = None;
        self.at = Position::start();
        self.reads = None;
        out.push(Command::Unload);
    }

    fn loaded(
        &mut self,
        now: Duration,
        loaded: &Loaded,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let first = loaded.first.max(1);
        let (at, state) = match &loaded.save {
            // The log still has the whole last frame of the save, with which `follow` checks that the
            // save is of this log.
            Some((at, state)) if at.since.0 + 1 >= first => (at.clone(), Some(&**state)),
            // The log has everything, so it is folded from the beginning.
            _ if first == 1 => (Position::start(), None),
            // Entries that the state depends on are gone. To begin anywhere would invent a state: the
            // node waits for a save that another one stores.
            _ => {
                out.push(Command::Note(Note::NoSave { first }));
                self.stage = Stage::Later(now + self.settings.failover_timeout * 4);
                return;
            }
        };
        let is_other = at.seq > 0 && at.build != self.build;
        let fits = !is_other
            || at.lets(self.build, self.generation)
            || self.settings.has(Mutant::BeginAnywhere)
            || self.settings.has(Mutant::AnyBuild);
        let is_read = match &loaded.unread {
            // The state without rooms is the same for every build: the bytes of another one need not
            // be read.
            _ if is_other && at.is_empty => {
                fold.load_empty(at.frame);
                Ok(())
            }
            Some(why) => Err(why.clone()),
            // Without a save, there is nothing to try.
            None => fold.load(state),
        };
        self.reads = (at.seq > 0).then_some(is_read.is_ok());
        let wait = match self.reads {
            Some(false) => self.settings.try_again_after(),
            _ => self.settings.failover_timeout * 4,
        };
        self.try_again_at = Some(now + wait);
        if let Err(why) = &is_read {
            self.note_unread(&at, why, is_other, out);
            // A save of this very build that cannot be read is damaged: load again later, when another one
            // may have replaced it. One of another build is not at fault: this node follows the chain
            // without a state, and `reads` has its heartbeat say that the shard must not be offered to it.
            if !is_other {
                fold.unload();
                self.has_state = false;
                self.stage = Stage::Later(now + self.settings.failover_timeout * 4);
                return;
            }
        }
        // A save that was only tried is dropped again: its build goes on with the shard.
        self.has_state = fits && is_read.is_ok();
        if self.has_state {
            out.push(Command::Began);
        } else {
            fold.unload();
        }
        self.out_of_tick = 0;
        self.loaded_at = Some(at.seq);
        self.beyond = None;
        self.saving = None;
        self.saved = if state.is_some() { at.seq } else { 0 };
        self.saved_at = now;
        self.heard_at = now;
        self.next_at = now;
        self.at = at;
        self.stage = Stage::Follows;
        self.trailing = None;
        self.pending = None;
        self.suspect = None;
        self.reload_at = None;
        self.is_computed = false;
        self.read = self.at.seq;
        self.follow(out);
    }

    /// Notes that a save could not be read, once.
    fn note_unread(&mut self, at: &Position, why: &str, is_other: bool, out: &mut Vec<Command>) {
        if self.noted_why == why {
            return;
        }
        why.clone_into(&mut self.noted_why);
        let (frame, build, why) = (at.frame, at.build, why.to_owned());
        out.push(Command::Note(if is_other {
            Note::CannotBegin { frame, build, why }
        } else {
            Note::BadSave { frame, why }
        }));
    }

    /// Begins where there is no room.
    fn begin_empty(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        fold.load_empty(self.at.frame);
        self.has_state = true;
        self.trailing = None;
        out.push(Command::Began);
    }

    /// Reads the log from the last frame on.
    fn follow(&mut self, out: &mut Vec<Command>) {
        self.is_caught_up = false;
        if self.settings.has(Mutant::FollowWithoutCheck) {
            out.push(Command::Follow {
                from: self.read + 1,
            });
            return;
        }
        if !self.settings.has(Mutant::QueueIsKept) {
            self.queue.clear();
        }
        // What is read next are the entries of the last frame: from after the tick before, to `at.seq`. They
        // are compared with the chain before anything new counts. Void ticks after `at` are read again.
        self.last_tick = self.at.seq;
        self.is_checking = self.at.seq > 0;
        self.read = self.at.since.0;
        let from = self.read + 1;
        out.push(Command::Follow { from });
    }

    /// The log is not the one that the state belongs to.
    fn is_cut(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        if self.loaded_at.is_none() {
            out.push(Command::Note(Note::LogWasCut {
                frame: self.at.frame,
            }));
        }
        fold.unload();
        self.has_state = false;
        // A tick that follows what is gone names a chain that no log has: to retry it would add a void one.
        self.pending = None;
        self.queue.clear();
        // If the save that was just loaded is not of this log, an older one may be.
        let before = self.loaded_at;
        if before.is_some() {
            self.not_of_this_log = before;
        }
        self.at = Position::start();
        self.load(before, out);
    }

    fn read(&mut self, now: Duration, entry: Entry, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        // An entry of a reading that has ended since.
        if entry.seq <= self.read {
            return;
        }
        if entry.seq != self.read + 1 && !self.settings.has(Mutant::GapsAreIgnored) {
            if self.is_checking && self.read == self.at.since.0 {
                // The log was trimmed that far: the last frame cannot be checked, so the state may be of
                // another log.
                self.is_cut(fold, out);
            } else {
                // A gap: nothing after it is taken, since a frame without one of its entries is another
                // frame. What is before it is read and checked again.
                self.follow(out);
            }
            return;
        }
        self.read = entry.seq;
        if self.is_checking {
            // These entries have had their effect already: they are only compared.
            let is_last = entry.seq >= self.at.seq;
            self.queue.push(entry);
            if is_last {
                self.is_checking = false;
                let entries = std::mem::take(&mut self.queue);
                if !self.at.is_after(&entries) {
                    self.is_cut(fold, out);
                }
            }
        } else if entry.is_tick() {
            self.ticked(now, entry, fold, out);
        } else {
            self.queue.push(entry);
        }
    }

    fn ticked(&mut self, now: Duration, entry: Entry, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        let tick = Tick::of_bytes(&entry.body);
        let is_any = |tick: &Tick| {
            self.settings.has(Mutant::VoidIsTaken)
                || self.settings.has(Mutant::AnyBuild) && tick.before == self.at.chain
                || self.settings.has(Mutant::BeginAnywhere) && tick.before == self.at.chain
        };
        let tick = tick.filter(|tick| self.at.accepts(tick) || is_any(tick));
        let Some(tick) = tick else {
            if self.suspect.is_some_and(|seq| entry.seq <= seq) {
                // Everything since the last frame was read again, and that frame is the same: this node is
                // right and the tick is void, as it is for all who read it. It remains an entry: the next
                // tick names a chain with it, and appends compare with it as the last tick. What this node
                // has appended compared with an earlier one, so it was refused, or is this very entry.
                out.push(Command::Note(Note::VoidTick { seq: entry.seq }));
                self.last_tick = entry.seq;
                self.pending = None;
                self.queue.push(entry);
            } else {
                // Either the tick is wrong, or this node, in a log that was cut back. Reading again tells:
                // if the last frame is another one, `is_cut` loads a save, and the tick is never judged.
                self.suspect = Some(entry.seq);
                self.follow(out);
            }
            return;
        };
        // The tick continues the chain: the state at `self.at` is the one before its frame, and every node
        // of the log accepts the tick as this one does.
        let own = tick.by == self.me;
        let is_early = std::mem::take(&mut self.is_computed);
        let is_of_build = tick.build == self.build || self.settings.has(Mutant::AnyBuild);
        // Without rooms no save is needed: every build has the same state there.
        if !self.has_state && self.at.is_empty && tick.build == self.build {
            self.begin_empty(fold, out);
        }
        if self.has_state && is_of_build {
            if tick.out > fold.out().max(self.out_for) && !self.settings.has(Mutant::OutIsIgnored) {
                // The node that ticks knows a room that kills, and has not run it. To run it here would
                // kill this node or make another state. Loading takes the room out; `out_for` keeps the
                // same number from doing so again, if the news of the room is not there yet.
                self.out_for = tick.out;
                self.at = Position::start();
                self.load(None, out);
                return;
            }
            // The tick came while its predecessor's frame was being tried at the end of the log: the owner
            // lives, and ticks faster than frames are tried.
            let is_outrun = self.trailing.as_ref().is_some_and(|it| it.was_last);
            self.outrun = if own {
                0
            } else {
                self.outrun.saturating_add(u8::from(is_outrun))
            };
            // The tick proves that a node has survived the frame before it, so that is safe to compute. It
            // has to be computed here: `tick.state` is the hash of the state after it.
            self.catch_up(fold, out);
            if !is_early && tick.state != fold.hash() {
                out.push(Command::Note(Note::Differs {
                    frame: self.at.frame,
                    ticked_by: tick.by.to_string(),
                }));
                // Once more from a save: this node's state may be the wrong one. If it differs again, the
                // rooms themselves are not deterministic, and no state is more right than another: on from
                // here, or the node would load without end.
                if !std::mem::replace(&mut self.differs, true) {
                    self.at = Position::start();
                    self.load(None, out);
                    return;
                }
            }
        } else if self.has_state {
            // Another build goes on from here, as `accepts` allowed. Only the build that ran a frame replays
            // it: this node follows the chain without a state, so that it can still judge ticks.
            fold.unload();
            self.has_state = false;
            self.trailing = None;
        }
        // From here on nothing returns early: position, queue and state move on together.
        self.last_tick = entry.seq;
        self.queue.push(entry);
        let at = self.at.after(&tick, &self.queue);
        let entries = std::mem::take(&mut self.queue);
        // The save is of this log: the chain after it has continued.
        self.loaded_at = None;
        self.suspect = None;
        // Whatever this node has appended, it is this tick, or was refused because of it.
        self.pending = None;
        self.heard_at = now;
        self.has_noted_still = false;
        self.out_of_tick = tick.out;
        if own {
            // Not more than two steps behind: after a pause, frames are not run in a burst.
            self.next_at =
                (self.next_at + self.settings.step).max(now.saturating_sub(self.settings.step * 2));
        } else {
            self.next_at = now;
        }
        // From here on, saves of this log are of later entries than the wrong one, and replace it anyway.
        if self.not_of_this_log.is_some_and(|seq| at.seq > seq) {
            self.not_of_this_log = None;
        }
        // What this build could read was a save of the build before. The new one has to store its own.
        if at.build != self.at.build {
            self.reads = None;
            self.try_again_at = Some(now + self.settings.failover_timeout * 4);
        }
        self.at = at;
        if self.has_state {
            self.trailing = Some(Trailing {
                at: self.at.clone(),
                entries,
                is_tried: false,
                was_last: false,
            });
            // The node that has ticked computes the frame first, with the tick in the log: if the frame
            // kills it, the others have not computed it, and no node ticks it again. They compute it in
            // `catch_up` when the next tick is read.
            if is_early {
                self.trailing = None;
                out.push(Command::Frame {
                    at: self.at.clone(),
                    own,
                });
            } else if own || self.settings.has(Mutant::FollowersRunAhead) {
                self.catch_up(fold, out);
            }
        }
        // There is, or will be, a save that this build may begin at. Where there is no room, none is
        // needed: to load would only keep the node from beginning.
        let is_saved = self.may_go_on() && !self.at.is_empty;
        let soon = now + self.settings.failover_timeout / 4;
        let reload_at = self.reload_at.unwrap_or(soon);
        self.reload_at = (!self.has_state && is_saved).then_some(reload_at);
    }

    /// Computes the frame that trails.
    fn catch_up(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        if let Some(Trailing { at, entries, .. }) = self.trailing.take() {
            fold.frame(at.frame, &entries);
            let own = at.by == self.me;
            out.push(Command::Frame { at, own });
        }
    }

    /// Whether the state is that after the last frame. If that trails, it is tried first.
    fn settle(&mut self, now: Duration, fold: &mut dyn Fold, out: &mut Vec<Command>) -> bool {
        let Some(trailing) = &mut self.trailing else {
            return true;
        };
        let is_silent = now >= self.heard_at + self.settings.failover_timeout;
        // An owner that goes on may tick faster than frames are tried.
        let is_outrun = self.outrun >= OUTRUN && !is_silent;
        if is_outrun || self.settings.has(Mutant::FramesAreNotTried) {
            self.catch_up(fold, out);
            return true;
        }
        // Nobody is known to have survived the frame, and its owner is silent or leaves: a room in it may have
        // ended that process. It runs in a child first; until `Tried` comes, this node neither ticks nor saves.
        if !std::mem::replace(&mut trailing.is_tried, true) {
            match fold.save() {
                Ok(state) => out.push(Command::Try {
                    at: trailing.at.clone(),
                    state,
                    entries: trailing.entries.clone(),
                }),
                // Without bytes there is nothing to give to a child. A shard that stands still would be worse
                // than the risk.
                Err(why) => {
                    let frame = trailing.at.frame;
                    out.push(Command::Note(Note::NotSaved { frame, why }));
                    self.catch_up(fold, out);
                    return true;
                }
            }
        }
        false
    }

    fn appended(
        &mut self,
        now: Duration,
        attempt: u64,
        seq: u64,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        self.answered(now, attempt);
        let is_it = |it: &&Pending| it.attempt == attempt && seq > it.after;
        let Some(pending) = self.pending.as_ref().filter(is_it) else {
            return;
        };
        if self.settings.has(Mutant::FrameBeforeRead)
            && !self.is_computed
            && self.stage == Stage::Follows
        {
            fold.frame(pending.frame, &self.queue);
            self.queue.clear();
            self.is_computed = true;
            let mut at = self.at.clone();
            (at.frame, at.seq) = (pending.frame, seq);
            out.push(Command::Frame { at, own: true });
        }
    }

    /// The log has an answer for the tick. It decides nothing: what is read decides.
    fn answered(&mut self, now: Duration, attempt: u64) {
        if let Some(pending) = self.pending.as_mut().filter(|it| it.attempt == attempt) {
            pending.is_answered = true;
            pending.again_at = now + self.settings.retry_after;
            pending.is_missing = false;
        }
    }

    /// Appends a tick, if it is time for this node to do that.
    fn tick(
        &mut self,
        now: Duration,
        rank: Option<usize>,
        members: &Members,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        // Without a state there is no frame to tick, and while the last frame is checked it may be another's.
        if !self.has_state && !self.at.is_empty || self.is_checking {
            return;
        }
        // One tick at a time: a second one would have to name a frame that is not computed yet. The tick
        // that is on its way is repeated with the same bytes, and only what is read ends it.
        if let Some(pending) = &mut self.pending {
            if now < pending.again_at || self.settings.has(Mutant::NoRetry) {
                return;
            }
            if pending.is_answered {
                if std::mem::take(&mut pending.is_missing) {
                    // The log has this tick or another one, and does not show it.
                    pending.is_answered = false;
                    pending.again_at = now + self.settings.retry_after;
                    self.follow(out);
                }
                return;
            }
            pending.again_at = now + self.settings.retry_after;
            let (attempt, after, body) = (pending.attempt, pending.after, pending.body.clone());
            let after = self.compare(after);
            out.push(Command::Append {
                attempt,
                after,
                body,
            });
            return;
        }
        if self.is_finishing || !self.is_caught_up || !self.is_due(now, rank, members) {
            return;
        }
        if !self.has_state {
            // The place is empty, so this build may begin, but not with a room that the last tick's node
            // knows to be out.
            if self.out_of_tick > fold.out().max(self.out_for) {
                self.out_for = self.out_of_tick;
                self.load(None, out);
                return;
            }
            self.begin_empty(fold, out);
        }
        if !self.settle(now, fold, out) {
            return;
        }
        self.attempts += 1;
        let tick = Tick {
            format: Tick::FORMAT,
            frame: self.at.frame + 1,
            by: self.me.clone(),
            build: self.build,
            generation: self.generation,
            before: self.at.chain,
            state: fold.hash(),
            hands_over: self.is_superseded(members),
            out: fold.out(),
            is_empty: fold.is_empty() || self.settings.has(Mutant::EmptyWithoutLooking),
        };
        let body: Arc<[u8]> = tick.to_bytes().into();
        let (attempt, after) = (self.attempts, self.compare(self.last_tick));
        self.pending = Some(Pending {
            attempt,
            after: self.last_tick,
            frame: tick.frame,
            body: body.clone(),
            again_at: now + self.settings.retry_after,
            is_answered: false,
            is_missing: false,
        });
        out.push(Command::Append {
            attempt,
            after,
            body,
        });
    }

    fn is_superseded(&self, members: &Members) -> bool {
        if self.settings.has(Mutant::UnreadIsOffered) {
            return members.is_superseded_unread(self.build);
        }
        members.is_superseded(self.build, self.shard)
    }

    fn compare(&self, last: u64) -> Option<u64> {
        (!self.settings.has(Mutant::TickWithoutCompare)).then_some(last)
    }

    fn is_due(&self, now: Duration, rank: Option<usize>, members: &Members) -> bool {
        let failover_timeout = self.settings.failover_timeout;
        let silent = now.saturating_sub(self.heard_at);
        // This build has handed over. It ticks on only if the later build does not come: until then a tick of
        // this build would take the shard back in the moment in which the other one begins.
        if self.at.hands_over && self.at.build == self.build && self.is_superseded(members) {
            return silent >= self.settings.hand_over_wait()
                && (rank == Some(0) || self.ticked_last());
        }
        // The owner keeps the pace. If another node takes over meanwhile, the compare refuses one of the two.
        if self.ticked_last() {
            return now >= self.next_at;
        }
        // It leaves, or is no member: it does not compete with those that are.
        let Some(rank) = rank else {
            return false;
        };
        let is_offered = self.at.hands_over && self.at.is_before(self.build, self.generation);
        if self.is_of_another_build() && !is_offered {
            // Nobody is in the shard. Nodes of its build go on as long as there are some.
            let wait = if members.has_build(self.at.build) {
                self.settings.hand_over_wait()
            } else {
                self.settings.settle()
            };
            return silent >= wait + failover_timeout * u32::try_from(rank).unwrap_or(8).min(8);
        }
        // The node that is silent has ticked last. Those after it do not wait for it.
        let owner = members.rank(&self.at.by, self.shard);
        let before = rank - usize::from(owner.is_some_and(|owner| owner < rank));
        let is_silent =
            silent >= failover_timeout * (1 + u32::try_from(before).unwrap_or(8).min(8));
        let has_left = || members.get(&self.at.by).is_some_and(|it| it.leaves);
        let is_settled = || {
            self.first_since
                .is_some_and(|since| now >= since + self.settings.settle())
        };
        let may_begin = self.at.seq == 0 || self.at.hands_over;
        // The node that should tick takes the shard from a living owner only after some time in that place:
        // members come and go in bursts, and each change of the owner costs a try.
        is_silent || rank == 0 && (may_begin || has_left() || is_settled())
    }

    /// Saves, if it is time for this node to do that.
    fn save(
        &mut self,
        now: Duration,
        rank: Option<usize>,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        if !self.has_state || self.is_checking || self.saving.is_some() || self.at.seq <= self.saved
        {
            return;
        }
        let is_time = self.wants_save || now >= self.saved_at + self.settings.snapshot_interval;
        let is_regular = self.ticked_last() && is_time;
        // The build that comes needs it; another standby stores it if the owner does not.
        let wait =
            self.settings.failover_timeout * u32::try_from(rank.unwrap_or(0)).unwrap_or(8).min(8);
        let is_last = self.at.hands_over
            && self.at.build == self.build
            && (self.ticked_last() || now >= self.heard_at + self.settings.failover_timeout + wait);
        // It leaves, and may be the last one.
        let is_pause_over =
            self.is_finishing || now >= self.saved_at + self.settings.failover_timeout;
        let is_leaving = self.ticked_last() && rank.is_none() && is_pause_over;
        if !(is_regular || is_last || is_leaving) {
            return;
        }
        // A save is of the state after `at`: if that frame trails, it is tried and computed first.
        if !self.settle(now, fold, out) {
            return;
        }
        self.saved_at = now;
        match fold.save() {
            Ok(state) => {
                self.saving = Some(self.at.seq);
                self.wants_save = false;
                self.saved = self.at.seq;
                if self.settings.has(Mutant::TrimBeforeSave) {
                    out.push(Command::Trim {
                        before: self.at.seq,
                    });
                }
                out.push(Command::Save {
                    at: self.at.clone(),
                    state,
                    not_of_this_log: self.not_of_this_log,
                });
            }
            Err(why) => out.push(Command::Note(Note::NotSaved {
                frame: self.at.frame,
                why,
            })),
        }
    }
}
