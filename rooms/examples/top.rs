//! Shows the shards of a cluster each second: who ticks them, how fast, which rooms are broken.
//!
//! `cargo run --example top -- nats://127.0.0.1:4222`, with `--once` for a single table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use framestep_rooms::ShardStatus;
use framestep_rooms::log::{Log as _, NatsLog};
use tokio::time::{Instant, sleep, timeout_at};

/// A node that says nothing for so long is not shown.
const SILENT: Duration = Duration::from_secs(3);

type Heard = BTreeMap<(u32, String), (Instant, ShardStatus)>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut url, mut is_once) = ("nats://127.0.0.1:4222".to_owned(), false);
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--once" => is_once = true,
            _ if word.starts_with("--") => {
                return Err(format!("there is no option {word}: URL, --once").into());
            }
            _ => url = word,
        }
    }
    let log = NatsLog::connect(&url).await?;
    let mut inbox = log.hear("status.*").await?;
    let mut heard = Heard::new();
    loop {
        // Each node says it once in a second.
        let until = Instant::now() + Duration::from_millis(if is_once { 1_500 } else { 1_000 });
        loop {
            match timeout_at(until, inbox.next()).await {
                Ok(Some(message)) => {
                    if let Ok(status) = serde_json::from_slice::<ShardStatus>(&message.body) {
                        heard.insert(
                            (status.shard, status.node.clone()),
                            (Instant::now(), status),
                        );
                    }
                }
                Ok(None) => {
                    sleep(SILENT).await;
                    inbox = log.hear("status.*").await?;
                }
                Err(_) => break,
            }
        }
        heard.retain(|_, (at, _)| at.elapsed() < SILENT);
        let text = table(&heard);
        if is_once {
            print!("{text}");
            return Ok(());
        }
        // The top of a cleared screen.
        print!("\x1b[H\x1b[2J{text}");
        std::io::Write::flush(&mut std::io::stdout())?;
    }
}

/// The name of a node, without the time of its start.
fn short(node: &str) -> &str {
    node.split('.').next().unwrap_or(node)
}

fn table(heard: &Heard) -> String {
    let mut text = String::new();
    let mut nodes: BTreeMap<&str, (u32, u32, usize, f64)> = BTreeMap::new();
    for (_, status) in heard.values() {
        let node = nodes.entry(short(&status.node)).or_default();
        if status.owns {
            node.0 += 1;
            node.2 += status.rooms.len();
        } else {
            node.1 += 1;
        }
        // Microseconds in a second, in per cent.
        node.3 += status.busy * f64::from(u32::try_from(status.frames).unwrap_or(0)) / 1e4;
    }
    let _ = writeln!(
        text,
        "{:<20} {:>7} {:>7} {:>7} {:>7}",
        "node", "shards", "follows", "rooms", "busy %"
    );
    for (name, (owns, follows, rooms, busy)) in &nodes {
        let _ = writeln!(
            text,
            "{name:<20} {owns:>7} {follows:>7} {rooms:>7} {busy:>7.1}"
        );
    }
    let _ = writeln!(
        text,
        "\n{:>5} {:<16} {:>9} {:>5} {:>7} {:>7} {:>7} {:>8}  standbys",
        "shard", "owner", "frame", "rooms", "scripts", "gap ms", "us", "refused"
    );
    let shards: std::collections::BTreeSet<u32> = heard.keys().map(|(shard, _)| *shard).collect();
    for shard in shards {
        let of: Vec<&ShardStatus> = heard
            .range((shard, String::new())..(shard + 1, String::new()))
            .map(|(_, (_, status))| status)
            .collect();
        let standbys: Vec<&str> = of
            .iter()
            .filter(|it| !it.owns)
            .map(|it| short(&it.node))
            .collect();
        let Some(owner) = of.iter().find(|it| it.owns) else {
            let _ = writeln!(
                text,
                "{shard:>5} {:<16} followed by {}",
                "nobody",
                standbys.join(" ")
            );
            continue;
        };
        let refused = owner.refused;
        let _ = writeln!(
            text,
            "{shard:>5} {:<16} {:>9} {:>5} {:>7} {:>7.0} {:>7.0} {:>8}  {}",
            short(&owner.node),
            owner.frame,
            owner.rooms.len(),
            owner.rooms.iter().map(|room| room.scripts).sum::<usize>(),
            owner.gap,
            owner.busy,
            refused.no_room
                + refused.unreadable
                + refused.too_long
                + refused.too_many
                + refused.not_opened,
            standbys.join(" ")
        );
        for room in owner.rooms.iter().filter(|room| room.broken.is_some()) {
            let _ = writeln!(
                text,
                "      broken: {}: {}",
                room.name,
                room.broken.as_deref().unwrap_or_default()
            );
        }
    }
    text
}
