//! Trying a frame that nobody is known to have survived, before it is computed.

use std::time::Duration;

use super::{Command, Fold, Role, Rules};
use crate::entry::{Entry, Position, Tick};
use crate::event::ServerEvent;

/// How often a node tries frames of an owner that ticks on before it takes over without.
const OUTRUN: u8 = 3;

/// How far the trial of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is not needed yet: the next tick will say that a node has survived the frame.
    Waits,
    /// A child process computes it.
    Tried,
    /// The same, and the log had nothing more meanwhile: the next tick is a new one.
    TriedAtEnd,
}

/// A frame that another node has ticked, and that is not computed yet.
#[derive(Debug)]
struct Trailing {
    at: Position,
    entries: Vec<Entry>,
    phase: Phase,
}

/// What a role knows of frames that end their process.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// The frame of the last tick, if nobody is known to have survived it.
    trailing: Option<Trailing>,
    /// How often the next tick was there before a frame was tried.
    outrun: u8,
    /// The number of rooms that are out for which the state was loaded once more.
    out_for: u32,
    /// The number that the last tick has named since the state was loaded.
    named: u32,
}

impl Trial {
    pub(super) fn clear(&mut self) {
        self.trailing = None;
    }

    /// A state was loaded.
    pub(super) fn begin(&mut self) {
        self.trailing = None;
        self.named = 0;
    }

    pub(super) fn is_trying(&self, at: u64) -> bool {
        let is_it = |trailing: &Trailing| trailing.phase != Phase::Waits && trailing.at.seq == at;
        self.trailing.as_ref().is_some_and(is_it)
    }

    /// The log has nothing more. From here on, the next tick is one that was appended after the trial
    /// began.
    pub(super) fn log_ends(&mut self) {
        if let Some(trailing) = &mut self.trailing
            && trailing.phase == Phase::Tried
        {
            trailing.phase = Phase::TriedAtEnd;
        }
    }

    /// A tick was read: counts those of an owner that lives, and ticks faster than frames are tried.
    pub(super) fn count_outrun(&mut self, is_own: bool) {
        let is_at_end = |it: &Trailing| it.phase == Phase::TriedAtEnd;
        let is_outrun = self.trailing.as_ref().is_some_and(is_at_end);
        self.outrun = if is_own {
            0
        } else {
            self.outrun.saturating_add(u8::from(is_outrun))
        };
    }

    pub(super) fn trail(&mut self, at: Position, entries: Vec<Entry>) {
        self.trailing = Some(Trailing {
            at,
            entries,
            phase: Phase::Waits,
        });
    }

    pub(super) fn heard(&mut self, tick: &Tick) {
        self.named = tick.out;
    }

    fn known(&self, fold: &dyn Fold) -> u32 {
        fold.out().max(self.out_for)
    }
}

impl<R: Rules> Role<R> {
    /// Whether the node that has ticked knows a room that kills, and that this node would run. To run it
    /// here would kill this node, or make another state. To load takes the room out; `out_for` keeps the
    /// same number from doing so again, if the news of the room is not there yet.
    pub(super) fn must_take_out(&mut self, named: u32, fold: &dyn Fold) -> bool {
        let known = self.trial.known(fold);
        let must = !self.rules.knows_enough(named, known);
        if must {
            self.trial.out_for = named;
        }
        must
    }

    /// The same of what the last tick has named, for a build that begins without a state.
    pub(super) fn must_take_out_to_begin(&mut self, fold: &dyn Fold) -> bool {
        self.must_take_out(self.trial.named, fold)
    }

    /// Computes the frame that trails.
    pub(super) fn catch_up(&mut self, fold: &mut dyn Fold, out: &mut Vec<Command>) {
        if let Some(Trailing { at, entries, .. }) = self.trial.trailing.take() {
            fold.frame(at.frame, &entries);
            let own = at.by == self.me;
            out.push(Command::Frame { at, own });
        }
    }

    /// Whether the state is that after the last frame. If that trails, it is tried first.
    pub(super) fn settle(
        &mut self,
        now: Duration,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(trailing) = &mut self.trial.trailing else {
            return true;
        };
        let is_silent = now >= self.ticking.heard_at + self.settings.failover_timeout;
        // An owner that goes on may tick faster than frames are tried.
        let is_outrun = self.trial.outrun >= OUTRUN && !is_silent;
        if is_outrun || !self.rules.tries() {
            self.catch_up(fold, out);
            return true;
        }
        // Nobody is known to have survived the frame, and its owner is silent or leaves: a room in it may have
        // ended that process. It runs in a child first; until `Tried` comes, this node neither ticks nor saves.
        if trailing.phase == Phase::Waits {
            trailing.phase = Phase::Tried;
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
                    out.push(Command::Note(ServerEvent::NotSaved { frame, why }));
                    self.catch_up(fold, out);
                    return true;
                }
            }
        }
        false
    }
}
