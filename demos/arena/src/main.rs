//! Sixty rooms of a small game on three nodes, one of which is killed every few seconds.
//!
//! `cargo run --release` starts all of it on this machine: `nats-server`, the nodes, the players,
//! and an oracle that reads the log and computes everything again.

#![forbid(unsafe_code)]

mod cluster;
mod game;
mod load;
mod nats;
mod node;
mod oracle;
mod page;
mod proxy;
mod replay;
mod round;
mod scripts;
mod state;
#[cfg(test)]
mod tests;
mod view;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use cluster::Trouble;
use round::{Board, Plan};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::sleep;

const USAGE: &str = "\
arena [OPTIONS]             three nodes, players, and trouble; in a terminal view
arena node --url URL --name NAME --shards 12
                            a node of the game
arena oracle --url URL --shards 12 --folder FOLDER
                            reads the log, and compares the frames of its build
arena replay --url URL --shard 3 --room arena-17 --until 4711 [--timeline FILE]
                            a room as it was after a frame

  --headless                prints lines, and ends with 1 if anything was lost
  --seconds N, --minutes N  how long it lasts; without, until `q` (60 s with --headless)
  --times N                 each trouble so often instead, however long that takes
  --troubles LIST           kill, stop, drain, partition, nats, upgrade, bugs,
                            copy, or all; `kill` by default
  --next FILE               the executable of another build, for `upgrade`: with `--features next`
  --every SECONDS           the pause between two troubles, 4 by default
  --rooms N, --nodes N, --shards N
                            60, 3 and 12 by default
  --inputs N                inputs of a player in a second, 3 by default
  --seed N                  of the rooms and players, 1 by default
  --page PORT               of the page to play in arena-0: 8080 with the view, none with --headless
  --folder FOLDER           for logs and the store; a new one for temporary files by default
  --keep                    keeps the folder
  --picture FILE            writes the view into an SVG file, a second after a node was killed";

/// The options of a command line.
struct Options {
    values: BTreeMap<String, String>,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut words = words.peekable();
        let mut values = BTreeMap::new();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                return Err(format!("`{word}` is no option\n\n{USAGE}"));
            };
            let value = match name {
                "headless" | "keep" | "help" | "attached" => String::new(),
                "seconds" | "minutes" | "times" | "troubles" | "every" | "rooms" | "nodes"
                | "shards" | "inputs" | "seed" | "page" | "folder" | "picture" | "url" | "name"
                | "next" | "shard" | "room" | "until" | "timeline" => words
                    .next()
                    .ok_or_else(|| format!("--{name} needs a value\n\n{USAGE}"))?,
                _ => return Err(format!("there is no option --{name}\n\n{USAGE}")),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(Options { values })
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn text(&self, name: &str) -> Result<&str, String> {
        self.values
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| format!("--{name} is missing\n\n{USAGE}"))
    }

    fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.values.get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("--{name}: `{text}` is no number in its range")),
        }
    }

    fn plan(&self) -> Result<Plan, String> {
        let is_headless = self.has("headless");
        let seconds: u64 = self.number("seconds", 0)?;
        let minutes: u64 = self.number("minutes", 0)?;
        let length = match seconds + minutes * 60 {
            0 if is_headless && !self.has("times") => Some(60),
            0 => None,
            length => Some(length),
        };
        let troubles = match self.values.get("troubles").map(String::as_str) {
            None => vec![Trouble::Kill],
            Some("all") => Trouble::ALL
                .into_iter()
                .filter(|trouble| *trouble != Trouble::Upgrade || self.has("next"))
                .collect(),
            Some("none") => Vec::new(),
            Some(list) => list
                .split(',')
                .map(Trouble::named)
                .collect::<Result<_, _>>()?,
        };
        if troubles.contains(&Trouble::Upgrade) && !self.has("next") {
            return Err(
                "`upgrade` needs two builds: build the arena with `--features next` and another \
                 `--target-dir`, and name its executable with --next"
                    .to_owned(),
            );
        }
        if self.has("times") && (troubles.is_empty() || length.is_some()) {
            return Err(
                "--times counts troubles: it needs some, and no --seconds or --minutes".to_owned(),
            );
        }
        let default = std::env::temp_dir().join(format!("arena-{}", std::process::id()));
        let page = match (self.has("page"), is_headless) {
            (true, _) => Some(self.number("page", 0)?),
            (false, true) => None,
            (false, false) => Some(8080),
        };
        let (nodes, rooms, shards) = (
            self.number("nodes", 3)?,
            self.number("rooms", 60)?,
            self.number("shards", 12)?,
        );
        if !(1..=9).contains(&nodes) || rooms == 0 || shards == 0 {
            return Err("there must be 1 to 9 nodes, and at least one room and shard".to_owned());
        }
        let inputs: f64 = self.number("inputs", 3.0)?;
        if !(0.1..=20.0).contains(&inputs) {
            return Err("--inputs must be from 0.1 to 20".to_owned());
        }
        Ok(Plan {
            rooms,
            nodes,
            shards,
            length: length.map(Duration::from_secs),
            times: self
                .has("times")
                .then(|| self.number("times", 1))
                .transpose()?,
            every: Duration::from_secs_f64(f64::max(self.number("every", 4.0)?, 0.1)),
            troubles,
            inputs_per_second: inputs,
            seed: self.number("seed", 1)?,
            folder: self.values.get("folder").map_or(default, Into::into),
            page,
            keeps: self.has("keep"),
            next: self.values.get("next").map(Into::into),
        })
    }
}

fn runtime(is_multi: bool) -> Result<Runtime, String> {
    let mut builder = if is_multi {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    builder
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}

fn run() -> Result<bool, String> {
    let mut words = std::env::args().skip(1).peekable();
    let role = words
        .next_if(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let options = Options::read(words)?;
    if options.has("help") {
        println!("{USAGE}");
        return Ok(true);
    }
    match role.as_str() {
        "node" => {
            let (url, name) = (options.text("url")?, options.text("name")?);
            let shards = options.number("shards", 12)?;
            let node = node::run(
                url,
                name,
                shards,
                options.has("keep"),
                options.has("attached"),
            );
            runtime(true)?
                .block_on(node)
                .map_err(|error| error.to_string())?;
            Ok(true)
        }
        "oracle" => {
            let (url, shards) = (options.text("url")?, options.number("shards", 12)?);
            let tasks = tokio::task::LocalSet::new();
            let folder = options.text("folder")?.as_ref();
            runtime(false)?.block_on(tasks.run_until(oracle::run(url, shards, folder)))?;
            Ok(true)
        }
        "replay" => {
            let replayed = replay::Replayed {
                url: options.text("url")?,
                shard: options.number("shard", 0)?,
                room: options.text("room")?,
                until: options.number("until", u64::MAX)?,
                timeline: options.values.get("timeline").map(String::as_str),
            };
            runtime(false)?.block_on(replay::run(replayed))
        }
        "" => round(&options),
        other => Err(format!("there is no command `{other}`\n\n{USAGE}")),
    }
}

/// Ready when this process receives SIGINT, SIGTERM or SIGHUP. The processes that it has started must
/// end with it.
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let of = |kind| async move {
        if let Ok(mut signal) = signal(kind) {
            signal.recv().await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = of(SignalKind::interrupt()) => {}
        () = of(SignalKind::terminate()) => {}
        () = of(SignalKind::hangup()) => {}
    }
}

fn round(options: &Options) -> Result<bool, String> {
    let plan = options.plan()?;
    let is_headless = options.has("headless");
    let board = Board::new(is_headless);
    let (ends, ended) = watch::channel(false);
    let runtime = runtime(true)?;
    if let Some(file) = options.values.get("picture").cloned() {
        let board = board.clone();
        runtime.spawn(async move {
            loop {
                sleep(Duration::from_millis(100)).await;
                let state = board.lock().clone();
                // Some killing is behind it, and one node is away.
                let is_moment = state.began.elapsed() > Duration::from_secs(30)
                    && state
                        .nodes
                        .iter()
                        .any(|node| node.health == cluster::Health::Killed)
                    && state
                        .lines
                        .back()
                        .is_some_and(|line| line.contains(" rooms: "));
                if is_moment {
                    let written = view::picture(&state).and_then(|svg| {
                        std::fs::write(&file, svg).map_err(|error| format!("{file}: {error}"))
                    });
                    if let Err(why) = written {
                        eprintln!("{why}");
                    }
                    return;
                }
            }
        });
    }
    let playing = runtime.spawn(round::play(plan, board.clone(), ended));
    let stops = ends.clone();
    runtime.spawn(async move {
        stop_signal().await;
        stops.send_replace(true);
    });
    if !is_headless {
        let (shown, state) = (board.clone(), playing.abort_handle());
        let view = std::thread::spawn(move || view::show(&shown, || state.is_finished()));
        while !view.is_finished() && !playing.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
        }
        // A terminal that is gone does not let the view end.
        for _ in 0..50 {
            if view.is_finished() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if view.is_finished()
            && let Ok(Err(error)) = view.join()
        {
            return Err(format!(
                "the view needs a terminal: {error}. Without one, use --headless"
            ));
        }
        // The rest is printed.
        board.lock().is_loud = true;
        ends.send_replace(true);
    }
    runtime
        .block_on(playing)
        .map_err(|error| error.to_string())?
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
