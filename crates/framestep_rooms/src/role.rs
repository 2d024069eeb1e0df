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
//!    ([`Position::empty`]).
//! 7. **A build is offered only what it can read.** A node of another build loads the newest save, as
//!    a trial, and says in its [`Heartbeat`](crate::member::Heartbeat) whether it could. If it could
//!    not read the save of the hand-over, because the state has changed since, the old owner goes on
//!    at once.

mod build;
mod follow;
#[cfg(any(test, feature = "simulate"))]
pub(crate) mod mutant;
mod rules;
mod save;
mod terms;
#[cfg(test)]
mod tests;
mod tick;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Build, Position};
use crate::member::Members;

use build::Builds;
use follow::{Follow, Stage};
use save::Saving;
use tick::Ticking;
use trial::Trial;

pub(crate) use rules::{Protocol, Rules};
pub(crate) use terms::{Command, Event, Fold, Loaded, Settings};

/// What a node does for one shard.
#[derive(Debug)]
pub(crate) struct Role<R = Protocol> {
    rules: R,
    me: Arc<str>,
    build: Build,
    shard: u32,
    settings: Settings,
    /// The last tick that was read.
    at: Position,
    /// Whether there is the state at `at`, or, if a frame trails, that before it. Otherwise only the
    /// chain is followed.
    has_state: bool,
    follow: Follow,
    ticking: Ticking,
    saving: Saving,
    builds: Builds,
    trial: Trial,
}

impl Role {
    pub(crate) fn new(me: Arc<str>, build: Build, shard: u32, settings: Settings) -> Self {
        Role::with_rules(Protocol, me, build, shard, settings)
    }
}

impl<R: Rules> Role<R> {
    pub(crate) fn with_rules(
        rules: R,
        me: Arc<str>,
        build: Build,
        shard: u32,
        settings: Settings,
    ) -> Self {
        Role {
            rules,
            me,
            build,
            shard,
            settings,
            at: Position::start(),
            has_state: false,
            follow: Follow::default(),
            ticking: Ticking::default(),
            saving: Saving::default(),
            builds: Builds::default(),
            trial: Trial::default(),
        }
    }

    /// The last tick that was read, if there is a state.
    pub(crate) fn at(&self) -> Option<&Position> {
        self.has_state.then_some(&self.at)
    }

    /// Whether the frame of this entry waits until somebody is known to have survived it.
    pub(crate) fn is_trying(&self, at: u64) -> bool {
        self.trial.is_trying(at)
    }

    /// Whether the last tick is this node's, and the node has read all of the log.
    pub(crate) fn owns(&self) -> bool {
        self.is_last_ticker() && self.follow.is_caught_up()
    }

    /// Whether this node has appended the last tick that it has read.
    pub(crate) fn is_last_ticker(&self) -> bool {
        self.has_state && self.ticked_last()
    }

    /// Whether the last frame is saved.
    pub(crate) fn is_saved(&self) -> bool {
        self.saving.has(self.at.seq)
    }

    /// Whether a save was stored since [`save_soon`](Self::save_soon).
    pub(crate) fn has_saved(&self) -> bool {
        self.saving.has_saved()
    }

    /// Saves after the next tick, if this node is the owner.
    pub(crate) fn save_soon(&mut self) {
        self.saving.ask();
    }

    /// The node stops, and no other one takes over: no more ticks, and one more save.
    pub(crate) fn finish(&mut self) {
        self.ticking.is_finishing = true;
    }

    fn ticked_last(&self) -> bool {
        self.at.by == self.me
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
        // The stage guards each answer: one that comes after its stage has ended is of a load or a
        // reading that this node has given up since, and says nothing about the present one.
        let (loads, follows) = (
            self.follow.stage == Stage::Loading,
            self.follow.stage == Stage::Follows,
        );
        match event {
            Event::Loaded(loaded) if loads => self.loaded(now, &loaded, fold, out),
            Event::LoadFailed if loads => self.load_later(now + self.settings.failover_timeout),
            Event::Read(entry) if follows => self.read(now, entry, fold, out),
            Event::Idle if follows => self.log_ends(now, fold, out),
            Event::Broken if follows => self.follow_on(out),
            Event::Appended { attempt, seq } => {
                self.ticking
                    .answered(now, self.settings.retry_after, attempt);
                R::acknowledged(self, now, (attempt, seq), fold, out);
            }
            Event::Refused { attempt } => {
                self.ticking
                    .answered(now, self.settings.retry_after, attempt);
            }
            Event::Lost { attempt } => self.ticking.lost(now, attempt),
            Event::Saved { at, needed, newest } => self.stored(at, needed, newest, out),
            Event::SaveFailed { at } => self.not_stored(now, at),
            Event::Tried { at } if self.is_trying(at) => self.catch_up(fold, out),
            _ => {}
        }
        self.time(now, members, fold, out);
    }

    fn time(
        &mut self,
        now: Duration,
        members: &Members,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let rank = members.rank(&self.me, self.shard);
        self.ticking.look_at_rank(now, rank);
        self.note_void(now, out);
        let is_wanted = rank.is_some_and(|rank| rank <= self.settings.standbys);
        match self.follow.stage {
            Stage::Away if is_wanted => self.load(None, out),
            Stage::Later(at) if now >= at => {
                if is_wanted {
                    self.load(None, out);
                } else {
                    self.follow.stage = Stage::Away;
                }
            }
            Stage::Follows => {
                let is_idle = now >= self.ticking.heard_at + self.settings.failover_timeout * 8;
                let is_to_begin = self.builds.reload_at.is_some_and(|at| now >= at);
                // Neither owner nor standby. But if no tick has come for a long time, those who should run the
                // shard cannot, and the state here may be the last one.
                if !is_wanted && !self.ticked_last() && !is_idle {
                    self.unload(fold, out);
                } else if self.follow.is_caught_up() && is_to_begin {
                    self.builds.begin();
                    self.load(None, out);
                } else if self.is_to_try_again(now, members) {
                    self.builds.stops_trying();
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
}
