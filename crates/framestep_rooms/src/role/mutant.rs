//! Bugs that the protocol could have: the simulator injects each, and must find it. Those of them that are
//! decisions of a role are here; the others are in the simulator's log and rooms.

use std::time::Duration;

use super::{Command, Fold, Role, Rules, Stage};
use crate::entry::{Build, Entry, Generation, Position, Tick, Topic};
use crate::member::Members;

/// Bugs that the protocol could have: the simulator injects each, and must find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A tick is appended whatever the last one is.
    TickWithoutCompare,
    /// After an interruption, the log is read on from where it was left.
    FollowWithoutCheck,
    /// A missing entry is not noticed.
    GapsAreIgnored,
    /// The owner computes a frame when its tick is acknowledged, not when it is read.
    FrameBeforeRead,
    /// A tick without an answer is not appended again.
    NoRetry,
    /// Entries that were read and not applied stay when they are read again.
    QueueIsKept,
    /// The log is trimmed before the save is stored.
    TrimBeforeSave,
    /// Frames of other builds are replayed.
    AnyBuild,
    /// Another build begins at any save.
    BeginAnywhere,
    /// A tick that does not fit is taken for the next one.
    VoidIsTaken,
    /// A save replaces any other one.
    OldSaveWins,
    /// An input that is in the log twice is applied twice.
    DoublesCount,
    /// Each answer to a question counts.
    AnswersCount,
    /// An owner performs only what was asked while it was the owner.
    EffectsAreForgotten,
    /// Nodes that follow compute a frame before anybody has survived it.
    FollowersRunAhead,
    /// The last frame of a node that is silent is computed without a try.
    FramesAreNotTried,
    /// A node that does not know which rooms are out computes on.
    OutIsIgnored,
    /// A shard is offered to builds that cannot read its save.
    UnreadIsOffered,
    /// A tick says that there is no room without looking.
    EmptyWithoutLooking,
    /// Of a player's sessions, those with the highest numbers count.
    HighestSessionsCount,
    /// The build of which a node was started last, by its own clock, runs the shard.
    LastStartedRuns,
    /// An input of a session that is not known counts, however long ago it was made.
    LateCopiesCount,
    /// An opening counts, however long ago it was made.
    LateOpeningsCount,
    /// A build that begins where there is no room does not know when the last one has ended.
    EndingsAreForgotten,
    /// What an operator has closed is closed again by a copy of that, whichever room has the name then.
    LateClosesCount,
    /// An acknowledgement without a number counts.
    AnyAnswerCounts,
    /// The log compares the last tick in one step, and appends in another one: a cluster of earlier
    /// servers of NATS.
    CompareIsNotAtomic,
    /// A player names a subject of the log's interface for an answer, and so deletes entries: one account
    /// for all.
    AnswersReachTheLog,
}

impl Mutant {
    pub(crate) const ALL: [Mutant; 28] = [
        Mutant::TickWithoutCompare,
        Mutant::FollowWithoutCheck,
        Mutant::GapsAreIgnored,
        Mutant::FrameBeforeRead,
        Mutant::NoRetry,
        Mutant::QueueIsKept,
        Mutant::TrimBeforeSave,
        Mutant::AnyBuild,
        Mutant::BeginAnywhere,
        Mutant::VoidIsTaken,
        Mutant::OldSaveWins,
        Mutant::DoublesCount,
        Mutant::AnswersCount,
        Mutant::EffectsAreForgotten,
        Mutant::FollowersRunAhead,
        Mutant::FramesAreNotTried,
        Mutant::OutIsIgnored,
        Mutant::UnreadIsOffered,
        Mutant::EmptyWithoutLooking,
        Mutant::HighestSessionsCount,
        Mutant::LastStartedRuns,
        Mutant::LateCopiesCount,
        Mutant::LateOpeningsCount,
        Mutant::EndingsAreForgotten,
        Mutant::LateClosesCount,
        Mutant::AnyAnswerCounts,
        Mutant::CompareIsNotAtomic,
        Mutant::AnswersReachTheLog,
    ];
}

/// The rules with a bug, or without.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mutated(pub(crate) Option<Mutant>);

impl Mutated {
    fn is(self, mutant: Mutant) -> bool {
        self.0 == Some(mutant)
    }
}

impl Rules for Mutated {
    fn expected_last(&self, last: u64) -> Option<u64> {
        (!self.is(Mutant::TickWithoutCompare)).then_some(last)
    }

    fn is_next(&self, read: u64, seq: u64) -> bool {
        seq == read + 1 || self.is(Mutant::GapsAreIgnored)
    }

    fn checks_last_frame(&self) -> bool {
        !self.is(Mutant::FollowWithoutCheck)
    }

    fn interrupted(&self, queue: &mut Vec<Entry>) {
        if !self.is(Mutant::QueueIsKept) && !self.is(Mutant::FollowWithoutCheck) {
            queue.clear();
        }
    }

    fn accepts(&self, at: &Position, tick: &Tick) -> bool {
        let is_any_build = self.is(Mutant::AnyBuild) || self.is(Mutant::BeginAnywhere);
        at.accepts(tick) || self.is(Mutant::VoidIsTaken) || is_any_build && tick.before == at.chain
    }

    fn replays(&self, build: Build, own: Build) -> bool {
        build == own || self.is(Mutant::AnyBuild)
    }

    fn may_begin(&self, at: &Position, build: Build, generation: Generation) -> bool {
        at.seq == 0
            || at.build == build
            || at.lets(build, generation)
            || self.is(Mutant::BeginAnywhere)
            || self.is(Mutant::AnyBuild)
    }

    fn acknowledged(
        role: &mut Role<Self>,
        now: Duration,
        (attempt, seq): (u64, u64),
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        let may_take = role.follow.stage == Stage::Follows && !role.follow.is_checking();
        if !role.rules.is(Mutant::FrameBeforeRead) || !may_take {
            return;
        }
        if let Some(body) = role.pending(attempt, seq) {
            role.follow.read = seq;
            let tick = Entry {
                seq,
                topic: Some(Topic::Tick),
                body,
            };
            role.ticked(now, tick, fold, out);
        }
    }

    fn retries(&self) -> bool {
        !self.is(Mutant::NoRetry)
    }

    fn computes_at_once(&self, is_own: bool) -> bool {
        is_own || self.is(Mutant::FollowersRunAhead)
    }

    fn tries(&self) -> bool {
        !self.is(Mutant::FramesAreNotTried)
    }

    fn knows_enough(&self, named: u32, known: u32) -> bool {
        named <= known || self.is(Mutant::OutIsIgnored)
    }

    fn is_superseded(&self, members: &Members, build: Build, shard: u32) -> bool {
        if self.is(Mutant::UnreadIsOffered) {
            return members.is_superseded_unread(build);
        }
        members.is_superseded(build, shard)
    }

    fn empty(&self, fold: &dyn Fold) -> Option<u64> {
        let is_blind = self.is(Mutant::EmptyWithoutLooking);
        fold.empty().or(is_blind.then_some(0))
    }

    fn trims_early(&self, at: u64) -> Option<u64> {
        self.is(Mutant::TrimBeforeSave).then_some(at)
    }

    fn trims(&self, needed: Option<u64>) -> Option<u64> {
        needed.filter(|_| !self.is(Mutant::TrimBeforeSave))
    }
}
