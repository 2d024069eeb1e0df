//! A process that only reads the log, and computes all rooms from the first entry on. It restores
//! nothing that a server has saved, and has no code in common with the servers but the game itself.
//!
//! If there are two builds, each has its oracle, which computes only frames of its own build. Where
//! the log says that another build goes on, one oracle passes the shard to the other, in a file.
//!
//! Each tick in the log has a hash of the state that its node had. If a node was in another state in
//! any frame, or has skipped one, or run one twice, then this process notices it. It counts how
//! often each input was applied.

mod read;
mod room;
mod said;
mod shard;
mod sum;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use framestep_rooms::Player;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::game::{self, BUILD};
use crate::nats;
use read::read;
pub(crate) use said::{Acknowledged, Beat, GAPS, Said, Verdict};
use shard::{Entry, Seen, Shard};
pub(crate) use sum::build_number;

fn baton_file(folder: &Path, shard: u32, build: u8) -> PathBuf {
    folder.join(format!("baton-{shard}-to-{build}"))
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
