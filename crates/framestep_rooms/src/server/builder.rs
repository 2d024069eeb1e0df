//! The settings of a server.

use std::sync::Arc;
use std::time::Duration;

use super::{Server, ServerError};
use crate::entry::is_name;
use crate::event::ServerNote;
use crate::live::Kind;
use crate::room::Room;
use crate::shard::{Limits, Place};

/// The settings of a node.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) shards: u32,
    pub(crate) standbys: usize,
    pub(crate) snapshot_interval: Duration,
    pub(crate) spacing: Duration,
    pub(crate) failover_timeout: Duration,
    pub(crate) ticks: u32,
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) watchdog_timeout: Duration,
    pub(crate) probes: bool,
    pub(crate) keeps_log: bool,
    /// Bytes of the answer of an effect at most.
    pub(crate) answer: usize,
}

/// The bytes of an entry beside its input or answer.
const ENVELOPE: usize = 512;

impl Options {
    pub(crate) fn place(&self, shard: u32) -> Place {
        Place {
            shard,
            shards: self.shards,
        }
    }

    /// The bytes of an entry of the log at most.
    pub(crate) fn largest_entry(&self) -> usize {
        self.limits.size.max(self.answer).saturating_add(ENVELOPE)
    }

    /// What rooms are computed with, for people: nodes with other settings are of another build.
    pub(crate) fn of_rooms(&self) -> String {
        let Limits { rooms, size, rate } = self.limits;
        format!(
            "{} ticks a second, inputs of {size} bytes and {rate} a second, {rooms} rooms in a shard",
            self.ticks
        )
    }
}

impl Server {
    /// Adds a kind of room.
    ///
    /// # Panics
    ///
    /// If another kind has the same name.
    #[must_use]
    #[track_caller]
    pub fn room<R: Room>(mut self) -> Self {
        let is_new = self.kinds.iter().all(|kind| kind.name != R::NAME);
        assert!(is_new, "two kinds of rooms are named `{}`", R::NAME);
        self.kinds.push(Kind::of::<R>());
        self.has_effects |= !R::effects().known.is_empty();
        self
    }

    /// Names the node, for messages. `node-` and the number of the process by default.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Names the build. Nodes of one build compute the same frames; another build never replays
    /// them, but begins where the old one hands over. By default a hash of the executable: give a
    /// name if the nodes have different executables of the same code, such as on several
    /// architectures.
    ///
    /// The log notes the order in which builds were first started. A build takes shards from earlier
    /// ones, and never from later ones, however often its nodes restart: it would drop what it does not
    /// know of their state. To go back to it, [`prefer`](crate::prefer) it.
    #[must_use]
    pub fn build_id(mut self, name: impl Into<String>) -> Self {
        self.build = Some(name.into());
        self
    }

    /// How many shards the rooms are distributed to, 8 by default: at least a few for each thread of
    /// all nodes. It cannot change later: rooms would be searched for in the wrong one.
    #[must_use]
    pub fn shards(mut self, shards: u32) -> Self {
        self.options.shards = shards;
        self
    }

    /// How many other nodes follow each shard, 1 by default. With one, rooms go on at once after a
    /// node is lost; without, another node loads the last save first. Each costs as much computing as
    /// the owner.
    #[must_use]
    pub fn standbys(mut self, standbys: usize) -> Self {
        self.options.standbys = standbys;
        self
    }

    /// How often a shard is saved, every 5 s by default: a node that has no state of a shard replays
    /// at most so much.
    #[must_use]
    pub fn snapshot_interval(mut self, period: Duration) -> Self {
        self.options.snapshot_interval = period;
        self
    }

    /// How long a save stays at least, 150 s by default, and the log since then: if a loss of power
    /// takes the tail of the log, there is one before it. NATS writes to the disk every two minutes,
    /// unless it has `sync_interval: always`.
    #[must_use]
    pub fn snapshot_retention(mut self, period: Duration) -> Self {
        self.options.spacing = period;
        self
    }

    /// After how long without a tick a node counts as lost, 300 ms by default. A node that is only
    /// slow loses its shards, and nothing else.
    #[must_use]
    pub fn failover_timeout(mut self, period: Duration) -> Self {
        self.options.failover_timeout = period;
        self
    }

    /// Frames of each room a second, 30 by default.
    #[must_use]
    pub fn ticks_per_second(mut self, ticks: u32) -> Self {
        self.options.ticks = ticks;
        self
    }

    /// Threads that run rooms, one for each core by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Inputs that a player may send to a room in a second, 60 by default. More have no effect.
    ///
    /// What a player does not use is saved for ten seconds, so ten times as many count at once: while a shard stands
    /// still, inputs wait in the log for its next frame. Of a player who sends a tenth of this, those of 100 seconds
    /// count.
    #[must_use]
    pub fn inputs_per_second(mut self, inputs: u32) -> Self {
        self.options.limits.rate = inputs;
        self
    }

    /// Bytes of an input at most, 4 KiB by default. Larger ones have no effect.
    #[must_use]
    pub fn max_input(mut self, bytes: usize) -> Self {
        self.options.limits.size = bytes;
        self
    }

    /// Bytes of the answer of an [effect](crate::Effects) at most, 4 KiB by default. A larger one does not get
    /// into the log.
    #[must_use]
    pub fn max_answer(mut self, bytes: usize) -> Self {
        self.options.answer = bytes;
        self
    }

    /// Rooms of a shard at most, 1,000 by default. More are not opened.
    #[must_use]
    pub fn max_rooms(mut self, rooms: usize) -> Self {
        self.options.limits.rooms = rooms;
        self
    }

    /// After how long a frame of a room counts as hung, 5 s by default. The process ends then, with
    /// a sentence: nothing else ends a loop. Another node finds the room, and does not run it any
    /// more; until then, so long, the other rooms of its shard stand still.
    #[must_use]
    pub fn watchdog_timeout(mut self, period: Duration) -> Self {
        self.options.watchdog_timeout = period;
        self
    }

    /// Whether a frame that may have ended another node is tried in a child process first, as it is by
    /// default. The child is this executable with the same arguments. It ends in [`serve`](Self::serve),
    /// before the log is reached; a node that has learnt the members keeps one ready. What the program does
    /// before `serve` is done in the child, too.
    ///
    /// Without it, a room that ends or hangs its process ends all nodes that run it, again and again.
    /// Turn it off where the program must not be started twice, such as in a test with several nodes.
    #[must_use]
    pub fn probe_frames(mut self, tries: bool) -> Self {
        self.options.probes = tries;
        self
    }

    /// Keeps all of the log, so that each frame can be replayed.
    #[must_use]
    pub fn keep_log(mut self) -> Self {
        self.options.keeps_log = true;
        self
    }

    /// Calls `hook` with what the operator should know: a [`ServerEvent`](crate::ServerEvent) with its node,
    /// shard and room, whose text is a sentence. By default all of it is printed to standard error.
    ///
    /// With the feature `tracing`, all of it is also an event of that, and nothing is printed if there is a
    /// subscriber. With the feature `metrics`, the kinds of events are counted, beside shards, rooms, frames,
    /// inputs and refusals.
    ///
    /// [Warnings](ServerNote::is_warning) are what somebody should look at: a room that is broken, a
    /// script that has panicked, an input that has no effect, a log that does not answer. The other notes
    /// say that the node has joined, which shards it runs, and which nodes come and go.
    ///
    /// A room's notes come from the node that runs it. Each room says each script's panics once, what has
    /// no effect is counted and said once a second, and a log that does not answer is said once. `rooms top` has
    /// the numbers.
    #[must_use]
    pub fn on_note(mut self, hook: impl Fn(&ServerNote) + Send + Sync + 'static) -> Self {
        self.hook = Arc::new(hook);
        self
    }
}

pub(super) fn check(name: &str, kinds: &[Kind], options: &Options) -> Result<(), ServerError> {
    let wrong = |text: &str| Err(ServerError::Settings(text.to_owned()));
    if !is_name(name) {
        return wrong(&format!(
            "`{name}` cannot name a node: use letters, digits, `-` and `_`"
        ));
    }
    if kinds.is_empty() {
        return wrong("the server has no kind of room: call `.room::<R>()`");
    }
    if options.shards == 0 || options.threads == 0 || options.ticks == 0 || options.limits.rate == 0
    {
        return wrong("shards, threads, ticks and inputs a second must be at least 1");
    }
    if options.ticks > 1_000 {
        return wrong("more than 1,000 ticks a second are not possible");
    }
    if options.failover_timeout < Duration::from_millis(20) {
        return wrong("`failover_timeout` must be at least 20 ms");
    }
    if options.watchdog_timeout < Duration::from_millis(20) {
        return wrong(
            "`watchdog_timeout` must be at least 20 ms: each frame that takes as long ends the process",
        );
    }
    if options.snapshot_interval < Duration::from_millis(10) {
        return wrong(
            "`snapshot_interval` must be at least 10 ms: a save is some messages of the log",
        );
    }
    if options.limits.size == 0 || options.limits.rooms == 0 {
        return wrong("`max_input` and `max_rooms` must be at least 1");
    }
    Ok(())
}
