//! Several builds: what this one can begin, when it tries, and what is noted of it.

use std::time::Duration;

use super::{Command, Fold, Loaded, Role, Rules, Stage};
use crate::entry::{Build, Generation, Position};
use crate::event::ServerEvent;
use crate::member::Members;

/// What a role knows of builds.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// The generation of this build, as far as it is known.
    pub(super) generation: Generation,
    /// Whether this build could read the newest save, if that is of another one.
    reads: Option<bool>,
    /// When such a save is tried again.
    try_again_at: Option<Duration>,
    /// When the save is read at which this build may begin.
    pub(super) reload_at: Option<Duration>,
    noted: Noted,
}

/// What was noted already.
#[derive(Debug, Default)]
struct Noted {
    /// Why a save could not be read.
    why: String,
    /// The build that cannot read the save.
    build: Option<Build>,
    /// The shard stands still.
    still: bool,
}

impl Builds {
    /// The node does not have the shard any more.
    pub(super) fn forget(&mut self) {
        self.reads = None;
    }

    /// It loads.
    pub(super) fn begin(&mut self) {
        self.reload_at = None;
    }

    /// Ticks go on.
    pub(super) fn heard(&mut self) {
        self.noted.still = false;
    }

    /// Another build ticks. What this one could read was a save of the build before: the new one has to
    /// store its own.
    pub(super) fn changed(&mut self, try_again_at: Duration) {
        self.reads = None;
        self.try_again_at = Some(try_again_at);
    }

    pub(super) fn stops_trying(&mut self) {
        self.try_again_at = None;
    }
}

impl<R: Rules> Role<R> {
    /// Whether this build can begin the shard, which is another build's. `None` if it is not, or if
    /// that is not known.
    pub(crate) fn can_begin(&self) -> Option<bool> {
        let is_read = self.follow.stage != Stage::Away && self.is_of_another_build();
        let is_empty = self.at.is_empty().then_some(true);
        is_empty.or(self.builds.reads).filter(|_| is_read)
    }

    pub(super) fn is_of_another_build(&self) -> bool {
        self.at.seq > 0 && self.at.build != self.build
    }

    pub(super) fn is_superseded(&self, members: &Members) -> bool {
        self.rules.is_superseded(members, self.build, self.shard)
    }

    /// Whether this build may go on after the last tick.
    pub(super) fn may_go_on(&self) -> bool {
        self.at.lets(self.build, self.builds.generation)
    }

    /// Takes the generation of this build, which rises if the operator prefers the build.
    pub(super) fn hear_generation(&mut self, now: Duration, members: &Members) {
        let generation = members.generation(self.build);
        if generation <= self.builds.generation {
            return;
        }
        self.builds.generation = generation;
        let may_begin = self.at.hands_over && !self.at.is_empty() && self.may_go_on();
        if self.follow.stage == Stage::Follows && !self.has_state && may_begin {
            self.builds.reload_at.get_or_insert(now);
        }
    }

    /// Plans to load, if there is, or will be, a save that this build may begin at. Where there is no
    /// room, none is needed: to load would only keep the node from beginning.
    pub(super) fn plan_to_begin(&mut self, now: Duration) {
        let is_saved = self.may_go_on() && !self.at.is_empty();
        let soon = now + self.settings.failover_timeout / 4;
        let reload_at = self.builds.reload_at.unwrap_or(soon);
        self.builds.reload_at = (!self.has_state && is_saved).then_some(reload_at);
    }

    /// Whether it is time to read the newest save of another build, which may have to hand over. As
    /// long as no node of that runs, the save is the same one. Not before all of the log is read: where
    /// that takes longer than the wait, a node would begin again without end.
    pub(super) fn is_to_try_again(&self, now: Duration, members: &Members) -> bool {
        self.follow.is_caught_up()
            && !self.has_state
            && self.is_of_another_build()
            && self.builds.reads != Some(true)
            && self.builds.try_again_at.is_some_and(|at| now >= at)
            && members.has_build(self.at.build)
            && members.is_superseded_unread(self.at.build)
    }

    /// Reads the state of a save: into the fold, if this build can.
    pub(super) fn read_state(
        &mut self,
        now: Duration,
        at: &Position,
        loaded: &Loaded,
        state: Option<&[u8]>,
        fold: &mut dyn Fold,
    ) -> Result<(), String> {
        let is_other = at.seq > 0 && at.build != self.build;
        let is_read = match &loaded.unread {
            // The state without rooms is the same for every build: the bytes of another one need not
            // be read.
            _ if is_other && at.is_empty() => {
                fold.load_empty(at.frame, at.empty.unwrap_or(0));
                Ok(())
            }
            Some(why) => Err(why.clone()),
            // Without a save, there is nothing to try.
            None => fold.load(state),
        };
        self.builds.reads = (at.seq > 0).then_some(is_read.is_ok());
        let wait = match self.builds.reads {
            Some(false) => self.settings.try_again_after(),
            _ => self.settings.failover_timeout * 4,
        };
        self.builds.try_again_at = Some(now + wait);
        is_read
    }

    /// Notes that a save could not be read, once.
    pub(super) fn note_unread(
        &mut self,
        at: &Position,
        why: &str,
        is_other: bool,
        out: &mut Vec<Command>,
    ) {
        if self.builds.noted.why == why {
            return;
        }
        why.clone_into(&mut self.builds.noted.why);
        let (frame, build, why) = (at.frame, at.build, why.to_owned());
        out.push(Command::Note(if is_other {
            ServerEvent::CannotBegin { frame, build, why }
        } else {
            ServerEvent::BadSave { frame, why }
        }));
    }

    /// Notes what builds cannot do.
    pub(super) fn note_builds(&mut self, now: Duration, members: &Members, out: &mut Vec<Command>) {
        if self.owns() {
            let refusing = members.refusing(self.build, self.shard);
            let Some(it) = refusing.filter(|it| self.builds.noted.build != Some(it.build)) else {
                return;
            };
            self.builds.noted.build = Some(it.build);
            out.push(Command::Note(ServerEvent::NotOffered {
                node: it.node.to_string(),
                build: it.build,
            }));
        } else if !self.has_state
            && self.follow.is_caught_up()
            && self.is_of_another_build()
            && !self.at.is_empty()
            && !members.has_build(self.at.build)
            && now >= self.ticking.heard_at + self.settings.failover_timeout * 8
            && !std::mem::replace(&mut self.builds.noted.still, true)
        {
            out.push(Command::Note(ServerEvent::StandsStill {
                frame: self.at.frame,
                build: self.at.build,
                is_handed_over: self.at.hands_over,
                own: self.build,
            }));
        }
    }
}
