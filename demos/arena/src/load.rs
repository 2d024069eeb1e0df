//! Players: each sends inputs, and writes into a ledger what the log has acknowledged.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use framestep_rooms::log::NatsLog;
use framestep_rooms::{Client, ClientError, RoomClient};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::game::{Act, Bug, Input};
use crate::nats;
use crate::oracle::Acknowledged;
use crate::state::Arena;

/// How many of the rooms have a player whose connection sends everything several times.
const STUTTERERS: usize = 10;
/// Numbers in an arena, where each player has its own ones.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// What was acknowledged so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    lines: Vec<Acknowledged>,
    /// Inputs without an answer: they may be in the log, or not.
    unsure: u64,
    /// How long the last answers took.
    waits: VecDeque<Duration>,
}

/// Figures of the players.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) acknowledged: u64,
    pub(crate) unsure: u64,
    /// The median of the last answers.
    pub(crate) wait: Duration,
}

impl Ledger {
    fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn sent(&self) -> Sent {
        self.with(|inner| {
            let mut waits: Vec<Duration> = inner.waits.iter().copied().collect();
            waits.sort_unstable();
            Sent {
                acknowledged: inner.lines.len() as u64,
                unsure: inner.unsure,
                wait: waits.get(waits.len() / 2).copied().unwrap_or_default(),
            }
        })
    }

    /// The last entry of each shard.
    pub(crate) fn last(&self, shards: u32) -> Vec<u64> {
        let mut last = vec![0; shards as usize];
        self.with(|inner| {
            for line in &inner.lines {
                let of_shard = &mut last[line.shard as usize];
                *of_shard = line.seq.max(*of_shard);
            }
        });
        last
    }

    fn acknowledged(&self, line: Acknowledged, wait: Duration) {
        self.with(|inner| {
            inner.lines.push(line);
            inner.waits.push_back(wait);
            if inner.waits.len() > 500 {
                inner.waits.pop_front();
            }
        });
    }

    /// What was acknowledged until now.
    pub(crate) fn copy(&self) -> Ledger {
        let lines = self.with(|inner| inner.lines.clone());
        Ledger(Arc::new(Mutex::new(Inner {
            lines,
            ..Inner::default()
        })))
    }

    /// Writes it into a file, for the oracle.
    pub(crate) fn write(&self, path: &PathBuf) -> Result<(), String> {
        let lines = self.with(|inner| inner.lines.clone());
        let mut text = String::new();
        for line in &lines {
            text += &serde_json::to_string(line).map_err(|error| error.to_string())?;
            text.push('\n');
        }
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn room_name(number: usize) -> String {
    format!("arena-{number}")
}

/// The players of all rooms, while it lives.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) ledger: Ledger,
    client: Client,
    tasks: JoinSet<()>,
}

impl Load {
    /// Opens the rooms, and lets two players into each.
    pub(crate) async fn start(
        url: &str,
        rooms: usize,
        per_second: f64,
        seed: u64,
    ) -> Result<Self, ClientError> {
        let client = Client::on(NatsLog::connect(url).await?, "gateway").await?;
        let raw = nats::connect(url).await.map_err(ClientError::Settings)?;
        let ledger = Ledger::default();
        let mut tasks = JoinSet::new();
        let pause = Duration::from_secs_f64(1.0 / per_second);
        for number in 0..rooms {
            let name = room_name(number);
            client.open::<Arena>(&name, &(seed + number as u64)).await?;
            for player in ["ann", "ben"] {
                let room = client.player(player)?.room::<Arena>(&name)?;
                let random =
                    Random::new(seed ^ (number as u64) << 8 ^ u64::from(player.as_bytes()[0]));
                let (shard, player) = (client.shard(&name), player.to_owned());
                tasks.spawn(play(room, shard, player, random, pause, ledger.clone()));
            }
            if number < STUTTERERS {
                let random = Random::new(seed ^ 0xABCD ^ number as u64);
                tasks.spawn(stutter(
                    raw.clone(),
                    client.shard(&name),
                    name,
                    random,
                    pause,
                    ledger.clone(),
                ));
            }
        }
        Ok(Load {
            ledger,
            client,
            tasks,
        })
    }

    pub(crate) fn shard(&self, room: &str) -> u32 {
        self.client.shard(room)
    }

    /// Opens a room, and sends it an input that meets a bug in its code.
    pub(crate) async fn bug(&self, room: &str, bug: Bug) -> Result<(), ClientError> {
        let room = self.client.player("bug")?.open::<Arena>(room, &1).await?;
        // A room that ends its process in its first frame was never there.
        let mut views = room.watch().await?;
        views.next().await?;
        let input = Input {
            id: 1,
            act: Act::Bug(bug),
        };
        room.send(&input).await?;
        Ok(())
    }

    /// Players stop, after what they have sent was answered.
    pub(crate) async fn end(&mut self) {
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn act(&mut self) -> Act {
        let kind = self.below(7);
        let mut part = || i8::try_from(self.below(3)).unwrap_or(0) - 1;
        match kind {
            0 => Act::Buy,
            1..=3 => Act::Hit,
            _ => Act::Go(part(), part()),
        }
    }
}

async fn play(
    room: RoomClient<Arena>,
    shard: u32,
    player: String,
    mut random: Random,
    pause: Duration,
    ledger: Ledger,
) {
    loop {
        // From half to one and a half of it.
        sleep(pause / 2 + pause * u32::try_from(random.below(1_000)).unwrap_or(0) / 1_000).await;
        let input = Input {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            act: random.act(),
        };
        let began = Instant::now();
        match room.send(&input).await {
            Ok(seq) => {
                let line = Acknowledged {
                    shard,
                    seq,
                    room: room.name().to_owned(),
                    player: player.clone(),
                    id: input.id,
                };
                ledger.acknowledged(line, began.elapsed());
            }
            Err(_) => ledger.with(|inner| inner.unsure += 1),
        }
    }
}

/// An answer of the log.
#[derive(serde::Deserialize)]
struct Ack {
    seq: u64,
}

/// A player without the library, as on a page: it publishes text, and each message three times, with
/// and without an id that the log would recognise.
async fn stutter(
    nats: async_nats::Client,
    shard: u32,
    room: String,
    mut random: Random,
    pause: Duration,
    ledger: Ledger,
) {
    let subject = format!("log.{shard}.room.{room}.stutterer");
    let mut number = 0_u64;
    // The last entry that it knows. It asks for the first one, by a message without content.
    let mut after = 0;
    loop {
        sleep(pause).await;
        if after == 0 {
            after = ask(&nats, &subject, None, String::new()).await.unwrap_or(0);
            continue;
        }
        number += 1;
        let input = Input {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            act: random.act(),
        };
        let Ok(input_text) = serde_json::to_string(&input) else {
            return;
        };
        let body = format!(r#"{{"s":1,"n":{number},"a":{after},"i":{input_text}}}"#);
        let began = Instant::now();
        for copy in 0..3 {
            let id = (copy < 2).then(|| format!("stutterer-{room}-{number}"));
            let Some(seq) = ask(&nats, &subject, id, body.clone()).await else {
                continue;
            };
            after = seq.max(after);
            if copy == 0 {
                let line = Acknowledged {
                    shard,
                    seq,
                    room: room.clone(),
                    player: "stutterer".to_owned(),
                    id: input.id,
                };
                ledger.acknowledged(line, began.elapsed());
            }
        }
    }
}

/// Publishes a message, and returns its entry in the log.
async fn ask(
    nats: &async_nats::Client,
    subject: &str,
    id: Option<String>,
    body: String,
) -> Option<u64> {
    let mut headers = async_nats::HeaderMap::new();
    if let Some(id) = id {
        headers.insert("Nats-Msg-Id", id);
    }
    let answer = nats.request_with_headers(subject.to_owned(), headers, body.into());
    let answer = timeout(Duration::from_secs(2), answer).await.ok()?.ok()?;
    let ack: Ack = serde_json::from_slice(&answer.payload).ok()?;
    (ack.seq > 0).then_some(ack.seq)
}
