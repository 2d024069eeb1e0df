//! Tries the rooms of a shard in a child process: a room that ends or hangs the process does it there.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::entry::{Entry, Position, Tick, Topic};
use crate::log::LogError;
use crate::role::Fold as _;
use crate::room::Kind;
use crate::server::{Node, Options};
use crate::shard::Shard;

/// Set for the child process.
pub(crate) const VARIABLE: &str = "FRAMESTEP_ROOMS_PROBE";
/// What the lines of the child begin with: a game may print other ones.
const MARK: &str = "framestep_rooms probe: ";

/// What a child process is to compute.
#[derive(Serialize, Deserialize)]
struct Task {
    save: Option<(Position, Vec<u8>)>,
    out: BTreeMap<Arc<str>, u64>,
    entries: Vec<(u64, Option<Topic>, Vec<u8>)>,
}

/// A room that has ended or hung the child process.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) room: Arc<str>,
    pub(crate) frame: u64,
}

/// The child process: computes what it reads, and names each room before it runs it. Never returns.
pub(crate) fn run(kinds: Arc<[Kind]>, options: &Options) -> ! {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    let task = read
        .ok()
        .and_then(|_| postcard::from_bytes::<Task>(&bytes).ok());
    let Some(task) = task else {
        std::process::exit(2);
    };
    let mut rooms = Shard::new(kinds, options.ticks, options.limits);
    rooms.take_out(task.out);
    rooms.call_before(|frame, room| say(&format!("{frame} {room}")));
    let state = task.save.as_ref().map(|(_, state)| &state[..]);
    if rooms.load(state).is_ok() {
        let mut at = task.save.map_or_else(Position::start, |(at, _)| at);
        let mut queue = Vec::new();
        for (seq, topic, body) in task.entries {
            queue.push(Entry {
                seq,
                topic,
                body: body.into(),
            });
            let tick = queue
                .last()
                .filter(|entry| entry.is_tick())
                .and_then(|entry| Tick::of_bytes(&entry.body));
            if let Some(tick) = tick.filter(|tick| at.accepts(tick)) {
                rooms.frame(tick.frame, &queue);
                // As in the role: what the hash breaks is broken there, too.
                rooms.hash();
                at = at.after(&tick, &queue);
                queue.clear();
            }
        }
    }
    say("end");
    std::process::exit(0);
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{MARK}{text}");
    let _ = out.flush();
}

/// Computes the log of a shard from its save on in a child process. Returns the room that has ended
/// or hung it.
pub(crate) async fn try_rooms(
    node: &Node,
    shard: u32,
    save: Option<&(Position, Arc<[u8]>)>,
    out: &BTreeMap<Arc<str>, u64>,
) -> Result<Option<Found>, LogError> {
    let from = save.map_or(0, |(at, _)| at.seq) + 1;
    let mut entries = Vec::new();
    let mut reader = node.log.read(shard, from).await?;
    loop {
        let read = reader.next(Duration::from_millis(200)).await?;
        let is_end = read.is_end;
        entries.extend(
            read.entries
                .into_iter()
                .map(|entry| (entry.seq, entry.topic, entry.body.to_vec())),
        );
        if is_end {
            break;
        }
    }
    let save = save.map(|(at, state)| (at.clone(), state.to_vec()));
    let task = postcard::to_stdvec(&Task {
        save,
        out: out.clone(),
        entries,
    });
    let task = task.map_err(|error| LogError::Failed(error.to_string()))?;
    let failed = |error: std::io::Error| LogError::Failed(format!("the child process: {error}"));
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Ok(None);
    };
    let writing = tokio::spawn(async move {
        // It fails if the child has ended.
        let _ = stdin.write_all(&task).await;
    });
    let mut lines = BufReader::new(stdout).lines();
    let mut last: Option<Found> = None;
    // A line for each room of each frame: the watchdog.
    while let Ok(Ok(Some(line))) = timeout(node.options.hang_after, lines.next_line()).await {
        let Some(said) = line.strip_prefix(MARK) else {
            continue;
        };
        if said == "end" {
            last = None;
            break;
        }
        if let Some((frame, room)) = said.split_once(' ')
            && let Ok(frame) = frame.parse()
        {
            last = Some(Found {
                room: room.into(),
                frame,
            });
        }
    }
    writing.abort();
    // Only this child.
    let _ = child.start_kill();
    let _ = timeout(Duration::from_secs(2), child.wait()).await;
    if last.is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    Ok(last)
}
