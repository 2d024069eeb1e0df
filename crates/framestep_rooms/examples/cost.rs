//! What a room costs: rooms of 20 scripts in one node, on a log in memory, or in NATS with a URL.
//! Prints what each frame of a room costs, with hashes, saves, the log and a client, and the share of
//! a core.
//!
//! ```sh
//! cargo run --release --example cost                                   # 60 rooms
//! cargo run --release --example cost -- 1000                           # 1,000
//! cargo run --release --example cost -- 60 nats://127.0.0.1:4222
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use framestep_rooms::log::{Log, MemoryLog, NatsLog};
use framestep_rooms::{Client, Server, ShardStatus};
use tokio::time::{Instant, sleep, timeout_at};

mod measured;
use measured::{Arena, SCRIPTS};

/// How long it measures.
const SPAN: Duration = Duration::from_secs(8);

/// The time that the threads of this process have run. `None` if the system does not say.
fn cpu_time() -> Option<Duration> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let of = |task: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let nanos = tasks.filter_map(of).sum();
    Some(Duration::from_nanos(nanos))
}

/// What the statuses of a shard say.
#[derive(Default)]
struct Seen {
    rooms: u32,
    frames: u64,
    /// Microseconds of the thread.
    busy: f64,
    gap: f64,
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
async fn measure(log: impl Log + Clone, rooms: u32) {
    let play = async {
        let client = Client::on(log.clone(), "alice").await.expect("a client");
        for number in 0..rooms {
            let room = format!("arena-{number}");
            client.open::<Arena>(&room, &()).await.expect("it opens");
        }
        // The first status of a shard counts its start, too.
        sleep(Duration::from_millis(2_500)).await;
        let mut statuses = log.hear("status.*").await.expect("it hears");
        let (cpu, began) = (cpu_time(), Instant::now());
        let mut shards: BTreeMap<u32, Seen> = BTreeMap::new();
        while let Ok(Some(message)) = timeout_at(began + SPAN, statuses.next()).await {
            let status: ShardStatus = serde_json::from_slice(&message.body).expect("a status");
            let seen = shards.entry(status.shard).or_default();
            seen.rooms = u32::try_from(status.rooms.len()).unwrap_or(0);
            seen.frames += status.frames;
            seen.busy += status.busy * status.frames as f64;
            seen.gap = seen.gap.max(status.gap);
        }
        let cpu = cpu.and_then(|before| cpu_time()?.checked_sub(before));
        let shards = shards.values();
        let frames = shards.clone().map(|it| u64::from(it.rooms) * it.frames);
        let frames = frames.sum::<u64>() as f64;
        if frames < 1.0 {
            println!("{rooms} rooms: no frame was run in {SPAN:?}. Is the machine too busy?");
            return;
        }
        println!(
            "{rooms} rooms of {SCRIPTS} scripts: {:.0} frames of rooms a second; the longest gap {:.0} ms",
            frames / SPAN.as_secs_f64(),
            shards.clone().map(|it| it.gap).fold(0.0, f64::max)
        );
        println!(
            "rooms, wall-clock time: {:.1} us each",
            shards.map(|it| it.busy).sum::<f64>() / frames
        );
        if let Some(cpu) = cpu {
            println!(
                "this process, all included: {:.1} us each, {:.1} % of a core",
                cpu.as_secs_f64() * 1e6 / frames,
                cpu.as_secs_f64() / SPAN.as_secs_f64() * 100.0
            );
        }
    };
    let server = Server::on(log.clone()).room::<Arena>().threads(1);
    server.serve(play).await.expect("it serves");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let rooms = args
        .next()
        .map(|rooms| rooms.parse().expect("a number of rooms"));
    let rooms = rooms.unwrap_or(60);
    match args.next() {
        Some(url) => measure(NatsLog::connect(&url).await.expect("a NATS server"), rooms).await,
        None => measure(MemoryLog::new(), rooms).await,
    }
}
