//! What an operator does to rooms and shards, over the log.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::body::Ordered;
use crate::driver::{read_saves, replace_saves};
use crate::entry::{Entry, Player, Position, Tick, Topic, is_name};
use crate::log::{Log, LogError, in_time};
use crate::member::shard_of;

/// How long a shard must have no tick before it counts as one that stands still.
const STILL: Duration = Duration::from_secs(2);

/// Closes rooms, removes players, and starts shards again that no node can load.
///
/// It needs the rights of a node in the log: players have none of this. `rooms` is the same as a program.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// use framestep_rooms::log::MemoryLog;
/// # use framestep_rooms::{Client, ClientError, Player, Room, Server};
/// use framestep_rooms::Operator;
/// # #[derive(Serialize, Deserialize)]
/// # struct Counter(u32);
/// # impl Room for Counter {
/// #     const NAME: &'static str = "counter";
/// #     type Args = u32;
/// #     type Input = u32;
/// #     type View = u32;
/// #     fn registry() -> Registry { Registry::new() }
/// #     fn open(_: &Runtime, from: u32) -> Self { Counter(from) }
/// #     fn input(&mut self, _: &Runtime, _: Player, by: u32) { self.0 += by; }
/// #     fn view(&self) -> u32 { self.0 }
/// # }
///
/// # async fn operate(log: MemoryLog, client: Client) -> Result<(), Box<dyn std::error::Error>> {
/// let room = client.open::<Counter>("counter-1", &40).await?;
/// room.view().await?;
/// Operator::on(log).close("counter-1").await?; // it is over, in whatever state it is
/// while room.view().await.is_ok() {}
/// assert_eq!(client.open::<Counter>("counter-1", &7).await?.view().await?.view, 7);
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// #     let log = MemoryLog::new();
/// #     let server = Server::on(log.clone()).shards(1).room::<Counter>().on_note(|_| ()).serve(async {
/// #         operate(log.clone(), Client::on(log, "alice").await.unwrap()).await.unwrap();
/// #     });
/// #     server.await.unwrap();
/// # });
/// ```
#[derive(Clone)]
pub struct Operator {
    log: Arc<dyn Log>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator").finish_non_exhaustive()
    }
}

fn failed<T>(why: String) -> Result<T, LogError> {
    Err(LogError::Failed(why))
}

impl Operator {
    /// An operator on a log.
    pub fn on(log: impl Log) -> Self {
        Operator { log: Arc::new(log) }
    }

    async fn append(&self, topic: &Topic) -> Result<(), LogError> {
        let shards = self.log.shards().await?;
        if shards == 0 {
            return failed("no server has made this log yet".to_owned());
        }
        let room = topic.room().unwrap_or_default();
        let id = format!("operator-{:x}", crate::random());
        let shard = shard_of(room, shards);
        let after = self.log.ends(shard).await?.last;
        let body = Ordered { after }.to_bytes();
        self.log.append(shard, topic, &id, &body).await.map(drop)
    }

    /// Closes a room, in the next frame of its shard: one that is live, broken, or ends its process. It is
    /// over for its watchers, and its name is free: the next room that is opened under it is a new one, which
    /// no late copy of this closes.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached, or `room` is not [a name](is_name).
    pub async fn close(&self, room: &str) -> Result<(), LogError> {
        if !is_name(room) {
            return failed(format!("`{room}` cannot name a room"));
        }
        self.append(&Topic::Close(room.into())).await
    }

    /// Removes a player from a room, in the next frame of its shard, for as long as the room is open. The room
    /// hears [`Presence::Kicked`](crate::Presence::Kicked), inputs of the player have no effect any more, and
    /// there is no view of its own for it. What all see is for NATS to allow.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached, or one of both is not [a name](is_name).
    pub async fn kick(&self, room: &str, player: &str) -> Result<(), LogError> {
        let player = Player::new(player).filter(|_| is_name(room));
        let Some(player) = player else {
            return failed(format!("`{room}` or the player is no name"));
        };
        self.append(&Topic::Kick(room.into(), player)).await
    }

    /// Begins a shard without rooms, at the end of its log: the way on if no node can load it, because no save
    /// fits its log any more. All its rooms are lost.
    ///
    /// # Errors
    ///
    /// If the shard runs: a frame was ticked in the last two seconds, or meanwhile. If there is no such shard,
    /// or its log is empty (then it begins by itself). If the log cannot be reached.
    pub async fn restart(&self, shard: u32) -> Result<(), LogError> {
        let shards = self.log.shards().await?;
        if shard >= shards {
            return failed(format!("there is no shard {shard}: the log has {shards}"));
        }
        let (ticked, is_still) = self.last_frame(shard).await?;
        let saves = read_saves(&*self.log, shard).await?;
        let saved = saves.first().map_or(0, |(at, _)| at.frame);
        let frame = ticked.unwrap_or(0).max(saved);
        if !is_still {
            return failed(format!(
                "shard {shard} runs, at frame {frame}: its rooms would be lost. `Operator::close` closes one"
            ));
        }
        if self.log.ends(shard).await?.last == 0 {
            return failed(format!(
                "the log of shard {shard} is empty: it begins by itself"
            ));
        }
        // An entry of its own, which the log has whatever else is gone: nodes check that it is there.
        let random = crate::random();
        let tick = Tick {
            format: Tick::FORMAT,
            frame: frame + 1,
            by: format!("operator.{random:x}").into(),
            build: 0,
            generation: 0,
            before: random,
            state: 0,
            hands_over: true,
            out: 0,
            empty: Some(0),
        };
        let body = tick.to_bytes();
        let id = format!("operator-{:x}", crate::random());
        let appended = self.log.append(shard, &Topic::Tick, &id, &body);
        let entry = Entry {
            seq: appended.await?,
            topic: Some(Topic::Tick),
            body: body.into(),
        };
        let at = Position::again(&entry, &tick, random);
        replace_saves(&*self.log, shard, &at).await
    }

    /// The last frame in the log of a shard, and whether no other one has come for a while.
    async fn last_frame(&self, shard: u32) -> Result<(Option<u64>, bool), LogError> {
        let first = self.log.ends(shard).await?.first;
        let mut reader = self.log.read(shard, first).await?;
        let (mut last, mut has_read_all) = (None, false);
        loop {
            let batch = in_time(reader.next(STILL)).await?;
            let is_quiet = batch.entries.is_empty();
            if let Some(tick) = batch.entries.iter().rev().find_map(Tick::of) {
                last = Some(tick.frame);
                if has_read_all {
                    return Ok((last, false));
                }
            }
            if has_read_all && is_quiet {
                return Ok((last, true));
            }
            has_read_all |= batch.is_end;
        }
    }
}
