//! A room again, frame by frame, from the log.

use framestep_rooms::{Server, Topic};
use framestep_timeline::Recorder;

use crate::game;
use crate::node::{TICKS, build_name};
use crate::state::Arena;

/// The frames of the picture, and of the inputs that are printed.
const SHOWN: u64 = 150;

/// What is to be replayed.
#[derive(Debug)]
pub(crate) struct Replayed<'a> {
    pub(crate) url: &'a str,
    pub(crate) shard: u32,
    pub(crate) room: &'a str,
    /// The last frame of the shard.
    pub(crate) until: u64,
    /// A picture of what the scripts did in the last frames.
    pub(crate) timeline: Option<&'a str>,
}

/// Prints a room as it was after a frame: what is seen of it, and what each script waits for.
/// Returns whether all frames were those of the servers.
pub(crate) async fn run(it: Replayed<'_>) -> Result<bool, String> {
    let text = |error: framestep_rooms::ServerError| error.to_string();
    game::defuse();
    let server = Server::at(it.url)
        .ticks_per_second(TICKS)
        .build_id(build_name(game::BUILD))
        .room::<Arena>();
    let mut replay = server.replay(it.shard, it.until).await.map_err(text)?;
    println!("from frame {}", replay.frame());
    let recorder = Recorder::new();
    let mut hook = None;
    let mut different = 0;
    while replay.frame() < it.until {
        let Some(frame) = replay.next().await.map_err(text)? else {
            println!("the log ends with frame {}", replay.frame());
            break;
        };
        if !frame.is_same {
            different += 1;
        }
        if frame.frame + SHOWN < it.until {
            continue;
        }
        if it.timeline.is_some() && hook.is_none() {
            hook = replay.room(it.room, |_: &Arena, runtime| {
                recorder.watch(runtime.executor())
            });
        }
        for entry in &frame.entries {
            if let Some(Topic::Input(room, player)) = &entry.topic
                && **room == *it.room
            {
                let input = String::from_utf8_lossy(entry.body.get(17..).unwrap_or_default());
                let input = if entry.body.first() == Some(&b'{') {
                    String::from_utf8_lossy(&entry.body)
                } else {
                    input
                };
                println!(
                    "frame {:>6}, entry {:>7}: {player} {input}",
                    frame.frame, entry.seq
                );
            }
        }
    }
    let shown = replay.room(it.room, |arena: &Arena, runtime| {
        let view = serde_json::to_string(&framestep_rooms::Room::view(arena)).unwrap_or_default();
        println!(
            "\nafter frame {} of the shard, {} is\n{view}\n",
            replay.frame(),
            it.room
        );
        println!("{}", runtime.executor().snapshot());
    });
    if shown.is_none() {
        let rooms: Vec<String> = replay.rooms().into_iter().map(|room| room.name).collect();
        return Err(format!(
            "shard {} has no live room `{}` in frame {}. It has {}",
            it.shard,
            it.room,
            replay.frame(),
            rooms.join(", ")
        ));
    }
    if let Some(file) = it.timeline {
        drop(hook);
        let svg = recorder
            .film()
            .svg()
            .title(format!("{} until frame {}", it.room, replay.frame()))
            .to_string();
        std::fs::write(file, svg).map_err(|error| format!("{file}: {error}"))?;
        println!("timeline: {file}");
    }
    if different > 0 {
        println!(
            "{different} frames differ from those of the servers: they are of another build, or of other rules"
        );
    }
    Ok(different == 0)
}
