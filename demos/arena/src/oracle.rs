//! A process that only reads the log, and computes all rooms from the first entry on. It restores
//! nothing that a server has saved, and has no code in common with the servers but the game itself.
//!
//! If there are two builds, each has its oracle, which computes only frames of its own build. Where
//! the log says that another build goes on, one oracle passes the shard to the other, in a file.
//!
//! Each tick in the log has a hash of the state that its node had. If a node was in another state in
//! any frame, or has skipped one, or run one twice, then this process notices it. It counts how
//! often each input was applied.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::{self, Context};
use framestep_durable::{RequestId, Runtime, SaveState};
use framestep_rooms::{Player, Room};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::game::{self, BUILD, Input};
use crate::nats;
use crate::node::{TICKS, build_name};
use crate::scripts::Purchase;
use crate::state::Arena;

/// Limits of milliseconds between two frames in the histogram; the last column has all above.
pub(crate) const GAPS: [u64; 9] = [40, 60, 100, 200, 300, 400, 600, 1_000, 3_000];
/// Longer gaps are reported one by one.
const LONG: Duration = Duration::from_millis(100);
/// Inputs of a player to a room in a second: the limit of the servers.
const RATE: u64 = 60;

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

/// The hash of the protocol.
struct Sum(u64);

impl Sum {
    fn new() -> Self {
        Sum(0x51AF_6D11_93C2_E8B5)
    }

    fn add(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0xA24B_AED4_963E_E407);
        self.0 = mixed ^ mixed >> 29;
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn end(mut self) -> u64 {
        self.add(0);
        self.add(0);
        self.0
    }

    fn of(bytes: &[u8]) -> u64 {
        let mut sum = Sum::new();
        sum.add_bytes(bytes);
        sum.end()
    }
}

/// The number of a build: that of its name, and what rooms are computed with, as the notes of a node say it.
pub(crate) fn build_number(build: u8) -> u64 {
    let settings = format!(
        "{TICKS} ticks a second, inputs of 4096 bytes and 60 a second, 1000 rooms in a shard"
    );
    let mut sum = Sum::new();
    sum.add(Sum::of(build_name(build).as_bytes()));
    sum.add_bytes(settings.as_bytes());
    sum.end()
}

/// An entry of a shard's log.
#[derive(Debug)]
struct Entry {
    seq: u64,
    /// The end of the subject.
    subject: String,
    body: Vec<u8>,
    /// Nanoseconds since 1970, by the clock of the log.
    at: i128,
}

#[derive(Deserialize)]
struct Tick {
    format: u8,
    frame: u64,
    by: String,
    build: u64,
    generation: u64,
    before: u64,
    state: u64,
    hands_over: bool,
    #[serde(rename = "out")]
    _out: u32,
    empty: Option<u64>,
}

#[derive(Deserialize)]
struct Answer {
    opened: u64,
    number: u64,
    #[serde(rename = "answer")]
    content: Vec<u8>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Sender {
    /// The numbers of each session.
    used: HashMap<u64, std::collections::HashSet<u64>>,
    frame: u64,
    budget: u64,
    /// How often each input was applied.
    applied: HashMap<u64, u32>,
}

/// A shard that one oracle passes to that of another build.
#[derive(Serialize, Deserialize)]
struct Baton {
    rooms: Vec<PassedRoom>,
    seq: u64,
    frame: u64,
    chain: u64,
    build: u64,
    generation: u64,
    by: String,
    at: i128,
}

/// A room of it: name, entry that opened it, players, save.
type PassedRoom = (String, u64, HashMap<Player, Sender>, Option<Vec<u8>>);

fn baton_file(folder: &Path, shard: u32, build: u8) -> PathBuf {
    folder.join(format!("baton-{shard}-to-{build}"))
}

struct Live {
    runtime: Runtime,
    arena: Arena,
    /// Questions to the outside, by number.
    asked: BTreeMap<u64, RequestId<Purchase>>,
}

struct OneRoom {
    opened: u64,
    senders: HashMap<Player, Sender>,
    /// `None` after a panic.
    live: Option<Live>,
}

impl OneRoom {
    /// Calls `f`. A panic breaks the room.
    fn with<T>(&mut self, f: impl FnOnce(&mut Live) -> T) -> Option<T> {
        let live = self.live.as_mut()?;
        if let Ok(value) = catch_unwind(AssertUnwindSafe(|| f(live))) {
            return Some(value);
        }
        self.live = None;
        None
    }

    fn input(&mut self, player: Player, entry: &Entry, frame: u64, beat: &mut Beat) {
        #[derive(Deserialize)]
        struct Text<'a> {
            s: u64,
            n: u64,
            a: u64,
            #[serde(borrow)]
            i: &'a RawValue,
        }
        if self.live.is_none() {
            return;
        }
        let (session, number, after, input) = match &entry.body[..] {
            [2, rest @ ..] if rest.len() >= 24 => {
                let word = |from: usize| {
                    u64::from_le_bytes(rest[from..from + 8].try_into().unwrap_or_default())
                };
                (word(0), word(8), word(16), &rest[24..])
            }
            body => match serde_json::from_slice::<Text<'_>>(body) {
                Ok(text) => (text.s, text.n, text.a, text.i.get().as_bytes()),
                Err(_) => return,
            },
        };
        let sender = self
            .senders
            .entry(player.clone())
            .or_insert_with(|| Sender {
                budget: RATE * 1_000,
                frame,
                ..Sender::default()
            });
        let earned = (frame - sender.frame) * RATE * 1_000 / u64::from(TICKS);
        sender.budget = (sender.budget + earned).min(RATE * 1_000);
        sender.frame = frame;
        if sender.budget < 1_000 {
            return;
        }
        // It was made for a room before this one, or names what is not before it.
        if after < self.opened || after >= entry.seq {
            return;
        }
        if number == 0 || !sender.used.entry(session).or_default().insert(number) {
            beat.again += 1;
            return;
        }
        sender.budget -= 1_000;
        let Ok(input) = serde_json::from_slice::<Input>(input) else {
            return;
        };
        *sender.applied.entry(input.id).or_default() += 1;
        beat.inputs += 1;
        self.with(|live| live.arena.input(&live.runtime, player, input));
    }

    fn answer(&mut self, answer: &Answer) {
        if answer.opened != self.opened {
            return;
        }
        self.with(|live| {
            for (id, _) in live.runtime.requests::<Purchase>() {
                live.asked.insert(id.number(), id);
            }
            let id = live.asked.remove(&answer.number);
            if let (Some(id), Ok(is_paid)) = (id, postcard::from_bytes(&answer.content)) {
                live.runtime.answer(id, &is_paid);
            }
        });
    }

    fn sum(&mut self) -> u64 {
        self.with(|live| {
            live.runtime
                .save_state()
                .map_or(0, |save| save.checksum_with(&live.arena))
        })
        .unwrap_or(0)
    }
}

/// A shard, as the log has it.
struct Shard {
    number: u32,
    step: Duration,
    rooms: BTreeMap<String, OneRoom>,
    queue: Vec<Entry>,
    read: u64,
    /// The last tick: its entry, frame, chain, build with its generation, whether it hands over, whether
    /// there is no room, node, time.
    seq: u64,
    frame: u64,
    chain: u64,
    build: u64,
    generation: u64,
    hands_over: bool,
    is_empty: bool,
    by: String,
    at: i128,
}

impl Shard {
    fn new(number: u32) -> Self {
        Shard {
            number,
            step: Duration::from_nanos(1_000_000_000 / u64::from(TICKS)),
            rooms: BTreeMap::new(),
            queue: Vec::new(),
            read: 0,
            seq: 0,
            frame: 0,
            chain: 0,
            build: 0,
            generation: 0,
            hands_over: false,
            is_empty: true,
            by: String::new(),
            at: 0,
        }
    }

    /// The hash of the rooms that are compared after this frame, every fourth, and how many they are.
    fn sum(&mut self) -> (u64, u64) {
        let mut sum = Sum::new();
        sum.add(self.frame);
        let mut count = 0;
        for (name, room) in &mut self.rooms {
            if (room.opened + self.frame).is_multiple_of(4) {
                sum.add_bytes(name.as_bytes());
                sum.add(room.opened);
                sum.add(room.sum());
                count += 1;
            }
        }
        (sum.end(), count)
    }

    /// The shard up to the last tick, for the oracle of another build.
    fn to_baton(&self) -> Result<Baton, String> {
        let room = |(name, room): (&String, &OneRoom)| {
            let live = room.live.as_ref().map(|live| {
                let save = live.runtime.save_state();
                save.map(|save| save.to_bytes_with(&live.arena))
            });
            let live = live.transpose().map_err(|error| error.to_string())?;
            Ok((name.clone(), room.opened, room.senders.clone(), live))
        };
        Ok(Baton {
            rooms: self.rooms.iter().map(room).collect::<Result<_, String>>()?,
            seq: self.seq,
            frame: self.frame,
            chain: self.chain,
            build: self.build,
            generation: self.generation,
            by: self.by.clone(),
            at: self.at,
        })
    }

    fn of_baton(number: u32, baton: Baton) -> Result<Self, String> {
        let mut shard = Shard {
            read: baton.seq,
            seq: baton.seq,
            frame: baton.frame,
            chain: baton.chain,
            build: baton.build,
            generation: baton.generation,
            hands_over: true,
            by: baton.by,
            at: baton.at,
            ..Shard::new(number)
        };
        for (name, opened, senders, live) in baton.rooms {
            let live = live.map(|bytes| {
                let (save, arena) = SaveState::from_bytes_with::<Arena>(&bytes)
                    .map_err(|error| error.to_string())?;
                let mut runtime = Runtime::new(Arena::registry());
                let restored = runtime.restore(&save, Arena::CHANGED);
                restored.map_err(|error| error.to_string())?;
                Ok::<Live, String>(Live {
                    runtime,
                    arena,
                    asked: BTreeMap::new(),
                })
            });
            let room = OneRoom {
                opened,
                senders,
                live: live.transpose()?,
            };
            shard.rooms.insert(name, room);
        }
        Ok(shard)
    }

    /// Reads an entry. Returns the build that goes on, if it is another one.
    fn read(&mut self, entry: Entry, seen: &mut Seen) -> Option<u8> {
        self.read = entry.seq;
        let is_tick = entry.subject == "tick";
        let tick = match postcard::take_from_bytes::<Tick>(&entry.body) {
            Ok((tick, [])) => Some(tick),
            _ => None,
        };
        self.queue.push(entry);
        if !is_tick {
            return None;
        }
        let accepts = |tick: &Tick| {
            let is_later = (tick.generation, tick.build) > (self.generation, self.build);
            tick.format == 5
                && tick.before == self.chain
                && tick.frame == self.frame + 1
                && (self.hands_over && is_later || self.is_empty || tick.build == self.build)
        };
        let Some(tick) = tick.filter(accepts) else {
            seen.beat.void += 1;
            return None;
        };
        let build = seen.builds.iter().position(|build| *build == tick.build);
        let build = build.map_or(0, |at| u8::try_from(at + 1).unwrap_or(0));
        if build != BUILD {
            return Some(build);
        }
        self.compare(&tick, seen);
        let entries = std::mem::take(&mut self.queue);
        let mut chain = Sum::new();
        chain.add(self.chain);
        for entry in &entries {
            chain.add(entry.seq);
            chain.add_bytes(entry.subject.as_bytes());
            chain.add_bytes(&entry.body);
        }
        self.chain = chain.end();
        self.frame = tick.frame;
        for entry in &entries {
            self.apply(entry, seen);
        }
        let step = self.step;
        for room in self.rooms.values_mut() {
            room.with(|live| live.runtime.run_frame_with(&mut live.arena, step));
        }
        self.measure(&tick, entries.last(), seen);
        seen.note(self, &tick);
        let opens_none = entries.iter().all(|entry| entry.subject == "tick");
        self.is_empty = tick.empty.is_some() && opens_none;
        // Nodes of one build learn its generation one after the other.
        let known = if tick.build == self.build {
            self.generation
        } else {
            0
        };
        self.generation = known.max(tick.generation);
        (self.build, self.hands_over, self.by) = (tick.build, tick.hands_over, tick.by);
        None
    }

    /// Compares the state before the frame of a tick with that of its node.
    fn compare(&mut self, tick: &Tick, seen: &mut Seen) {
        let (sum, rooms) = self.sum();
        if self.seq > 0 && sum != tick.state {
            seen.beat.different += 1;
            seen.wrong(format!(
                "shard {}: after frame {}, {} had {:016x}, and the log says {sum:016x}",
                self.number, self.frame, tick.by, tick.state
            ));
        }
        seen.beat.frames += 1;
        seen.beat.room_frames += rooms;
    }

    fn apply(&mut self, entry: &Entry, seen: &mut Seen) {
        let mut parts = entry.subject.split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("open"), Some(name), None, None) if !self.rooms.contains_key(name) => {
                #[derive(Deserialize)]
                struct Open {
                    kind: String,
                    args: u64,
                }
                let open = serde_json::from_slice::<Open>(&entry.body);
                let Some(open) = open.ok().filter(|open| open.kind == Arena::NAME) else {
                    return;
                };
                let runtime = Runtime::new(Arena::registry());
                let arena = Arena::open(&runtime, open.args);
                let live = Some(Live {
                    runtime,
                    arena,
                    asked: BTreeMap::new(),
                });
                let room = OneRoom {
                    opened: entry.seq,
                    senders: HashMap::new(),
                    live,
                };
                self.rooms.insert(name.to_owned(), room);
            }
            (Some("room"), Some(name), Some(player), None) => {
                if let (Some(room), Some(player)) = (self.rooms.get_mut(name), Player::new(player))
                {
                    room.input(player, entry, self.frame, &mut seen.beat);
                }
            }
            (Some("answer"), Some(name), None, None) => {
                let answer = postcard::from_bytes::<Answer>(&entry.body);
                if let (Some(room), Ok(answer)) = (self.rooms.get_mut(name), answer) {
                    room.answer(&answer);
                }
            }
            _ => {}
        }
    }

    fn measure(&mut self, tick: &Tick, entry: Option<&Entry>, seen: &mut Seen) {
        let Some(entry) = entry else {
            return;
        };
        self.seq = entry.seq;
        let before = std::mem::replace(&mut self.at, entry.at);
        if before == 0 {
            return;
        }
        let gap = Duration::from_nanos(u64::try_from(entry.at - before).unwrap_or(0));
        let column = GAPS
            .iter()
            .position(|limit| gap < Duration::from_millis(*limit))
            .unwrap_or(GAPS.len());
        seen.beat.gaps[column] += 1;
        if gap > LONG || tick.by != self.by {
            seen.beat.moves.push(Move {
                shard: self.number,
                from: node_of(&self.by).to_owned(),
                to: node_of(&tick.by).to_owned(),
                frame: tick.frame,
                gap: gap.as_secs_f64() * 1e3,
                at: u64::try_from(entry.at / 1_000_000).unwrap_or(0),
            });
        }
    }
}

/// The name of a node, without its start.
fn node_of(by: &str) -> &str {
    by.split('.').next().unwrap_or(by)
}

/// What the oracle has seen.
struct Seen {
    beat: Beat,
    wrong: Vec<String>,
    /// The builds, by number.
    builds: Vec<u64>,
}

impl Seen {
    fn wrong(&mut self, text: String) {
        if self.wrong.len() < 20 {
            self.wrong.push(text);
        }
    }

    fn note(&mut self, shard: &Shard, tick: &Tick) {
        let at = shard.number as usize;
        node_of(&tick.by).clone_into(&mut self.beat.owners[at]);
        self.beat.last[at] = tick.frame;
        self.beat.builds[at] = BUILD;
        self.beat.seqs[at] = shard.seq;
        if self.beat.rooms[at].len() != shard.rooms.len() {
            self.beat.rooms[at] = shard.rooms.keys().cloned().collect();
        }
    }
}

/// The shards that this oracle has, and what it reads of them.
struct Hands {
    folder: PathBuf,
    context: Context,
    shards: Vec<Option<Hand>>,
    sender: mpsc::Sender<(u32, u32, Entry)>,
    /// How many shards were taken so far.
    taken: u32,
}

struct Hand {
    shard: Shard,
    reader: tokio::task::AbortHandle,
    /// Entries of other readers are of an earlier time.
    number: u32,
}

impl Hands {
    fn take(&mut self, shard: Shard) {
        self.taken += 1;
        let reading = read(
            self.context.clone(),
            shard.number,
            shard.read,
            self.taken,
            self.sender.clone(),
        );
        let at = shard.number as usize;
        self.shards[at] = Some(Hand {
            shard,
            reader: tokio::task::spawn_local(reading).abort_handle(),
            number: self.taken,
        });
    }

    /// Takes what the oracle of another build has passed.
    fn take_batons(&mut self) -> Result<(), String> {
        for shard in 0..u32::try_from(self.shards.len()).unwrap_or(0) {
            let file = baton_file(&self.folder, shard, BUILD);
            if let Ok(bytes) = std::fs::read(&file) {
                let baton = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
                self.take(Shard::of_baton(shard, baton)?);
                std::fs::remove_file(&file).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, at: u32, number: u32, entry: Entry, seen: &mut Seen) -> Result<(), String> {
        let Some(hand) = self.shards[at as usize]
            .as_mut()
            .filter(|hand| hand.number == number)
        else {
            return Ok(());
        };
        let shard = &mut hand.shard;
        if entry.seq != shard.read + 1 {
            seen.wrong(format!(
                "shard {at}: entry {} is missing in the log",
                shard.read + 1
            ));
        }
        if let Some(build) = shard.read(entry, seen) {
            let baton = postcard::to_stdvec(&shard.to_baton()?);
            let file = baton_file(&self.folder, at, build);
            let part = file.with_extension("part");
            std::fs::write(&part, baton.map_err(|error| error.to_string())?)
                .and_then(|()| std::fs::rename(&part, &file))
                .map_err(|error| format!("{}: {error}", file.display()))?;
            hand.reader.abort();
            self.shards[at as usize] = None;
            seen.beat.seqs[at as usize] = 0;
        }
        Ok(())
    }

    fn all(&mut self) -> Vec<&mut Shard> {
        let hands = self.shards.iter_mut().flatten();
        hands.map(|hand| &mut hand.shard).collect()
    }
}

/// Reads until standard input names a ledger, then prints the verdict on the shards that it has.
pub(crate) async fn run(url: &str, shards: u32, folder: &Path) -> Result<(), String> {
    game::defuse();
    // The bugs of the game are expected here.
    std::panic::set_hook(Box::new(|_| {}));
    let context = jetstream::new(nats::connect(url).await?);
    let (sender, mut entries) = mpsc::channel(64);
    let count = shards as usize;
    let mut seen = Seen {
        beat: Beat {
            owners: vec![String::new(); count],
            last: vec![0; count],
            builds: vec![0; count],
            seqs: vec![0; count],
            gaps: vec![0; GAPS.len() + 1],
            rooms: vec![Vec::new(); count],
            ..Beat::default()
        },
        wrong: Vec::new(),
        builds: (1..=2).map(build_number).collect(),
    };
    let mut hands = Hands {
        folder: folder.to_owned(),
        context,
        shards: (0..shards).map(|_| None).collect(),
        sender,
        taken: 0,
    };
    if BUILD == 1 {
        (0..shards).for_each(|shard| hands.take(Shard::new(shard)));
    }
    let mut beats = interval(Duration::from_millis(200));
    // They are the time of this process: none are made up for a while in which it did not run.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let ledger = loop {
        tokio::select! {
            Some((shard, number, entry)) = entries.recv() => {
                hands.hear(shard, number, entry, &mut seen)?;
            }
            _ = beats.tick() => {
                hands.take_batons()?;
                beat(&hands.all(), &mut seen)?;
            }
            line = input.next_line() => match line {
                Ok(Some(path)) => break read_ledger(Path::new(&path))?,
                // The process that has started this one is gone.
                _ => return Ok(()),
            },
        }
    };
    // Those of other shards are for another oracle.
    let ledger: Vec<Acknowledged> = ledger
        .into_iter()
        .filter(|line| hands.shards[line.shard as usize].is_some())
        .collect();
    let verdict = verdict(hands.all(), &ledger, seen);
    say(&Said::Verdict(Box::new(verdict)))
}

fn beat(all: &[&mut Shard], seen: &mut Seen) -> Result<(), String> {
    let rooms = all.iter().flat_map(|shard| shard.rooms.values());
    seen.beat.broken = rooms.filter(|room| room.live.is_none()).count() as u64;
    say(&Said::Beat(Box::new(seen.beat.clone())))?;
    seen.beat.moves.clear();
    Ok(())
}

fn say(said: &Said) -> Result<(), String> {
    let text = serde_json::to_string(said).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())
}

fn read_ledger(path: &Path) -> Result<Vec<Acknowledged>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{line}: {error}")));
    lines.collect()
}

fn verdict(all: Vec<&mut Shard>, ledger: &[Acknowledged], mut seen: Seen) -> Verdict {
    let mut all: BTreeMap<u32, &mut Shard> =
        all.into_iter().map(|shard| (shard.number, shard)).collect();
    let mut verdict = Verdict {
        acknowledged: ledger.len() as u64,
        ..Verdict::default()
    };
    for line in ledger {
        let room = all
            .get(&line.shard)
            .and_then(|shard| shard.rooms.get(&line.room));
        let player = Player::new(&line.player);
        let sender = room
            .zip(player)
            .and_then(|(room, player)| room.senders.get(&player));
        let count = sender
            .and_then(|sender| sender.applied.get(&line.id))
            .copied()
            .unwrap_or(0);
        if count > 0 {
            continue;
        }
        if room.is_some_and(|room| room.live.is_none()) {
            verdict.to_broken += 1;
        } else {
            verdict.lost += 1;
            seen.wrong(format!("lost: {line:?}"));
        }
    }
    for (name, room) in all.values_mut().flat_map(|shard| &mut shard.rooms) {
        for (player, sender) in &room.senders {
            let doubled = sender.applied.iter().filter(|(_, count)| **count > 1);
            for (id, count) in doubled {
                verdict.doubled += 1;
                seen.wrong(format!(
                    "applied {count} times: input {id} of {player} in {name}"
                ));
            }
            let Some(live) = &mut room.live else {
                continue;
            };
            let counted = live.arena.hero(player).inputs;
            if counted != sender.applied.len() as u64 {
                verdict.counts_differ += 1;
                seen.wrong(format!(
                    "{player} in {name} has {counted} inputs, and the log {}",
                    sender.applied.len()
                ));
            }
        }
    }
    verdict.wrong = seen.wrong;
    verdict.beat = seen.beat;
    verdict
}

/// Reads the log of a shard, and reads anew whenever that breaks.
async fn read(
    context: Context,
    shard: u32,
    mut last: u64,
    number: u32,
    sender: mpsc::Sender<(u32, u32, Entry)>,
) {
    loop {
        // Why it has broken does not matter: the next entries are in the log.
        let _ = read_on(&context, shard, &mut last, number, &sender).await;
        if sender.is_closed() {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

async fn read_on(
    context: &Context,
    shard: u32,
    last: &mut u64,
    number: u32,
    sender: &mpsc::Sender<(u32, u32, Entry)>,
) -> Result<(), Box<dyn std::error::Error>> {
    let limit = Duration::from_secs(3);
    let config = pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: *last + 1,
        },
        ack_policy: AckPolicy::None,
        inactive_threshold: Duration::from_secs(10),
        ..pull::Config::default()
    };
    let consumer = timeout(
        limit,
        context.create_consumer_on_stream(config, format!("LOG_{shard}")),
    )
    .await??;
    let messages = consumer
        .stream()
        .heartbeat(Duration::from_millis(500))
        .expires(Duration::from_secs(5));
    let mut messages = timeout(limit, messages.messages()).await??;
    while let Some(message) = timeout(Duration::from_secs(10), messages.next()).await? {
        let message = message?;
        let info = message.info().map_err(|error| error.to_string())?;
        let entry = Entry {
            seq: info.stream_sequence,
            subject: message
                .subject
                .splitn(3, '.')
                .nth(2)
                .unwrap_or_default()
                .to_owned(),
            body: message.payload.to_vec(),
            at: info.published.unix_timestamp_nanos(),
        };
        if entry.seq <= *last {
            continue;
        }
        if entry.seq != *last + 1 && *last > 0 {
            return Err("an entry has not arrived".into());
        }
        *last = entry.seq;
        if sender.send((shard, number, entry)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
