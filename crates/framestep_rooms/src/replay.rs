//! Computes rooms again from their log: each frame is a recording.

pub(crate) mod print;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::Runtime;

use crate::driver::{read_saves, taken_out};
use crate::entry::{Entry, Position, Tick};
use crate::log::{Batch, Log, LogError, Reader, in_time};
use crate::role::Fold as _;
use crate::room::Room;
use crate::server::{Server, ServerError};
use crate::shard::{Place, RoomStatus, Shard};

/// How long the log may take to say that there is no more.
const IDLE: Duration = Duration::from_millis(300);

/// Computes the rooms of a shard again, frame by frame, from [`Server::replay`].
///
/// It only reads, so it may be done beside the servers, or on a laptop with a copy of the log.
pub struct Replay {
    log: Arc<dyn Log>,
    shard: u32,
    rooms: Shard,
    at: Position,
    reader: Option<Box<dyn Reader>>,
    read: VecDeque<Entry>,
    /// The last entry read.
    last: u64,
    queue: Vec<Entry>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("shard", &self.shard)
            .field("frame", &self.at.frame)
            .finish_non_exhaustive()
    }
}

/// A frame that was computed again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedFrame {
    /// Its number.
    pub frame: u64,
    /// The node that has ticked it.
    pub ticked_by: String,
    /// The build of that node. Another build than this one may compute something else.
    pub build: u64,
    /// What was in the log for this frame, without the tick.
    pub entries: Vec<Entry>,
    /// Whether the state before this frame is the one that the node had. If it is not, a room
    /// depends on what is not recorded, or the frames are of another build.
    pub is_same: bool,
    /// If it is not: the rooms that are compared in this frame. One of them differs.
    pub differs: Vec<String>,
}

impl Server {
    /// Begins to compute the rooms of a shard again: from the newest save that is not after frame
    /// `until`, or else from the first entry of the log. The kinds of rooms and the limits must be
    /// those of the servers.
    ///
    /// [`Client::shard`](crate::Client::shard) computes the shard of a room, and `rooms top --room NAME`
    /// shows it. Frames are those of the shard: `rooms top` shows the last one, and notes name theirs.
    ///
    /// Saves are replaced, and the log before them is trimmed, so earlier frames than the oldest save
    /// are there only if the servers [keep the log](Server::keep_log).
    ///
    /// # Errors
    ///
    /// If the log cannot be reached, there is no such shard, or neither a save nor the beginning of the
    /// log is there.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # use framestep_rooms::log::MemoryLog;
    /// # use framestep_rooms::{Client, Player, Room, Server, ServerError};
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
    /// async fn print(log: MemoryLog, shard: u32) -> Result<(), ServerError> {
    ///     let mut replay = Server::on(log).room::<Counter>().replay(shard, 4711).await?;
    ///     while replay.frame() < 4711 && replay.next().await?.is_some() {
    ///         replay.room("counter-1", |counter: &Counter, runtime| {
    ///             println!("{}: {}, {} scripts", runtime.time().frame, counter.0, runtime.scripts().len());
    ///         });
    ///     }
    ///     Ok(())
    /// }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// #     let log = MemoryLog::new();
    /// #     let server = Server::on(log.clone()).shards(1).room::<Counter>().serve(async {
    /// #         let client = Client::on(log.clone(), "alice").await.unwrap();
    /// #         let room = client.open::<Counter>("counter-1", &40).await.unwrap();
    /// #         let mut views = room.watch().await.unwrap();
    /// #         views.next().await.unwrap();
    /// #     });
    /// #     server.await.unwrap();
    /// #     print(log, 0).await.unwrap();
    /// # });
    /// ```
    pub async fn replay(mut self, shard: u32, until: u64) -> Result<Replay, ServerError> {
        let log = self.log().await?;
        self.replay_of(log, shard, until).await
    }

    pub(crate) async fn replay_of(
        self,
        log: Arc<dyn Log>,
        shard: u32,
        until: u64,
    ) -> Result<Replay, ServerError> {
        let (kinds, options) = self.into_parts()?;
        let shards = log.shards().await?;
        let place = Place { shard, shards };
        match shards {
            0 => {
                let text = "no server has made this log yet: there is nothing to replay";
                return Err(ServerError::Settings(text.to_owned()));
            }
            shards if shard >= shards => {
                return Err(ServerError::Settings(format!(
                    "there is no shard {shard}: the log has {shards} shards, 0 to {}. `Client::shard` \
                     computes that of a room",
                    shards - 1
                )));
            }
            _ => {}
        }
        let mut rooms = Shard::new(kinds, place, options.ticks, options.limits);
        rooms.take_out(taken_out(&*log, shard).await?.1);
        let first = log.ends(shard).await?.first;
        let mut saves = read_saves(&*log, shard).await?.into_iter();
        let save = saves.find(|(at, _)| at.frame <= until);
        let (at, state) = match &save {
            Some((at, state)) => (at.clone(), Some(&**state)),
            None if first == 1 => (Position::start(), None),
            None => {
                let text = format!(
                    "frame {until} of shard {shard} cannot be computed again: the log begins with entry {first}, \
                     and there is no save before. Servers with `.keep_log()` keep all of it"
                );
                return Err(LogError::Failed(text).into());
            }
        };
        rooms.load(state).map_err(LogError::Failed)?;
        Ok(Replay {
            last: at.seq,
            at,
            log,
            shard,
            rooms,
            reader: None,
            read: VecDeque::new(),
            queue: Vec::new(),
        })
    }
}

impl Replay {
    /// The last frame that was computed; at first that of the save.
    pub fn frame(&self) -> u64 {
        self.at.frame
    }

    /// Computes the next frame. `None` at the end of the log, where a later call may find more.
    ///
    /// # Cancel safety
    ///
    /// A frame is computed or not; the next call goes on there.
    ///
    /// # Errors
    ///
    /// If the log cannot be read: a later call tries again.
    pub async fn next(&mut self) -> Result<Option<ReplayedFrame>, ServerError> {
        loop {
            while let Some(entry) = self.read.pop_front() {
                if entry.seq <= self.last {
                    continue;
                }
                if entry.seq != self.last + 1 {
                    self.reader = None;
                    self.read.clear();
                    let text = format!(
                        "entry {} of shard {} has not arrived",
                        self.last + 1,
                        self.shard
                    );
                    return Err(LogError::Unreachable(text).into());
                }
                self.last = entry.seq;
                let tick = Tick::of(&entry);
                self.queue.push(entry);
                if let Some(tick) = tick.filter(|tick| self.at.accepts(tick)) {
                    return Ok(Some(self.compute(&tick)));
                }
            }
            match in_time(self.read_on()).await {
                Ok(batch) if batch.entries.is_empty() => return Ok(None),
                Ok(batch) => self.read.extend(batch.entries),
                Err(error) => {
                    self.reader = None;
                    return Err(error.into());
                }
            }
        }
    }

    async fn read_on(&mut self) -> Result<Batch, LogError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(self.log.read(self.shard, self.last + 1).await?),
        };
        reader.next(IDLE).await
    }

    fn compute(&mut self, tick: &Tick) -> ReplayedFrame {
        let is_same = self.at.seq == 0 || self.rooms.hash() == tick.state;
        let differs = if is_same {
            Vec::new()
        } else {
            self.rooms.in_turn(self.at.frame)
        };
        self.rooms.frame(tick.frame, &self.queue);
        self.at = self.at.after(tick, &self.queue);
        let mut entries = std::mem::take(&mut self.queue);
        entries.pop();
        ReplayedFrame {
            frame: tick.frame,
            ticked_by: tick.by.to_string(),
            build: tick.build,
            entries,
            is_same,
            differs,
        }
    }

    /// The rooms after this frame.
    pub fn rooms(&self) -> Vec<RoomStatus> {
        self.rooms.status()
    }

    /// The view of a room in JSON. `None` if there is no such room, or it is broken.
    pub fn view_text(&self, name: &str) -> Option<String> {
        self.rooms.view_text(name)
    }

    /// Looks at a room and its runtime: its scripts, a [snapshot](framestep_durable::Runtime::executor),
    /// a recorder for the timeline. `None` if there is no such room, it is of another kind, or broken.
    ///
    /// Whatever changes the runtime makes the next frames differ.
    pub fn room<R: Room, T>(&self, name: &str, look: impl FnOnce(&R, &Runtime) -> T) -> Option<T> {
        self.rooms.look(name, look)
    }
}
