//! The oracles of a cluster: processes, how far they are, their verdict.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep, timeout};

use super::Board;
use crate::cluster::Cluster;
use crate::load::Ledger;
use crate::oracle::{Beat, Said, Verdict};

/// What must go on stands still if each oracle has had so many beats, a minute at least, without a frame of it. A machine that is slow has fewer beats, so its time does not count.
const STILL: u32 = 300;
/// How long nothing may be heard of an oracle. One that hangs or has ended has no beats.
const SILENCE: Duration = Duration::from_secs(300);
const GONE: &str = "an oracle has ended, or hangs: see oracle.log";
/// How many frames a shard must go on by.
const MORE: u64 = 30;

/// The process that reads along.
struct Oracle {
    child: Child,
    input: ChildStdin,
    verdict: tokio::task::JoinHandle<Option<Verdict>>,
}

impl Oracle {
    fn start(cluster: &Cluster, build: u8, board: Board) -> Result<Self, String> {
        let mut child = cluster.oracle(build)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err("the oracle has no pipes".to_owned());
        };
        let verdict = tokio::spawn(listen(output, usize::from(build) - 1, board));
        Ok(Oracle {
            child,
            input,
            verdict,
        })
    }

    async fn judge(mut self, ledger: &Path) -> Result<Verdict, String> {
        let line = format!("{}\n", ledger.display());
        self.input
            .write_all(line.as_bytes())
            .await
            .map_err(|error| format!("the oracle has ended: {error}"))?;
        let verdict = timeout(SILENCE, self.verdict).await;
        let verdict = verdict.ok().and_then(Result::ok).flatten();
        let _ = self.child.kill().await;
        verdict.ok_or_else(|| "the oracle has no verdict: see oracle.log".to_owned())
    }
}

async fn listen(output: ChildStdout, number: usize, board: Board) -> Option<Verdict> {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(Said::Beat(beat)) => board.hear(number, *beat),
            Ok(Said::Verdict(verdict)) => return Some(*verdict),
            Err(error) => board.say(format!("the oracle says `{line}`: {error}")),
        }
    }
    None
}

/// How long something is waited for that has to happen: a time that the oracles measure.
pub(super) struct Patience<'a> {
    board: &'a Board,
    /// It is over after so many beats of all oracles.
    still: u32,
    began: u32,
    heard: u32,
    heard_at: Instant,
}

impl<'a> Patience<'a> {
    pub(super) fn new(board: &'a Board, cluster: &Cluster) -> Self {
        let oracles = u32::try_from(cluster.builds().count()).unwrap_or(1);
        let heard = board.lock().heard;
        Patience {
            board,
            still: STILL * oracles,
            began: heard,
            heard,
            heard_at: Instant::now(),
        }
    }

    /// Something goes on: it begins anew.
    fn begin_anew(&mut self) {
        self.began = self.heard;
    }

    /// Whether it is over. An error if there is nobody to measure it.
    pub(super) fn is_over(&mut self) -> Result<bool, String> {
        let heard = self.board.lock().heard;
        if heard != self.heard {
            (self.heard, self.heard_at) = (heard, Instant::now());
        }
        if self.heard_at.elapsed() > SILENCE {
            return Err(GONE.to_owned());
        }
        Ok(heard - self.began > self.still)
    }
}

/// A shard that is behind, and what it lacks.
type Behind = (usize, String);

/// The oracles of all builds.
pub(super) struct Oracles {
    all: Vec<Oracle>,
    board: Board,
}

impl Oracles {
    pub(super) fn start(cluster: &Cluster, board: &Board) -> Result<Self, String> {
        let start = |build| Oracle::start(cluster, build, board.clone());
        Ok(Oracles {
            all: cluster.builds().map(start).collect::<Result<_, _>>()?,
            board: board.clone(),
        })
    }

    /// Waits until the oracles have computed these entries, the last inputs of all shards. Returns what is wrong if
    /// they do not.
    pub(super) async fn compute(
        &self,
        cluster: &mut Cluster,
        last: &[u64],
    ) -> Result<Option<String>, String> {
        let behind = |beat: &Beat| {
            let of_shard = |(shard, last): (usize, &u64)| {
                let seq = beat.seqs.get(shard).copied().unwrap_or(0);
                (seq < (*last).max(1))
                    .then(|| (shard, format!("shard {shard} is at entry {seq} of {last}")))
            };
            last.iter().enumerate().filter_map(of_shard).collect()
        };
        self.wait(cluster, behind).await
    }

    /// Waits until all shards have gone on for some frames. Returns what is wrong if they do not.
    pub(super) async fn compute_more(
        &self,
        cluster: &mut Cluster,
    ) -> Result<Option<String>, String> {
        let first = self.board.lock().beat.last.clone();
        let behind = |beat: &Beat| {
            let of_shard = |(shard, (first, last)): (usize, (&u64, &u64))| {
                (*last < first + MORE).then(|| {
                    (
                        shard,
                        format!("shard {shard} is at frame {last}, after {first}"),
                    )
                })
            };
            first
                .iter()
                .zip(&beat.last)
                .enumerate()
                .filter_map(of_shard)
                .collect()
        };
        self.wait(cluster, behind).await
    }

    /// Waits until no shard is behind, or none of those goes on any more. The time that this takes says nothing:
    /// of a log that is written while it is read, an oracle on a slow machine may be a minute behind.
    async fn wait(
        &self,
        cluster: &mut Cluster,
        behind: impl Fn(&Beat) -> Vec<Behind>,
    ) -> Result<Option<String>, String> {
        let mut patience = Patience::new(&self.board, cluster);
        let mut frames = Vec::new();
        loop {
            for name in cluster.supervise()? {
                self.board
                    .say(format!("{name} has ended by itself, and is started again"));
            }
            let (beat, heard) = {
                let state = self.board.lock();
                (state.beat.clone(), state.heard)
            };
            let behind = behind(&beat);
            if behind.is_empty() && heard > 0 {
                return Ok(None);
            }
            let now: Vec<(usize, Option<u64>)> = behind
                .iter()
                .map(|(shard, _)| (*shard, beat.last.get(*shard).copied()))
                .collect();
            let is_over = patience.is_over()?;
            if now != frames {
                frames = now;
                patience.begin_anew();
            } else if is_over {
                let lines: Vec<String> = behind.into_iter().map(|(_, line)| line).collect();
                return Ok(Some(format!("no more frames: {}", lines.join(", "))));
            }
            if self.all.iter().any(|it| it.verdict.is_finished()) {
                return Err(GONE.to_owned());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The verdict of the oracles of all builds.
    pub(super) async fn judge(self, ledger: &Ledger, folder: &Path) -> Result<Verdict, String> {
        let file = folder.join("ledger");
        ledger.write(&file)?;
        let mut verdict: Option<Verdict> = None;
        for oracle in self.all {
            let of_build = oracle.judge(&file).await?;
            match &mut verdict {
                Some(verdict) => verdict.add(of_build),
                None => verdict = Some(of_build),
            }
        }
        let mut verdict = verdict.unwrap_or_default();
        let acknowledged = ledger.sent().acknowledged;
        if verdict.acknowledged != acknowledged {
            verdict.wrong.push(format!(
                "{acknowledged} inputs were acknowledged, and the oracles have looked for {}",
                verdict.acknowledged
            ));
        }
        Ok(verdict)
    }
}
