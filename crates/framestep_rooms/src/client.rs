//! The client: opens rooms, sends inputs, watches.

mod error;
mod places;
mod watch;
mod wire;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::body::{close_envelope, open_body};
use crate::doubles::Doubles;
use crate::entry::{Player, Topic, is_name};
use crate::log::{Inbox, Log, LogError};
use crate::member::shard_of;
use crate::news::Absence;
use crate::room::Room;
pub use error::ClientError;
use places::Places;
use watch::Heard;
pub use watch::{View, Watch};
pub(crate) use wire::{channel, close_end, close_view};

/// How long an input is sent again without an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client waits for the number of shards.
const START: Duration = Duration::from_secs(10);
/// How long the present view of a room is waited for.
const VIEW: Duration = Duration::from_secs(30);
/// How often a watcher says that it watches.
const WATCHES: Duration = Duration::from_secs(1);
/// What it says first.
pub(crate) const BEGINS: &[u8] = b"begins";

/// Opens rooms, and is a player in them. Clones are the same player in the same session. A player may
/// have several sessions at once, such as on several devices. A room tells the inputs of the last 64
/// sessions of a player apart, by their order in the log; no clock counts.
///
/// # Without Rust
///
/// A page in a browser uses the same subjects of NATS, over its websockets:
///
/// | subject | content |
/// |---|---|
/// | `log.SHARD.open.ROOM` | `{"kind": "arena", "a": entry, "args": ..}` opens a room. Ask for `a` right before, by an empty message to the same subject, whose answer it is: an opening from before the end of a room of the name counts for that one |
/// | `log.SHARD.room.ROOM.PLAYER` | `{"s": session, "n": number, "a": entry, "i": ..}` is an input: `s` is a random number of each session, less than 2^53, `n` counts from 1, and `a` is the last entry of the log that the page knows, by a view or an answer. Nothing, an empty message, has no effect: its answer says such an entry |
/// | `rooms.watch.SHARD.ROOM` | `begins`, then anything each second: somebody looks on. A view comes at once, and then when it has changed, or a second after the last one |
/// | `rooms.watch.SHARD.ROOM.PLAYER` | the same of a player, who is [there](Room::presence) then |
/// | `rooms.view.SHARD.ROOM` | `{"f": frame, "o": opened, "a": entry, "v": ..}`: what all see. `opened` is the entry that has opened the room: skip a view that is not later than the last one. `entry` is the last one that counts in it. `{"end": why, "at": entry}`: after this entry of the log there is no such room. `why` is `"over"`, `"none"`, `"broken"` or `{"refused": text}`, if its opening had no effect |
/// | `rooms.view.SHARD.ROOM.PLAYER` | the same of one player, in a room with [`VIEW_PER_PLAYER`](Room::VIEW_PER_PLAYER) |
///
/// Requests to the first two are answered once the log has them, with `{"stream": .., "seq": entry}`:
/// that does not say that they have an effect. Anything else, also a `seq` of 0, is no such answer: send
/// the same message again. An input with the same `s` and `n` counts once, however late a copy of it comes: of a
/// session that a room does not know, an input counts only if its `a` is not before what the room has
/// forgotten, which is ten minutes old, nor before its opening. So name one that is a minute old at most. Skip views that are neither
/// of the two: another player may have named the subject for an answer. [`Client::shard`] computes the
/// shard, which the page gets from the server that it comes from.
#[derive(Clone)]
pub struct Client {
    log: Arc<dyn Log>,
    player: Player,
    shards: u32,
    session: u64,
    /// The numbers of inputs, for each player and room.
    numbers: Arc<Mutex<AllNumbers>>,
    places: Places,
}

type AllNumbers = HashMap<(Player, Arc<str>), Arc<Numbers>>;

/// The numbers of the inputs of a player to a room.
struct Numbers {
    next: AtomicU64,
    /// Not more than the server can tell apart.
    under_way: Semaphore,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("player", &self.player)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A player over NATS. It waits until a server has made the log.
    ///
    /// # Errors
    ///
    /// If the server of NATS cannot be reached, or the player's name has other characters than
    /// letters, digits, `-` and `_`.
    #[cfg(feature = "nats")]
    pub async fn at(url: &str, player: &str) -> Result<Self, ClientError> {
        Self::on(crate::log::NatsLog::connect(url).await?, player).await
    }

    /// A player on any log.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub async fn on(log: impl Log, player: &str) -> Result<Self, ClientError> {
        Self::on_shared(Arc::new(log), player).await
    }

    async fn on_shared(log: Arc<dyn Log>, player: &str) -> Result<Self, ClientError> {
        let player = Player::new(player).ok_or_else(|| not_a_name(player))?;
        let until = Instant::now() + START;
        let shards = loop {
            match log.shards().await {
                Ok(0) | Err(LogError::Unreachable(_) | LogError::Refused | LogError::Full(_))
                    if Instant::now() < until =>
                {
                    sleep(Duration::from_millis(50)).await;
                }
                Ok(0) => {
                    let text = "no server has made the log yet: start one".to_owned();
                    return Err(LogError::Unreachable(text).into());
                }
                Ok(shards) => break shards,
                Err(error) => return Err(error.into()),
            }
        };
        Ok(Client {
            log,
            player,
            shards,
            // As on a page, whose numbers are exact up to there.
            session: crate::random() >> 11,
            numbers: Arc::default(),
            places: Places::default(),
        })
    }

    /// The same connection for another player, such as in a gateway.
    ///
    /// # Errors
    ///
    /// If the name has other characters than letters, digits, `-` and `_`.
    pub fn player(&self, name: &str) -> Result<Self, ClientError> {
        let player = Player::new(name).ok_or_else(|| not_a_name(name))?;
        Ok(Client {
            player,
            ..self.clone()
        })
    }

    /// The shard of a room.
    pub fn shard(&self, room: &str) -> u32 {
        shard_of(room, self.shards)
    }

    /// Opens a room, unless there is one of this name. It runs from the next frame on.
    ///
    /// `Ok` says that the log has it: it is durable, and a server opens the room as soon as one runs.
    /// Whether that has worked is known one frame later: [`view`](RoomClient::view), and
    /// [`next`](Watch::next) of a watch that begins with this value, return [`ClientError::NoRoom`] if the
    /// servers have no such kind of room, could not read the arguments, or have too many rooms. The
    /// node says so, too.
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # use framestep_rooms::log::MemoryLog;
    /// # use framestep_rooms::{Client, Player, Room, Server};
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
    /// # async fn play(client: Client) -> Result<(), framestep_rooms::ClientError> {
    /// let room = client.open::<Counter>("counter-1", &40).await?; // in the log
    /// assert_eq!(room.view().await?.view, 40); // and the room is there
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// #     let log = MemoryLog::new();
    /// #     let server = Server::on(log.clone()).shards(1).room::<Counter>().on_note(|_| ()).serve(async {
    /// #         play(Client::on(log, "alice").await.unwrap()).await.unwrap();
    /// #     });
    /// #     server.await.unwrap();
    /// # });
    /// ```
    ///
    /// # Errors
    ///
    /// If the log cannot be reached, the user of the connection may not open rooms ([`LogError::NotAllowed`], at
    /// once), or the name has other characters than letters, digits, `-` and `_`.
    pub async fn open<R: Room>(
        &self,
        room: &str,
        args: &R::Args,
    ) -> Result<RoomClient<R>, ClientError> {
        let mut client = self.room::<R>(room)?;
        let args = serde_json::to_string(args)
            .map_err(|error| ClientError::Settings(error.to_string()))?;
        let topic = Topic::Open(client.room.clone());
        let make = |after| {
            let body = open_body(R::NAME, &args, after).map_err(ClientError::Settings)?;
            // Another opening after the room is over must not count as a double.
            let id = format!("open-{room}-{}-{}-{}", self.player, self.session, unique());
            Ok((id, body))
        };
        // A room that was over a moment ago is another one.
        self.places.forget(client.shard);
        let opened = client.append_after(&topic, make).await?;
        client.opened = Some(opened);
        Ok(client)
    }

    /// A room that is open, or will be. Inputs to a room that is not have no effect, though they get into
    /// the log: [`view`](RoomClient::view) says whether it is there.
    ///
    /// # Errors
    ///
    /// If the name has other characters than letters, digits, `-` and `_`.
    pub fn room<R: Room>(&self, room: &str) -> Result<RoomClient<R>, ClientError> {
        if !is_name(room) {
            return Err(not_a_name(room));
        }
        let name: Arc<str> = room.into();
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = numbers
            .entry((self.player.clone(), name.clone()))
            .or_insert_with(|| {
                Arc::new(Numbers {
                    next: AtomicU64::new(1),
                    under_way: Semaphore::new(usize::try_from(Doubles::WINDOW / 2).unwrap_or(1)),
                })
            });
        Ok(RoomClient {
            shard: self.shard(room),
            room: name,
            numbers: numbers.clone(),
            client: self.clone(),
            opened: None,
            kind: PhantomData,
        })
    }
}

/// A number that no other call in this process gets.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn not_a_name(name: &str) -> ClientError {
    ClientError::Settings(format!(
        "`{name}` is no name: use 1 to 64 letters, digits, `-` and `_`"
    ))
}

/// A player in a room.
pub struct RoomClient<R> {
    client: Client,
    room: Arc<str>,
    shard: u32,
    numbers: Arc<Numbers>,
    /// The entry that opens it, if this client has sent it.
    opened: Option<u64>,
    kind: PhantomData<fn() -> R>,
}

impl<R> Clone for RoomClient<R> {
    fn clone(&self) -> Self {
        RoomClient {
            client: self.client.clone(),
            room: self.room.clone(),
            shard: self.shard,
            numbers: self.numbers.clone(),
            opened: self.opened,
            kind: PhantomData,
        }
    }
}

impl<R> fmt::Debug for RoomClient<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RoomClient({}, {})", self.room, self.client.player)
    }
}

impl<R> RoomClient<R> {
    /// The name of the room.
    pub fn name(&self) -> &str {
        &self.room
    }

    /// Appends until the log has it.
    async fn append(&self, topic: &Topic, id: &str, body: &[u8]) -> Result<u64, ClientError> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.client.log.append(self.shard, topic, id, body).await {
                Err(LogError::Unreachable(_)) if Instant::now() < until => {
                    sleep(Duration::from_millis(50)).await;
                }
                answer => return Ok(answer?),
            }
        }
    }
}

impl<R> RoomClient<R> {
    /// Appends an entry that names a place in the log: `make` makes its id and its content.
    async fn append_after(
        &self,
        topic: &Topic,
        make: impl Fn(u64) -> Result<(String, Vec<u8>), ClientError>,
    ) -> Result<u64, ClientError> {
        let places = &self.client.places;
        let mut is_again = false;
        loop {
            let after = self.place(topic).await?;
            let (id, body) = make(after)?;
            let entry = self.append(topic, &id, &body).await?;
            if entry > after {
                places.hear(self.shard, entry);
                return Ok(entry);
            }
            // The log has lost its tail, with the entry that this one names. So it has no effect, and is sent
            // once more.
            places.begin_at(self.shard, entry);
            if std::mem::replace(&mut is_again, true) {
                return Err(LogError::Failed(format!(
                    "the log has acknowledged entry {after}, and now a later one as {entry}"
                ))
                .into());
            }
        }
    }

    /// A place in the log: the last entry that the client knows. If that is none or too old, it asks for one, by
    /// an entry without content.
    async fn place(&self, topic: &Topic) -> Result<u64, ClientError> {
        if let Some(entry) = self.client.places.recent(self.shard) {
            return Ok(entry);
        }
        let id = format!("place-{}-{:x}", self.client.player, crate::random());
        let entry = self.append(topic, &id, &[]).await?;
        self.client.places.hear(self.shard, entry);
        Ok(entry)
    }
}

impl<R: Room> RoomClient<R> {
    /// Sends an input, and returns its entry in the log once it is there. From then on it is durable,
    /// and is applied in one frame, exactly once, even if the room has no owner at this moment. It is
    /// sent again until there is an answer, for 30 s.
    ///
    /// `Ok` says that it is in the log, not what the room does with it. It has no effect if the room is
    /// not open, is over or broken, if a room of the same name was opened since the client has last heard of the
    /// log (by an answer or a view: it is for the room before), if the player sends more than
    /// [`Server::inputs_per_second`](crate::Server::inputs_per_second), or if it is not an `R::Input` of
    /// the server. The node that runs the room says so, and `rooms top` counts it.
    ///
    /// Of several inputs that are sent at the same time, the order is not promised. Of a client's
    /// room at most 32 are under way; more wait.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the input may have been sent.
    ///
    /// # Errors
    ///
    /// If the log has no answer for 30 s (then the input may be there), the user of the connection may not send it
    /// ([`LogError::NotAllowed`], at once), or the input is too large for the log.
    pub async fn send(&self, input: &R::Input) -> Result<u64, ClientError> {
        let input = R::FORMAT.write(input).map_err(ClientError::Settings)?;
        let _permit = self.numbers.under_way.acquire().await;
        let Client {
            session, player, ..
        } = &self.client;
        let topic = Topic::Input(self.room.clone(), player.clone());
        let make = |after| {
            let number = self.numbers.next.fetch_add(1, Ordering::Relaxed);
            let body = close_envelope(*session, number, after, &input);
            Ok((format!("{player}-{}-{session}-{number}", self.room), body))
        };
        self.append_after(&topic, make).await
    }

    /// Watches the room as the player: its views from now on, while there is an owner. The room
    /// [hears](Room::presence) that the player is there, until some seconds after the watch is dropped.
    ///
    /// A view comes when it has changed, and once a second. In a room with
    /// [`VIEW_PER_PLAYER`](Room::VIEW_PER_PLAYER), it is that of the player.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached.
    pub async fn watch(&self) -> Result<Watch<R>, ClientError> {
        Watch::begin(self, Some(self.client.player.clone())).await
    }

    /// Looks on: what [all see](Room::view). The room does not hear of it.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached.
    pub async fn spectate(&self) -> Result<Watch<R>, ClientError> {
        Watch::begin(self, None).await
    }

    /// The present view, once a server shows one: so the room is there. It waits for 30 s.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoRoom`] if a server says that there is no such room: it was not opened, is over or
    /// broken. [`LogError::Unreachable`] if no server has said anything for 30 s: does one run?
    /// [`LogError::NotAllowed`] if the player may not watch, after a second.
    /// Otherwise as [`Watch::next`].
    pub async fn view(&self) -> Result<View<R::View>, ClientError> {
        let mut watch = self.watch().await?;
        let look = async {
            match watch.hear().await? {
                Heard::View(view) => Ok(view),
                Heard::End(why) => Err(self.absent(&why)),
            }
        };
        match timeout(VIEW, look).await {
            Ok(found) => found,
            Err(_) => Err(LogError::Unreachable(format!(
                "no server has shown room `{room}` for {} s: does one run shard {shard}? `rooms top` shows that. Over \
                 NATS, may this user publish on `rooms.watch.{shard}.{room}.{player}`?",
                VIEW.as_secs(),
                room = self.room,
                shard = self.shard,
                player = self.client.player,
            ))
            .into()),
        }
    }

    fn absent(&self, why: &Absence) -> ClientError {
        let why = match why {
            Absence::None => "it was not opened, or is over".to_owned(),
            Absence::Over => "it is over".to_owned(),
            Absence::Broken => {
                "it is broken: the server has said why, and `rooms top` shows it".to_owned()
            }
            Absence::Refused(why) => format!("it was not opened: {why}"),
        };
        ClientError::NoRoom {
            room: self.room.to_string(),
            why,
        }
    }

    async fn hear(&self, player: Option<&Player>) -> Result<Box<dyn Inbox>, LogError> {
        let player = player.filter(|_| R::VIEW_PER_PLAYER);
        let channel = channel("view", self.shard, &self.room, player);
        self.client.log.hear(&channel).await
    }
}
