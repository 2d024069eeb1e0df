//! Following a log: loading a save, checking the last frame, taking ticks.

use std::time::Duration;

use super::{Command, Fold, Loaded, Role, Rules, Settings};
use crate::entry::{Entry, Position, Tick};
use crate::event::ServerEvent;

/// How far a node is with following.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Without state.
    #[default]
    Away,
    /// Waits for a save.
    Loading,
    /// Waits before it loads again.
    Later(Duration),
    /// Reads the log.
    Follows,
}

/// How far it is with reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The first entries must be those of the last frame.
    Checks,
    #[default]
    Behind,
    /// It has read all of the log.
    CaughtUp,
}

/// What a role has read of its log.
#[derive(Debug, Default)]
pub(super) struct Follow {
    pub(super) stage: Stage,
    phase: Phase,
    /// The last entry read.
    pub(super) read: u64,
    /// The last tick in the log, void ones included.
    pub(super) last_tick: u64,
    /// What was read since the last frame.
    queue: Vec<Entry>,
    /// The place at which the state was loaded, until a tick was read.
    loaded_at: Option<u64>,
    /// The last time that a tick did not fit, so that all since the last frame was read once more.
    suspicion: Option<Suspicion>,
    void: Void,
    /// Whether the state differed from that of a tick, and was loaded again.
    differed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Suspicion {
    /// The tick.
    seq: u64,
    since: Duration,
}

/// Void ticks that were not noted yet.
#[derive(Debug, Default)]
struct Void {
    count: u64,
    /// The last one that was counted: they are read again.
    last: u64,
    noted_at: Option<Duration>,
}

impl Void {
    fn count(&mut self, seq: u64) {
        self.count += u64::from(seq > self.last);
        self.last = self.last.max(seq);
    }

    /// What there is to note, once in a while.
    fn note(&mut self, now: Duration, settings: &Settings) -> Option<ServerEvent> {
        let is_due = self
            .noted_at
            .is_none_or(|at| now >= at + settings.note_pause());
        if self.count == 0 || !is_due {
            return None;
        }
        self.noted_at = Some(now);
        let count = std::mem::take(&mut self.count);
        Some(ServerEvent::VoidTicks {
            count,
            last: self.last,
        })
    }
}

impl Follow {
    pub(super) fn is_checking(&self) -> bool {
        self.phase == Phase::Checks
    }

    pub(super) fn is_caught_up(&self) -> bool {
        self.phase == Phase::CaughtUp
    }
}

impl<R: Rules> Role<R> {
    pub(super) fn load(&mut self, before: Option<u64>, out: &mut Vec<Command>) {
        self.follow.stage = Stage::Loading;
        self.trial.clear();
        out.push(Command::Load { before });
    }

    /// The load has failed: it is tried again after some time.
    pub(super) fn load_later(&mut self, at: Duration) {
        self.follow.stage = Stage::Later(at);
    }

    pub(super) fn unload(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        fold.unload();
        self.has_state = false;
        self.trial.clear();
        self.follow.stage = Stage::Away;
        self.ticking.give_up();
        self.at = Position::start();
        self.builds.forget();
        out.push(Command::Unload);
    }

    pub(super) fn loaded(
        &mut self,
        now: Duration,
        loaded: &Loaded,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let first = loaded.first.max(1);
        let (at, state) = match &loaded.save {
            // The log still has the whole last frame of the save, with which `follow_on` checks that the
            // save is of this log.
            Some((at, state)) if at.since.0 + 1 >= first => (at.clone(), Some(&**state)),
            // The log has everything, so it is folded from the beginning.
            _ if first == 1 => (Position::start(), None),
            // Entries that the state depends on are gone. To begin anywhere would invent a state: the
            // node waits for a save that another one stores.
            _ => {
                out.push(Command::Note(ServerEvent::NoSave { first }));
                self.load_later(now + self.settings.failover_timeout * 4);
                return;
            }
        };
        let is_other = at.seq > 0 && at.build != self.build;
        let may_begin = self
            .rules
            .may_begin(&at, self.build, self.builds.generation);
        let is_read = self.read_state(now, &at, loaded, state, fold);
        if let Err(why) = &is_read {
            self.note_unread(&at, why, is_other, out);
            // A save of this very build that cannot be read is damaged: load again later, when another one
            // may have replaced it. One of another build is not at fault: this node follows the chain
            // without a state, and its heartbeat says that the shard must not be offered to it.
            if !is_other {
                fold.unload();
                self.has_state = false;
                self.load_later(now + self.settings.failover_timeout * 4);
                return;
            }
        }
        // A save that was only tried is dropped again: its build goes on with the shard.
        self.has_state = may_begin && is_read.is_ok();
        if self.has_state {
            out.push(Command::Began);
        } else {
            fold.unload();
        }
        let saved = if state.is_some() { at.seq } else { 0 };
        self.saving.begin(now, saved);
        self.ticking.begin(now);
        self.trial.begin();
        self.builds.begin();
        self.follow.stage = Stage::Follows;
        self.follow.loaded_at = Some(at.seq);
        self.follow.suspicion = None;
        self.follow.read = at.seq;
        self.at = at;
        self.follow_on(out);
    }

    /// Begins where there is no room.
    pub(super) fn begin_empty(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        fold.load_empty(self.at.frame, self.at.empty.unwrap_or(0));
        self.has_state = true;
        self.trial.clear();
        out.push(Command::Began);
    }

    /// Reads the log from the last frame on.
    pub(super) fn follow_on(&mut self, out: &mut Vec<Command>) {
        self.rules.interrupted(&mut self.follow.queue);
        if self.rules.checks_last_frame() {
            // What is read next are the entries of the last frame: from after the tick before, to `at.seq`.
            // They are compared with the chain before anything new counts. Void ticks after `at` are read
            // again.
            self.follow.last_tick = self.at.seq;
            self.follow.phase = if self.at.seq > 0 {
                Phase::Checks
            } else {
                Phase::Behind
            };
            self.follow.read = self.at.since.0;
        } else {
            self.follow.phase = Phase::Behind;
        }
        let from = self.follow.read + 1;
        out.push(Command::Follow { from });
    }

    /// The log has nothing more.
    pub(super) fn log_ends(&mut self, now: Duration, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        if self.follow.is_checking() {
            // The log ends before the tick at which the node is.
            self.is_cut(fold, out);
            return;
        }
        self.follow.phase = Phase::CaughtUp;
        self.trial.log_ends();
        self.ticking.log_ends();
        self.saving
            .look_beyond(now, self.follow.read, &self.settings);
    }

    /// The log is not the one that the state belongs to.
    fn is_cut(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        if self.follow.loaded_at.is_none() {
            out.push(Command::Note(ServerEvent::LogWasCut {
                frame: self.at.frame,
            }));
        }
        fold.unload();
        self.has_state = false;
        // A tick that follows what is gone names a chain that no log has: to retry it would add a void one.
        self.ticking.give_up();
        self.follow.queue.clear();
        // If the save that was just loaded is not of this log, an older one may be.
        let before = self.follow.loaded_at;
        if let Some(at) = before {
            self.saving.reject(at);
        }
        self.at = Position::start();
        self.load(before, out);
    }

    pub(super) fn read(
        &mut self,
        now: Duration,
        entry: Entry,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        // An entry of a reading that has ended since.
        if entry.seq <= self.follow.read {
            return;
        }
        if !self.rules.is_next(self.follow.read, entry.seq) {
            if self.follow.is_checking() && self.follow.read == self.at.since.0 {
                // The log was trimmed that far: the last frame cannot be checked, so the state may be of
                // another log.
                self.is_cut(fold, out);
            } else {
                // A gap: nothing after it is taken, since a frame without one of its entries is another
                // frame. What is before it is read and checked again.
                self.follow_on(out);
            }
            return;
        }
        self.follow.read = entry.seq;
        if self.follow.is_checking() {
            // These entries have had their effect already: they are only compared.
            let is_last = entry.seq >= self.at.seq;
            self.follow.queue.push(entry);
            if is_last {
                self.follow.phase = Phase::Behind;
                let entries = std::mem::take(&mut self.follow.queue);
                if !self.at.is_after(&entries) {
                    self.is_cut(fold, out);
                }
            }
        } else if entry.is_tick() {
            self.ticked(now, entry, fold, out);
        } else {
            self.follow.queue.push(entry);
        }
    }

    /// A tick was read that does not fit what is before it.
    fn does_not_fit(&mut self, now: Duration, entry: Entry, out: &mut Vec<Command>) {
        let was_checked = self.follow.suspicion.is_some_and(|it| {
            entry.seq <= it.seq || now < it.since + self.settings.suspicion_pause()
        });
        if was_checked {
            // Everything since the last frame was read again, and that frame is the same: this node is
            // right and the tick is void, as it is for all who read it. It remains an entry: the next
            // tick names a chain with it, and appends compare with it as the last tick. What this node
            // has appended compared with an earlier one, so it was refused, or is this very entry.
            //
            // More of them within a while count at once: somebody may append them as fast as they are
            // read. If the log was cut back in that while, this node appends ticks that are void, and
            // then checks.
            self.follow.void.count(entry.seq);
            self.follow.last_tick = entry.seq;
            self.ticking.give_up();
            self.follow.queue.push(entry);
        } else {
            // Either the tick is wrong, or this node, in a log that was cut back. Reading again tells:
            // if the last frame is another one, `is_cut` loads a save, and the tick is never judged.
            self.follow.suspicion = Some(Suspicion {
                seq: entry.seq,
                since: now,
            });
            self.follow_on(out);
        }
    }

    pub(super) fn note_void(&mut self, now: Duration, out: &mut Vec<Command>) {
        let note = self.follow.void.note(now, &self.settings);
        out.extend(note.map(Command::Note));
    }

    pub(super) fn ticked(
        &mut self,
        now: Duration,
        entry: Entry,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let tick = Tick::of_bytes(&entry.body);
        let Some(tick) = tick.filter(|tick| self.rules.accepts(&self.at, tick)) else {
            self.does_not_fit(now, entry, out);
            return;
        };
        // The tick continues the chain: the state at `self.at` is the one before its frame, and every node
        // of the log accepts the tick as this one does.
        //
        // Without rooms no save is needed: every build has the same state there.
        if !self.has_state && self.at.is_empty() && tick.build == self.build {
            self.begin_empty(fold, out);
        }
        if self.has_state && self.rules.replays(tick.build, self.build) {
            if !self.reaches(&tick, fold, out) {
                self.at = Position::start();
                self.load(None, out);
                return;
            }
        } else if self.has_state {
            // Another build goes on from here, as `accepts` allowed. Only the build that ran a frame replays
            // it: this node follows the chain without a state, so that it can still judge ticks.
            fold.unload();
            self.has_state = false;
            self.trial.clear();
        }
        // From here on nothing returns early: position, queue and state move on together.
        self.follow.last_tick = entry.seq;
        self.follow.queue.push(entry);
        let at = self.at.after(&tick, &self.follow.queue);
        let entries = std::mem::take(&mut self.follow.queue);
        // The save is of this log: the chain after it has continued.
        self.follow.loaded_at = None;
        let is_own = tick.by == self.me;
        self.ticking.heard(now, self.settings.step, is_own);
        self.builds.heard();
        self.trial.heard(&tick);
        self.saving.passed(at.seq);
        if at.build != self.at.build {
            self.builds
                .changed(now + self.settings.failover_timeout * 4);
        }
        self.at = at;
        if self.has_state {
            self.trial.trail(self.at.clone(), entries);
            // The node that has ticked computes the frame first, with the tick in the log: if the frame
            // kills it, the others have not computed it, and no node ticks it again. They compute it in
            // `catch_up` when the next tick is read.
            if self.rules.computes_at_once(is_own) {
                self.catch_up(fold, out);
            }
        }
        self.plan_to_begin(now);
    }

    /// Brings the state to that before the frame of a tick, and compares it. Returns whether this state
    /// may go on; otherwise a save is loaded.
    fn reaches(&mut self, tick: &Tick, fold: &mut dyn Fold, out: &mut Vec<Command>) -> bool {
        if self.must_take_out(tick.out, fold) {
            return false;
        }
        self.trial.count_outrun(tick.by == self.me);
        // The tick proves that a node has survived the frame before it, so that is safe to compute. It
        // has to be computed here: `tick.state` is the hash of the state after it.
        self.catch_up(fold, out);
        if tick.state == fold.hash() {
            return true;
        }
        out.push(Command::Note(ServerEvent::StateDiffers {
            frame: self.at.frame,
            ticked_by: tick.by.to_string(),
            // The rooms are known to who has them.
            rooms: Vec::new(),
        }));
        // Once more from a save: this node's state may be the wrong one. If it differs again, the
        // rooms themselves are not deterministic, and no state is more right than another: on from
        // here, or the node would load without end.
        std::mem::replace(&mut self.follow.differed, true)
    }
}
