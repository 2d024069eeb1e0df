//! What an oracle prints.

use serde::{Deserialize, Serialize};

/// Limits of milliseconds between two frames in the histogram; the last column has all above.
pub(crate) const GAPS: [u64; 9] = [40, 60, 100, 200, 300, 400, 600, 1_000, 3_000];

/// What the oracle says a few times in a second. Numbers count from the beginning.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// Frames of shards whose hash was compared.
    pub(crate) frames: u64,
    /// Frames of rooms in these hashes.
    pub(crate) room_frames: u64,
    /// Hashes that were different.
    pub(crate) different: u64,
    /// Ticks without effect.
    pub(crate) void: u64,
    /// Inputs that were applied.
    pub(crate) inputs: u64,
    /// Inputs that were in the log again, and had no effect.
    pub(crate) again: u64,
    /// Broken rooms.
    pub(crate) broken: u64,
    /// The node that ticks, of each shard.
    pub(crate) owners: Vec<String>,
    /// The last frame of each shard.
    pub(crate) last: Vec<u64>,
    /// The build of each shard.
    pub(crate) builds: Vec<u8>,
    /// How many gaps are in each column of [`GAPS`].
    pub(crate) gaps: Vec<u64>,
    /// The last entry computed of each shard, 0 of those that another oracle has.
    pub(crate) seqs: Vec<u64>,
    /// The rooms of each shard.
    pub(crate) rooms: Vec<Vec<String>>,
    /// What has happened since the last beat.
    pub(crate) moves: Vec<Move>,
}

impl Beat {
    /// Adds what the oracle of another build says. Each shard is with one of them.
    pub(crate) fn add(&mut self, other: &Beat) {
        self.frames += other.frames;
        self.room_frames += other.room_frames;
        self.different += other.different;
        self.void += other.void;
        self.inputs += other.inputs;
        self.again += other.again;
        self.broken += other.broken;
        for (column, more) in self.gaps.iter_mut().zip(&other.gaps) {
            *column += more;
        }
        for (shard, seq) in other.seqs.iter().enumerate() {
            if *seq > self.seqs[shard] {
                self.seqs[shard] = *seq;
                self.owners[shard].clone_from(&other.owners[shard]);
                self.last[shard] = other.last[shard];
                self.builds[shard] = other.builds[shard];
                self.rooms[shard].clone_from(&other.rooms[shard]);
            }
        }
        self.moves.extend(other.moves.iter().cloned());
    }
}

/// A long gap, or another owner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Move {
    pub(crate) shard: u32,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) frame: u64,
    /// Milliseconds since the frame before, by the clock of the log.
    pub(crate) gap: f64,
    /// When the frame was, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// The end of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// Inputs that the log has acknowledged.
    pub(crate) acknowledged: u64,
    /// Of them, those that were not applied.
    pub(crate) lost: u64,
    /// Inputs that were applied more than once.
    pub(crate) doubled: u64,
    /// Of those acknowledged, inputs to rooms that a bug has broken.
    pub(crate) to_broken: u64,
    /// Heroes whose own count is not that of the inputs applied.
    pub(crate) counts_differ: u64,
    pub(crate) beat: Beat,
    /// Sentences about what was wrong.
    pub(crate) wrong: Vec<String>,
}

impl Verdict {
    /// Adds that of another oracle.
    pub(crate) fn add(&mut self, other: Verdict) {
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.to_broken += other.to_broken;
        self.counts_differ += other.counts_differ;
        self.beat.add(&other.beat);
        self.wrong.extend(other.wrong);
    }
}

/// What the oracle prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Said {
    Beat(Box<Beat>),
    Verdict(Box<Verdict>),
}

/// A line of the ledger of the players: what was acknowledged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    pub(crate) shard: u32,
    pub(crate) seq: u64,
    pub(crate) room: String,
    pub(crate) player: String,
    pub(crate) id: u64,
}
