//! Three servers of NATS, with three replicas of each log: each acknowledged input counts once, whatever
//! happens to one of the servers. Without a `nats-server` that can have replicas in
//! `target/nats-servers`, this is skipped with a message.
//!
//! `FRAMESTEP_CLUSTER_SECONDS` makes it longer: `scripts/proofs/cluster`.
#![cfg(feature = "nats")]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/newest.rs"]
mod newest;
#[path = "support/patience.rs"]
mod patience;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::NatsLog;
use framestep_rooms::{Client, Player, Room, RoomClient, Server};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use cluster::Cluster;
use patience::patient;

const SHARDS: u32 = 4;
const ROOMS: u64 = 6;
/// For how many frames an input that was acknowledged is looked for at the end: a minute at full speed.
const LAST_FRAMES: u64 = 1_200;

/// Counts its inputs, which are numbers from 0 on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tally {
    /// A bit for each number.
    seen: Vec<u64>,
    doubled: u64,
    beats: u64,
}

impl Tally {
    fn has(&self, number: u64) -> bool {
        let word = self.seen.get(usize::try_from(number / 64).unwrap());
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

#[durable]
async fn beat() -> Chapter {
    wait_seconds(0.25).await;
    with(|tally: &mut Tally| tally.beats += 1);
    Chapter::Next(beat())
}

impl Room for Tally {
    const NAME: &'static str = "tally";
    type Args = ();
    type Input = u64;
    type View = Tally;

    fn registry() -> Registry {
        Registry::new().script(beat)
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        runtime.spawn(beat()).detach();
        Tally::default()
    }

    fn input(&mut self, _: &Runtime, _: Player, number: u64) {
        self.doubled += u64::from(self.has(number));
        let word = usize::try_from(number / 64).unwrap();
        self.seen.resize(self.seen.len().max(word + 1), 0);
        self.seen[word] |= 1 << (number % 64);
    }

    fn view(&self) -> Tally {
        self.clone()
    }
}

/// What happens to a server.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Kill,
    Cut,
    Stop,
    Roll,
    Disk,
}

const TROUBLES: [Trouble; 5] = [
    Trouble::Kill,
    Trouble::Cut,
    Trouble::Stop,
    Trouble::Roll,
    Trouble::Disk,
];

async fn make(trouble: Trouble, cluster: &mut Cluster) {
    let streams: Vec<String> = (0..SHARDS).map(|shard| format!("LOG_{shard}")).collect();
    let leader = cluster.leader(&streams).await;
    let seconds = |seconds| sleep(Duration::from_secs(seconds));
    match trouble {
        Trouble::Kill => {
            cluster.kill(leader);
            seconds(4).await;
            cluster.begin(leader);
        }
        Trouble::Cut => {
            cluster.set_cut(leader, true);
            seconds(12).await;
            cluster.set_cut(leader, false);
        }
        Trouble::Stop => {
            cluster.set_stopped(leader, true);
            seconds(12).await;
            cluster.set_stopped(leader, false);
        }
        Trouble::Roll => {
            for server in 0..3 {
                cluster.end(server);
                seconds(1).await;
                cluster.begin(server);
                seconds(8).await;
            }
        }
        Trouble::Disk => {
            cluster.kill(leader);
            cluster.lose_disk(leader);
            seconds(2).await;
            cluster.begin(leader);
            seconds(8).await;
        }
    }
    // Until it leads again, and all nodes and players have found it.
    seconds(8).await;
}

/// What a player has sent.
#[derive(Default)]
struct Books {
    sent: AtomicU64,
    acknowledged: Mutex<BTreeSet<u64>>,
}

async fn play(room: RoomClient<Tally>, books: Arc<Books>, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        let number = books.sent.fetch_add(1, Ordering::Relaxed);
        // Without an answer, it may have an effect, or not.
        if room.send(&number).await.is_ok() {
            books.acknowledged.lock().unwrap().insert(number);
        }
        sleep(Duration::from_millis(30)).await;
    }
}

/// Of a room at the end: how many inputs were acknowledged, lost and doubled.
async fn judge(room: &RoomClient<Tally>, books: &Books) -> (usize, usize, u64) {
    let acknowledged = books.acknowledged.lock().unwrap().clone();
    let mut views = room.watch().await.unwrap();
    let mut first = None;
    loop {
        let next = patient(views.next()).await.expect("the room goes on");
        let view = next.unwrap().unwrap();
        let (frame, tally) = (view.frame, view.view);
        let lost = acknowledged
            .iter()
            .filter(|number| !tally.has(**number))
            .count();
        if lost == 0 || frame > *first.get_or_insert(frame) + LAST_FRAMES {
            return (acknowledged.len(), lost, tally.doubled);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_acknowledged_input_counts_once_whatever_happens_to_one_of_three_servers() {
    let Some(program) = newest::newest() else {
        eprintln!("1 test skipped: there is no nats-server 2.15.1 or later in target/nats-servers");
        return;
    };
    let seconds = std::env::var("FRAMESTEP_CLUSTER_SECONDS").ok();
    let seconds: Option<u64> = seconds.map(|seconds| seconds.parse().unwrap());
    let mut cluster = Cluster::start(&program).await;
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        let log = loop {
            match NatsLog::connect(&cluster.url()).await {
                Ok(log) => break log.replicas(3),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let server = Server::on(log)
            .named(name)
            .build_id("1")
            .shards(SHARDS)
            .threads(1)
            .ticks_per_second(20)
            // While a shard stands still, inputs wait for its next frame.
            .inputs_per_second(10_000)
            .probe_frames(false)
            .room::<Tally>();
        let server = server
            .on_note(|note| assert!(!note.to_string().contains("no effect"), "{note}"))
            .serve(async {
                let _ = stopped.await;
            });
        nodes.push((stop, tokio::spawn(server)));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let mut players = Vec::new();
    for number in 0..ROOMS {
        let client = loop {
            match Client::at(&cluster.url(), &format!("player-{number}")).await {
                Ok(client) => break client,
                Err(_) => sleep(Duration::from_millis(500)).await,
            }
        };
        let room = client
            .open::<Tally>(&format!("tally-{number}"), &())
            .await
            .unwrap();
        room.view().await.unwrap();
        let books = Arc::new(Books::default());
        let playing = tokio::spawn(play(room.clone(), books.clone(), is_over.clone()));
        players.push((room, books, playing));
    }
    let began = Instant::now();
    let mut happened = Vec::new();
    // A kill and a cut are enough for each change; all of them for a proof.
    for trouble in TROUBLES.into_iter().cycle() {
        let is_enough = match seconds {
            None => happened.len() == 2,
            Some(seconds) => began.elapsed() >= Duration::from_secs(seconds),
        };
        if is_enough {
            break;
        }
        make(trouble, &mut cluster).await;
        happened.push(trouble);
        let counts = players
            .iter()
            .map(|(_, books, _)| books.acknowledged.lock().unwrap().len());
        let count: usize = counts.sum();
        println!(
            "{:>4} s {trouble:?}: {count} acknowledged",
            began.elapsed().as_secs()
        );
    }
    is_over.store(true, Ordering::Relaxed);
    let (mut all, mut all_lost, mut all_doubled) = (0, 0, 0);
    for (room, books, playing) in players {
        playing.await.unwrap();
        let (acknowledged, lost, doubled) = judge(&room, &books).await;
        println!(
            "{}: {acknowledged} inputs acknowledged, {lost} lost, {doubled} doubled",
            room.name()
        );
        (all, all_lost, all_doubled) = (all + acknowledged, all_lost + lost, all_doubled + doubled);
    }
    println!("{happened:?}: {all} inputs acknowledged, {all_lost} lost, {all_doubled} doubled");
    assert_eq!(
        (all_lost, all_doubled),
        (0, 0),
        "of {all} acknowledged: lost, doubled"
    );
    assert!(all > 100);
    for (stop, node) in nodes {
        stop.send(()).unwrap();
        patient(node).await.expect("it stops").unwrap().unwrap();
    }
}
