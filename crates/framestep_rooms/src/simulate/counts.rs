//! What histories have met, and what was broken.

use std::fmt;

/// What happened in histories.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Histories.
    pub histories: u64,
    /// Steps of all nodes, the log, the network and the players.
    pub steps: u64,
    /// Frames in the logs.
    pub frames: u64,
    /// Frames that nodes computed, each compared with the oracle.
    pub compared: u64,
    /// Inputs that the logs acknowledged.
    pub inputs: u64,
    /// Nodes that were killed.
    pub kills: u64,
    /// Nodes that were paused.
    pub pauses: u64,
    /// Nodes that were cut off from the log or from each other.
    pub partitions: u64,
    /// Nodes that were drained.
    pub drains: u64,
    /// Nodes that were started with another build.
    pub upgrades: u64,
    /// Logs that lost their last entries.
    pub cuts: u64,
    /// Messages and answers that were lost.
    pub lost: u64,
    /// Messages that arrived twice.
    pub doubled: u64,
    /// Ticks that were refused.
    pub refused: u64,
    /// Ticks without effect.
    pub void: u64,
    /// Changes of owners.
    pub moves: u64,
    /// Logs that lost so much that no save fits them.
    pub unrecoverable: u64,
    /// Nodes that were ended by an input.
    pub killed: u64,
    /// Nodes that could not read the save of another build.
    pub unread: u64,
    /// Messages that reached a server of the log that was cut off from the others.
    pub astray: u64,
    /// New sessions of players, with any numbers.
    pub sessions: u64,
    /// Inputs without effect, since the room may have forgotten their players, or was opened after they were made.
    pub late: u64,
    /// Openings without effect, since a room was over after they were made.
    pub late_openings: u64,
    /// Orders to close a room that came when another one had its name.
    pub late_closes: u64,
    /// Rooms that the operator has closed.
    pub closed: u64,
    /// Orders to go back to an earlier build.
    pub orders: u64,
    /// Starts of nodes of a build before the newest one.
    pub old_starts: u64,
    /// Frames of a build that began where there was no room.
    pub begun_empty: u64,
}

impl Counts {
    /// Adds those of other histories.
    pub fn add(&mut self, other: &Counts) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.frames += other.frames;
        self.compared += other.compared;
        self.inputs += other.inputs;
        self.kills += other.kills;
        self.pauses += other.pauses;
        self.partitions += other.partitions;
        self.drains += other.drains;
        self.upgrades += other.upgrades;
        self.cuts += other.cuts;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.refused += other.refused;
        self.void += other.void;
        self.moves += other.moves;
        self.unrecoverable += other.unrecoverable;
        self.killed += other.killed;
        self.unread += other.unread;
        self.astray += other.astray;
        self.sessions += other.sessions;
        self.late += other.late;
        self.late_openings += other.late_openings;
        self.late_closes += other.late_closes;
        self.closed += other.closed;
        self.orders += other.orders;
        self.old_starts += other.old_starts;
        self.begun_empty += other.begun_empty;
    }
}

/// A history in which a promise was broken.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The seed of the history.
    pub seed: u64,
    /// The promise, and how it was broken.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "history {}: {}", self.seed, self.why)
    }
}
