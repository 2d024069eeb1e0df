//! The input and output of a role: events, commands, notes for the operator, settings.

use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Entry, Position};

/// The state that a shard's log is folded into.
pub(crate) trait Fold {
    /// Replaces the state: by that of a save, or, without one, by that before the first entry.
    /// After an error, the state is gone.
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String>;
    /// Replaces the state by that without rooms, after a frame.
    fn load_empty(&mut self, frame: u64);
    /// Whether there is no room.
    fn is_empty(&self) -> bool;
    /// Drops the state.
    fn unload(&mut self);
    /// Computes a frame.
    fn frame(&mut self, frame: u64, entries: &[Entry]);
    /// The hash of the state, or of a part of it: the same part on all nodes.
    fn hash(&mut self) -> u64;
    /// The state as bytes.
    fn save(&mut self) -> Result<Vec<u8>, String>;
    /// How many rooms are known that are not run any more.
    fn out(&self) -> u32;
}

/// The times and numbers of a role.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) step: Duration,
    pub(crate) snapshot_interval: Duration,
    pub(crate) failover_timeout: Duration,
    pub(crate) standbys: usize,
    /// How long an answer may take.
    pub(crate) retry_after: Duration,
}

impl Settings {
    /// How long a node that should run a shard waits before it takes it from a living owner.
    pub(super) fn settle(&self) -> Duration {
        self.failover_timeout * 2
    }

    /// How long an owner that has handed over waits before it goes on itself.
    pub(super) fn hand_over_wait(&self) -> Duration {
        self.failover_timeout * 6
    }

    /// How long ticks that do not fit are void at once, after all since the last frame was read again.
    pub(super) fn suspicion_pause(&self) -> Duration {
        self.failover_timeout * 3
    }

    /// How long it is at least from one note about void ticks to the next.
    pub(super) fn note_pause(&self) -> Duration {
        self.failover_timeout * 3
    }

    /// How long a node that cannot read a save of another build waits before it tries again.
    pub(super) fn try_again_after(&self) -> Duration {
        self.failover_timeout * 32
    }
}

/// What a node has read of the saves of a shard.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) save: Option<(Position, Arc<[u8]>)>,
    /// The first entry that the log still has.
    pub(crate) first: u64,
    /// Why the save must not be loaded, if it is known.
    pub(crate) unread: Option<String>,
}

/// What has happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The answer to [`Command::Load`].
    Loaded(Loaded),
    LoadFailed,
    /// The next entry. Since [`Command::Follow`] all, in order.
    Read(Entry),
    /// There are no more entries at this moment.
    Idle,
    /// The log could not be read, or the connection was interrupted.
    Broken,
    /// The answers to [`Command::Append`].
    Appended {
        attempt: u64,
        seq: u64,
    },
    Refused {
        attempt: u64,
    },
    Lost {
        attempt: u64,
    },
    /// The answer to [`Command::Save`] at an entry: it is stored, or there is a newer one.
    Saved {
        at: u64,
        /// Entries before this one are not needed for any save.
        needed: Option<u64>,
        /// The entry of the newest save.
        newest: u64,
    },
    SaveFailed {
        at: u64,
    },
    /// The answer to [`Command::Try`] at an entry: the frame can be computed.
    Tried {
        at: u64,
    },
    /// Time has passed, or members have changed.
    Time,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Read the newest save whose tick is before this entry.
    Load { before: Option<u64> },
    /// Read the log from this entry on; all reading so far ends.
    Follow { from: u64 },
    /// Append a tick, if the last tick in the log is entry `after`.
    Append {
        attempt: u64,
        after: Option<u64>,
        body: Arc<[u8]>,
    },
    /// Store a save. Saves of this entry or later ones are not of this log, and may be replaced.
    Save {
        at: Position,
        state: Vec<u8>,
        not_of_this_log: Option<u64>,
    },
    /// Entries before this one are not needed any more.
    Trim { before: u64 },
    /// A frame was computed. `own`: this node has ticked.
    Frame { at: Position, own: bool },
    /// Nobody is known to have survived this frame, and this node is to go on after it: find out, from
    /// the state before it, whether a room ends or hangs its process in it.
    Try {
        at: Position,
        state: Vec<u8>,
        entries: Vec<Entry>,
    },
    /// The state was replaced by another one.
    Began,
    /// The state was dropped; stop reading.
    Unload,
    /// Something for the operator.
    Note(Note),
}

/// What an operator should know about a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The log does not have the tick any more at which this node is: it was cut back, such as by a
    /// loss of power. The node begins again from a save.
    LogWasCut {
        /// The frame of the node.
        frame: u64,
    },
    /// The log has another hash of the state after this frame than this node: scripts depend on what
    /// is not recorded, or nodes of one build differ.
    Differs {
        /// The frame.
        frame: u64,
        /// The node whose tick has the other hash.
        ticked_by: String,
    },
    /// Ticks do not fit the log. They have no effect.
    VoidTicks {
        /// How many, since this was noted last.
        count: u64,
        /// The entry of the last one.
        last: u64,
    },
    /// No save fits the log, and the log does not begin at its first entry.
    NoSave {
        /// The first entry of the log.
        first: u64,
    },
    /// A save could not be read.
    BadSave {
        /// Its frame.
        frame: u64,
        /// Why not.
        why: String,
    },
    /// The state could not be saved.
    NotSaved {
        /// The frame.
        frame: u64,
        /// Why not.
        why: String,
    },
    /// This build cannot read the save of another one: the shard stays with that.
    CannotBegin {
        /// The frame of the save.
        frame: u64,
        /// The build that has written it.
        build: u64,
        /// Why not.
        why: String,
    },
    /// A node of a later build cannot read the save of this shard, which stays here.
    NotOffered {
        /// The node.
        node: String,
        /// Its build.
        build: u64,
    },
    /// The shard is at frames of another build, no node of which runs, so it stands still. Start one:
    /// it catches up, and hands over.
    StandsStill {
        /// The last frame known of that build.
        frame: u64,
        /// The build.
        build: u64,
        /// Whether the build has handed over. Then this one is an earlier build.
        is_handed_over: bool,
        /// This build.
        own: u64,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::LogWasCut { frame } => write!(
                f,
                "the log does not have the tick of frame {frame} any more: it was cut back. This \
                 node begins again from a save"
            ),
            Note::Differs { frame, ticked_by } => write!(
                f,
                "after frame {frame}, the state differs from that of {ticked_by}: a room depends on \
                 what is not recorded"
            ),
            Note::VoidTicks { count: 1, last } => write!(
                f,
                "the tick in entry {last} does not fit the log: it has no effect"
            ),
            Note::VoidTicks { count, last } => write!(
                f,
                "{count} ticks do not fit the log, the last in entry {last}: they have no effect"
            ),
            Note::NoSave { first } => write!(
                f,
                "no save fits the log, which begins with entry {first}: the shard cannot be loaded"
            ),
            Note::BadSave { frame, why } => {
                write!(f, "the save of frame {frame} cannot be read: {why}")
            }
            Note::NotSaved { frame, why } => write!(f, "frame {frame} cannot be saved: {why}"),
            Note::CannotBegin { frame, build, why } => write!(
                f,
                "this build cannot read the save of frame {frame} of build {build:x}, so the shard stays \
                 with that: {why}"
            ),
            Note::NotOffered { node, build } => write!(
                f,
                "{node} of build {build:x} cannot read the save of this shard, and says why. The shard \
                 stays with this build"
            ),
            Note::StandsStill {
                frame,
                build,
                is_handed_over: true,
                own,
            } => write!(
                f,
                "the shard stands still: frame {frame} was run by build {build:x}, and this build is an \
                 earlier one, which may drop what it does not know. Start a node of that build or of a \
                 later one, or go back to this one: `top --prefer {own:x}`"
            ),
            Note::StandsStill { frame, build, .. } => write!(
                f,
                "the shard stands still: frame {frame} was run by build {build:x}, only that may go on, \
                 and no node of it runs. Start one: it catches up, and hands over"
            ),
        }
    }
}
