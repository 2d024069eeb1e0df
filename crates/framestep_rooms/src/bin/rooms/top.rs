//! Shows the shards of a cluster each second: who ticks them, how fast, what had no effect, which rooms
//! are broken or differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use framestep_rooms::log::{Log as _, NatsLog};
use framestep_rooms::{Client, RoomStatus, ShardStatus};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{Error, Words};

/// A node that says nothing for so long is not shown.
const SILENT: Duration = Duration::from_secs(3);

type Heard = BTreeMap<(u32, String), (Instant, ShardStatus)>;

/// What is shown.
enum Shown {
    Shards,
    Rooms,
    /// A room, and its shard.
    Room(String, u32),
}

/// Shows the shards each second, or once.
pub(crate) async fn run(words: &mut Words) -> Result<(), Error> {
    let (is_once, all_rooms) = (words.has("--once"), words.has("--rooms"));
    let (room, preferred) = (words.value("--room")?, words.value("--prefer")?);
    let url = words.url()?;
    let log = NatsLog::connect(&url).await?;
    let shards = log.shards().await?;
    if shards == 0 {
        return Err("no server has made a log there yet: start one".into());
    }
    if let Some(build) = preferred {
        let build = u64::from_str_radix(&build, 16);
        let build = build.map_err(|_| "--prefer needs a build, such as fc6552603bfe1ca8")?;
        framestep_rooms::prefer(&log, build).await?;
        println!("build {build:x} is preferred: its nodes take the shards over");
        return Ok(());
    }
    let mut inbox = log.hear("status.*").await?;
    let shown = match room {
        Some(name) => {
            let shard = Client::on(log.clone(), "top").await?.shard(&name);
            Shown::Room(name, shard)
        }
        None if all_rooms => Shown::Rooms,
        None => Shown::Shards,
    };
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
        let statuses: Vec<&ShardStatus> = heard.values().map(|(_, status)| status).collect();
        let text = match &shown {
            Shown::Shards => shards_table(shards, &statuses),
            Shown::Rooms => rooms_table(&statuses, |_| true),
            Shown::Room(name, shard) => room_text(name, *shard, &statuses),
        };
        if is_once {
            print!("{text}");
            return Ok(());
        }
        // The top of a cleared screen.
        print!("\x1b[H\x1b[2J{text}");
        std::io::Write::flush(&mut std::io::stdout())?;
    }
}

/// The name of a node, without the number of its start.
fn short(node: &str) -> &str {
    node.split('.').next().unwrap_or(node)
}

fn nodes_table(text: &mut String, statuses: &[&ShardStatus]) {
    let mut nodes: BTreeMap<&str, (u32, u32, usize, f64)> = BTreeMap::new();
    for status in statuses {
        let node = nodes.entry(short(&status.node)).or_default();
        if status.owns {
            node.0 += 1;
            node.2 += status.rooms.len();
        } else if status.cannot.is_none() {
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
}

fn shards_table(shards: u32, statuses: &[&ShardStatus]) -> String {
    let mut text = String::new();
    nodes_table(&mut text, statuses);
    let _ = writeln!(
        text,
        "\n{:>5} {:<16} {:>9} {:>5} {:>7} {:>7} {:>7} {:>8}  standbys",
        "shard", "owner", "frame", "rooms", "scripts", "gap ms", "us", "refused"
    );
    for shard in 0..shards {
        let of = || statuses.iter().filter(move |it| it.shard == shard);
        let standbys: Vec<&str> = of()
            .filter(|it| !it.owns && it.cannot.is_none())
            .map(|it| short(&it.node))
            .collect();
        let standbys = standbys.join(" ");
        match of().find(|it| it.owns) {
            Some(owner) => owner_line(&mut text, owner, &standbys),
            None if standbys.is_empty() => {
                let _ = writeln!(text, "{shard:>5} {:<16} no node runs it", "nobody");
            }
            None => {
                let _ = writeln!(text, "{shard:>5} {:<16} followed by {standbys}", "nobody");
            }
        }
        for status in of() {
            if let Some(why) = &status.cannot {
                let _ = writeln!(text, "      {} cannot: {why}", short(&status.node));
            }
            if !status.differs.is_empty() {
                let _ = writeln!(
                    text,
                    "      differs on {}, one of: {}",
                    short(&status.node),
                    status.differs.join(", ")
                );
            }
        }
    }
    text
}

fn owner_line(text: &mut String, owner: &ShardStatus, standbys: &str) {
    let refused = owner.refused.by_reason();
    let _ = writeln!(
        text,
        "{:>5} {:<16} {:>9} {:>5} {:>7} {:>7.0} {:>7.0} {:>8}  {standbys}",
        owner.shard,
        short(&owner.node),
        owner.frame,
        owner.rooms.len(),
        owner.rooms.iter().map(|room| room.scripts).sum::<usize>(),
        owner.gap,
        owner.busy,
        refused.iter().map(|(_, count)| count).sum::<u64>(),
    );
    let refused: Vec<String> = refused
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    if !refused.is_empty() {
        let _ = writeln!(text, "      refused: {}", refused.join(", "));
    }
    for room in &owner.rooms {
        trouble(text, room);
    }
}

/// What is wrong with a room.
fn trouble(text: &mut String, room: &RoomStatus) {
    if let Some(why) = &room.broken {
        let _ = writeln!(text, "      broken: {}: {why}", room.name);
    }
    if room.panics > 0 {
        let last = room.last_panic.as_deref().unwrap_or("on another node");
        let _ = writeln!(
            text,
            "      panics: {}: {} scripts, the last: {last}",
            room.name, room.panics
        );
    }
}

fn rooms_table(statuses: &[&ShardStatus], fits: impl Fn(&RoomStatus) -> bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<24} {:>5} {:<16} {:<12} {:>9} {:>7} {:>7}",
        "room", "shard", "owner", "kind", "frames", "scripts", "players"
    );
    for status in statuses.iter().filter(|status| status.owns) {
        for room in status.rooms.iter().filter(|room| fits(room)) {
            let _ = writeln!(
                text,
                "{:<24} {:>5} {:<16} {:<12} {:>9} {:>7} {:>7}",
                room.name,
                status.shard,
                short(&status.node),
                room.kind,
                room.frames,
                room.scripts,
                room.players
            );
            trouble(&mut text, room);
        }
    }
    text
}

fn room_text(name: &str, shard: u32, statuses: &[&ShardStatus]) -> String {
    let of = |status: &&&ShardStatus| status.shard == shard && status.owns;
    let owner = statuses.iter().find(of);
    match owner.map(|owner| owner.rooms.iter().any(|room| room.name == name)) {
        Some(true) => {
            let frame = owner.map_or(0, |owner| owner.frame);
            let rooms = rooms_table(statuses, |room| room.name == name);
            format!(
                "{rooms}\nshard {shard} is at frame {frame}: a replay takes the frames of the shard\n"
            )
        }
        Some(false) => format!("there is no room {name}: its shard would be {shard}\n"),
        None => format!("nobody runs shard {shard}, in which room {name} would be\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(json: &str) -> ShardStatus {
        serde_json::from_str(json).unwrap()
    }

    /// Two nodes: a runs shard 0, b follows it and cannot load shard 2, which nobody runs, as shard 1.
    fn statuses() -> Vec<ShardStatus> {
        let refused = r#"{"no_room":1,"unreadable":0,"too_long":0,"too_many":134,"doubles":9,"not_opened":0}"#;
        let none = refused.replace("134", "0").replace(":1,", ":0,");
        let rooms = r#"[
            {"name":"lot-3","kind":"lot","frames":40,"scripts":2,"players":1,"broken":null,"panics":3,
             "last_panic":"script `provoker` has panicked: no (after src/main.rs:7)"},
            {"name":"lot-4","kind":"lot","frames":9,"scripts":0,"players":1,"broken":"an index"}
        ]"#;
        [
            format!(
                r#"{{"node":"a.1","shard":0,"build":7,"frame":50,"owns":true,"frames":30,"gap":34.0,
                "busy":12.0,"refused":{refused},"rooms":{rooms}}}"#
            ),
            format!(
                r#"{{"node":"b.2","shard":0,"build":7,"frame":49,"owns":false,"frames":30,"gap":34.0,
                "busy":12.0,"refused":{none},"rooms":{rooms},"differs":["lot-3"]}}"#
            ),
            format!(
                r#"{{"node":"b.2","shard":2,"build":7,"frame":0,"owns":false,"frames":0,"gap":0.0,
                "busy":0.0,"refused":{none},"rooms":[],"cannot":"the save is of another game"}}"#
            ),
        ]
        .map(|json| status(&json))
        .into()
    }

    #[test]
    fn all_shards_are_shown_with_what_is_wrong() {
        let statuses = statuses();
        let text = shards_table(3, &statuses.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let expected = [
            "node                  shards follows   rooms  busy %",
            "a                          1       0       2     0.0",
            "b                          0       1       0     0.0",
            "",
            "shard owner                frame rooms scripts  gap ms      us  refused  standbys",
            "    0 a                       50     2       2      34      12      135  b",
            "      refused: 1 to no room, 134 too many",
            "      panics: lot-3: 3 scripts, the last: script `provoker` has panicked: no (after src/main.rs:7)",
            "      broken: lot-4: an index",
            "      differs on b, one of: lot-3",
            "    1 nobody           no node runs it",
            "    2 nobody           no node runs it",
            "      b cannot: the save is of another game",
        ];
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn a_room_is_shown_with_its_shard_and_frame() {
        let statuses = statuses();
        let statuses: Vec<_> = statuses.iter().collect();
        let text = room_text("lot-3", 0, &statuses);
        assert!(
            text.contains("lot-3                        0 a                lot"),
            "{text}"
        );
        assert!(
            text.contains("shard 0 is at frame 50") && !text.contains("lot-4"),
            "{text}"
        );
        assert_eq!(
            room_text("lot-9", 0, &statuses),
            "there is no room lot-9: its shard would be 0\n"
        );
        assert_eq!(
            room_text("lot-8", 1, &statuses),
            "nobody runs shard 1, in which room lot-8 would be\n"
        );
        assert_eq!(rooms_table(&statuses, |_| true).matches("lot-").count(), 4);
    }
}
