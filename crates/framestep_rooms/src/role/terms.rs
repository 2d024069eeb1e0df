//! The input and output of a role: events, commands, settings.

use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Entry, Position};
use crate::event::ServerEvent;

/// The state that a shard's log is folded into.
pub(crate) trait Fold {
    /// Replaces the state: by that of a save, or, without one, by that before the first entry.
    /// After an error, the state is gone.
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String>;
    /// Replaces the state by that without rooms, after a frame. The last one has ended in the entry `ended`.
    fn load_empty(&mut self, frame: u64, ended: u64);
    /// If there is no room: the last entry in which one may have ended. All else must be as after
    /// [`load_empty`](Self::load_empty).
    fn empty(&self) -> Option<u64>;
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
    Note(ServerEvent),
}
