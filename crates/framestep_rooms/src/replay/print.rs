//! Prints a replay: what `rooms replay` asks a server's executable for.

use serde::{Deserialize, Serialize};

use super::{Replay, ReplayedFrame};
use crate::body::open_envelope;
use crate::driver::read_saves;
use crate::entry::{Entry, Topic};
use crate::log::{Log, LogError};
use crate::member::shard_of;
use crate::news::shown;
use crate::server::{Server, ServerError};

/// Set for the process that is to print a replay.
pub(crate) const VARIABLE: &str = "FRAMESTEP_ROOMS_REPLAY";

/// What is to be printed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// A room, or a shard.
    pub(crate) room: Option<String>,
    pub(crate) shard: Option<u32>,
    /// The last frame. The end of the log without one.
    pub(crate) until: Option<u64>,
    /// How many frames are printed before it.
    pub(crate) frames: u64,
}

/// What this process is to print instead of running as a node.
pub(crate) fn asked() -> Option<Result<Asked, ServerError>> {
    let text = std::env::var(VARIABLE).ok()?;
    let asked = serde_json::from_str(&text);
    Some(asked.map_err(|error| {
        ServerError::Settings(format!(
            "`{VARIABLE}` is set and cannot be read: {error}. `rooms replay` sets it"
        ))
    }))
}

fn line(entry: &Entry, replay: &Replay) -> String {
    let body = || shown(&String::from_utf8_lossy(&entry.body));
    match &entry.topic {
        Some(Topic::Input(room, player)) if entry.asks_for_place() => {
            format!("{player} asks for a place in the log, for {room}")
        }
        Some(Topic::Open(room)) if entry.asks_for_place() => {
            format!("a place in the log is asked for, to open {room}")
        }
        Some(Topic::Input(room, player)) => {
            let opened = open_envelope(&entry.body).ok();
            let input = opened.and_then(|(_, input)| replay.rooms.input_text(room, &input));
            let input = input.unwrap_or_else(|| format!("{} bytes", entry.body.len()));
            format!("{player} to {room}: {}", shown(&input))
        }
        Some(Topic::Open(room)) => format!("opens {room}: {}", body()),
        Some(Topic::Close(room)) => format!("the operator closes {room}"),
        Some(Topic::Kick(room, player)) => format!("the operator removes {player} from {room}"),
        Some(Topic::Presence(room, player)) => format!("{player} in {room}: {}", body()),
        Some(Topic::Answer(room)) => format!("an answer to {room}, {} bytes", entry.body.len()),
        Some(Topic::Tick) => "a tick without effect".to_owned(),
        None => "of a subject that this version does not know".to_owned(),
    }
}

/// The frame at whose save the replay begins: before the frames that are printed, as far as there is one.
async fn start(log: &dyn Log, shard: u32, asked: &Asked) -> Result<u64, LogError> {
    let saves = read_saves(log, shard).await?.into_iter();
    let frames: Vec<u64> = saves.map(|(at, _)| at.frame).collect();
    let newest = frames.first().copied().unwrap_or(0);
    let from = asked.until.unwrap_or(newest).saturating_sub(asked.frames);
    let is_there = frames.iter().any(|frame| *frame <= from) || log.ends(shard).await?.first == 1;
    let oldest = frames.last().copied().unwrap_or(from);
    Ok(if is_there { from } else { oldest })
}

/// Computes a shard again, and prints its last frames: what was in the log, the first frame that differs,
/// and at the end the view of the room, or all rooms.
#[expect(clippy::print_stdout, reason = "that is what it is for")]
pub(crate) async fn run(mut server: Server, asked: Asked) -> Result<(), ServerError> {
    let log = server.log().await?;
    let shards = log.shards().await?;
    let of_room = asked.room.as_deref().filter(|_| shards > 0);
    let of_room = of_room.map(|room| shard_of(room, shards));
    let shard = asked.shard.or(of_room).unwrap_or(0);
    let until = asked.until.unwrap_or(u64::MAX);
    // A shard that runs has more in each moment: as far as its log goes now.
    let end = match shards {
        0 => 0,
        _ => log.ends(shard).await?.last,
    };
    let start = start(&*log, shard, &asked).await?;
    let mut replay = server.replay_of(log, shard, start).await?;
    println!("shard {shard}, from frame {}", replay.frame());
    let mut differing: Option<ReplayedFrame> = None;
    let mut last: Vec<String> = Vec::new();
    while replay.frame() < until
        && replay.at.seq < end
        && let Some(frame) = replay.next().await?
    {
        let fits = |entry: &&Entry| {
            let room = entry.topic.as_ref().and_then(Topic::room);
            asked.room.is_none() || asked.room.as_deref() == room
        };
        let lines: Vec<String> = frame
            .entries
            .iter()
            .filter(fits)
            .map(|entry| format!("    {}", line(entry, &replay)))
            .collect();
        let by = &frame.ticked_by;
        last.push(format!("frame {}, of {by}\n", frame.frame) + &lines.join("\n"));
        if last.len() as u64 > asked.frames {
            last.remove(0);
        }
        if !frame.is_same && differing.is_none() {
            differing = Some(frame);
        }
    }
    for text in last {
        println!("{}", text.trim_end());
    }
    match differing {
        Some(frame) => println!(
            "the first frame that differs is {}: computed here, the state is another one than on {}. One of \
             the rooms {} depends on what is not recorded, or the frames are of another build",
            frame.frame - 1,
            frame.ticked_by,
            frame.differs.join(", ")
        ),
        None => println!("each frame is the same as on the nodes"),
    }
    for room in replay.rooms() {
        if asked.room.as_ref().is_some_and(|name| *name != room.name) {
            continue;
        }
        let view = replay.view_text(&room.name);
        println!(
            "{}: {} frames, {} scripts, view {}",
            room.name,
            room.frames,
            room.scripts,
            view.as_deref().unwrap_or("none")
        );
    }
    Ok(())
}
