//! The decisions of the protocol, one function each.
//!
//! [`Protocol`] makes them as they are here. The simulator has a second implementation, in which one of
//! them is wrong: it must find that.

use std::fmt::Debug;
use std::time::Duration;

use super::{Command, Fold, Role};
use crate::entry::{Build, Entry, Generation, Position, Tick};
use crate::member::Members;

/// The decisions of the protocol.
pub(crate) trait Rules: Debug + Sized {
    /// The entry that must be the last tick for a tick to be appended. `None`: any.
    fn expected_last(&self, last: u64) -> Option<u64> {
        Some(last)
    }

    /// Whether entry `seq` is the one that follows what was read.
    fn is_next(&self, read: u64, seq: u64) -> bool {
        seq == read + 1
    }

    /// Whether the last frame is read once more after an interruption, and compared.
    fn checks_last_frame(&self) -> bool {
        true
    }

    /// What was read and not applied, when it is read again.
    fn interrupted(&self, queue: &mut Vec<Entry>) {
        queue.clear();
    }

    /// Whether a tick is the next one.
    fn accepts(&self, at: &Position, tick: &Tick) -> bool {
        at.accepts(tick)
    }

    /// Whether `own` replays the frames of a build.
    fn replays(&self, build: Build, own: Build) -> bool {
        build == own
    }

    /// Whether a build may begin at a save.
    fn may_begin(&self, at: &Position, build: Build, generation: Generation) -> bool {
        at.seq == 0 || at.build == build || at.lets(build, generation)
    }

    /// The log has acknowledged a tick of the node: the attempt, and its entry.
    fn acknowledged(
        _: &mut Role<Self>,
        _: Duration,
        _: (u64, u64),
        _: &mut dyn Fold,
        _: &mut Vec<Command>,
    ) {
    }

    /// Whether a tick without an answer is appended once more.
    fn retries(&self) -> bool {
        true
    }

    /// Whether a frame is computed when its tick is read. Otherwise when the next one is.
    fn computes_at_once(&self, is_own: bool) -> bool {
        is_own
    }

    /// Whether a frame that nobody is known to have survived is tried before it is computed.
    fn tries(&self) -> bool {
        true
    }

    /// Whether a node that knows `known` rooms to be out may compute the frame of a tick that names
    /// `named`.
    fn knows_enough(&self, named: u32, known: u32) -> bool {
        named <= known
    }

    /// Whether the shard is to be handed over.
    fn is_superseded(&self, members: &Members, build: Build, shard: u32) -> bool {
        members.is_superseded(build, shard)
    }

    /// Whether a tick says that there is no room, and since when.
    fn empty(&self, fold: &dyn Fold) -> Option<u64> {
        fold.empty()
    }

    /// What is trimmed before a save is stored.
    fn trims_early(&self, _: u64) -> Option<u64> {
        None
    }

    /// What is trimmed once a save is stored: entries before the one that it says is needed.
    fn trims(&self, needed: Option<u64>) -> Option<u64> {
        needed
    }
}

/// The protocol as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Protocol;

impl Rules for Protocol {}
