//! Trying frames and saves in a child process, and which rooms are not run any more.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::{Driver, Out, ToDriver};
use crate::entry::{Entry, Position};
use crate::event::ServerEvent;
use crate::log::{CALL, Log, LogError};
use crate::probe::{Found, Task};
use crate::server::Node;

impl Driver {
    /// Tries a frame in a child process.
    pub(super) fn try_frame(&self, at: &Position, state: Vec<u8>, entries: &[Entry]) {
        let mut task = Task::new(self.number, Some(state), self.rooms.taken_out().clone());
        task.add(at.frame, entries);
        let (node, shard) = (self.node.clone(), self.number);
        let (to_me, at) = (self.to_me.clone(), at.seq);
        self.node.handle.spawn(async move {
            let found = try_task(&node, shard, &task).await;
            let _ = to_me.send(ToDriver::Tried(at, Box::new(task), found));
        });
    }

    /// Takes a room out, and tries once more: another one may do the same.
    pub(super) fn tried(&self, at: u64, mut task: Box<Task>, found: Option<Found>) {
        let (node, to_me, shard) = (self.node.clone(), self.to_me.clone(), self.number);
        let Some(found) = found else {
            let _ = to_me.send(ToDriver::TakenOut(at, task.out));
            return;
        };
        self.node.handle.spawn(async move {
            let answer = match take_out(&node, shard, &found).await {
                Ok(out) => {
                    task.out = out;
                    let found = try_task(&node, shard, &task).await;
                    ToDriver::Tried(at, task, found)
                }
                Err(why) => {
                    let why = why.to_string();
                    node.tell_of_room(shard, &found.room, ServerEvent::RoomNotTakenOut { why });
                    ToDriver::TakenOut(at, task.out)
                }
            };
            let _ = to_me.send(answer);
        });
    }

    /// All of the log was computed, and the process is still there.
    pub(super) fn end_trying(&mut self) {
        if std::mem::take(&mut self.is_trying) {
            let (node, shard) = (self.node.clone(), self.number);
            self.node.handle.spawn(async move {
                // If it fails, the rooms are tried once in vain.
                let _ = mark_try(&*node.log, shard, None).await;
            });
        }
    }
}

/// How often a shard was started at a save without an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tries {
    at: u64,
    count: u32,
}

/// Counts a start at a save, or, with `None`, ends the count. Returns the count before.
pub(super) async fn mark_try(log: &dyn Log, shard: u32, at: Option<u64>) -> Result<u32, LogError> {
    let key = format!("{shard}.tries");
    let kept = log.kept(&key).await?;
    let tries: Tries = kept
        .as_ref()
        .and_then(|kept| serde_json::from_slice(&kept.body).ok())
        .unwrap_or_default();
    let before = if at.is_none_or(|at| at == tries.at) {
        tries.count
    } else {
        0
    };
    let next = match at {
        Some(at) => Tries {
            at,
            count: before + 1,
        },
        None if tries.count == 0 => return Ok(0),
        None => Tries {
            at: tries.at,
            count: 0,
        },
    };
    let body = serde_json::to_vec(&next).unwrap_or_default();
    match log
        .keep(&key, kept.map_or(0, |kept| kept.revision), &body)
        .await
    {
        // Another node counts at the same time.
        Ok(_) | Err(LogError::Refused) => Ok(before),
        Err(error) => Err(error),
    }
}

/// The rooms that are not run any more, each from a frame on.
pub(crate) async fn taken_out(log: &dyn Log, shard: u32) -> Result<(u64, Out), LogError> {
    let kept = log.kept(&format!("{shard}.out")).await?;
    let Some(kept) = kept else {
        return Ok((0, Out::new()));
    };
    let out = serde_json::from_slice(&kept.body);
    let out =
        out.map_err(|error| LogError::Failed(format!("the list of rooms that are out: {error}")))?;
    Ok((kept.revision, out))
}

/// Computes a task in a child process. Returns the room that has ended or hung it.
async fn try_task(node: &Node, shard: u32, task: &Task) -> Option<Found> {
    if !node.options.probes {
        return None;
    }
    let found = node
        .probes
        .compute(task, node.options.watchdog_timeout)
        .await;
    found.unwrap_or_else(|why| {
        // Better a risk than a shard that stands still.
        let why = why.to_string();
        node.tell(shard, ServerEvent::NoProbe { why });
        None
    })
}

/// Adds a room to those that are not run any more. Returns all of them.
pub(super) async fn take_out(node: &Node, shard: u32, found: &Found) -> Result<Out, LogError> {
    let until = Instant::now() + CALL;
    loop {
        let taken = async {
            let (revision, mut out) = taken_out(&*node.log, shard).await?;
            // Of an earlier frame, if the log was cut back; of a later one, if the room was closed and opened
            // since.
            let frames = out.entry(found.room.clone()).or_default();
            if !frames.insert(found.frame) {
                return Ok(out);
            }
            let body = serde_json::to_vec(&out).unwrap_or_default();
            let key = format!("{shard}.out");
            node.log.keep(&key, revision, &body).await?;
            let frame = found.frame;
            node.tell_of_room(shard, &found.room, ServerEvent::RoomTakenOut { frame });
            Ok(out)
        };
        match taken.await {
            // Another node has found it as well, or the log is away for a moment.
            Err(LogError::Refused | LogError::Unreachable(_)) if Instant::now() < until => {
                sleep(Duration::from_millis(20)).await;
            }
            taken => return taken,
        }
    }
}

/// Restores a save of another build in a child process. Returns why this process must not.
pub(super) async fn try_save(node: &Node, shard: u32, state: &[u8], out: &Out) -> Option<String> {
    let task = Task::new(shard, Some(state.to_vec()), out.clone());
    let found = try_task(node, shard, &task).await?;
    Some(format!("room {} ends or hangs the process", found.room))
}
