//! The client: opens rooms, sends inputs, watches.

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
use crate::room::{Format, Room};

/// Why a client has not done what it should.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The log.
    Log(LogError),
    /// A name or a value that cannot be sent, or a client that has other types than the server.
    Settings(String),
    /// There is no such room: it was not opened, or is broken.
    NoRoom {
        /// Its name.
        room: String,
        /// Why not.
        why: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Log(error) => error.fmt(f),
            ClientError::Settings(why) => f.write_str(why),
            ClientError::NoRoom { room, why } => write!(f, "there is no room `{room}`: {why}"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<LogError> for ClientError {
    fn from(error: LogError) -> Self {
        ClientError::Log(error)
    }
}

/// How long an input is sent again without an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client waits for the number of shards.
const START: Duration = Duration::from_secs(10);
/// How long the present view of a room is waited for.
const VIEW: Duration = Duration::from_secs(30);
/// How often a watcher says that it watches.
const WATCHES: Duration = Duration::from_secs(1);

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
/// | `log.SHARD.open.ROOM` | `{"kind": "arena", "args": ..}` opens a room |
/// | `log.SHARD.room.ROOM.PLAYER` | `{"s": session, "n": number, "i": ..}` is an input: `s` is a random number of each session, less than 2^53, and `n` counts from 1 |
/// | `rooms.watch.SHARD.ROOM` | anything, each second: somebody watches |
/// | `rooms.view.SHARD.ROOM` | `{"f": frame, "v": ..}`: a view, for watchers; `{"end": why, "at": entry}`: after this entry of the log there is no such room. `why` is `"over"`, `"none"`, `"broken"` or `{"refused": text}`, if its opening had no effect |
///
/// Requests to the first two are answered once the log has them, with `{"stream": .., "seq": entry}`:
/// that does not say that they have an effect. Anything else, also a `seq` of 0, is no such answer: send
/// the same message again. An input with the same `s` and `n` counts once. Skip views that are neither
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
                Ok(0) | Err(LogError::Unreachable(_)) if Instant::now() < until => {
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
    /// If the log cannot be reached, or the name has other characters than letters, digits, `-` and
    /// `_`.
    pub async fn open<R: Room>(
        &self,
        room: &str,
        args: &R::Args,
    ) -> Result<RoomClient<R>, ClientError> {
        let mut client = self.room::<R>(room)?;
        let args = serde_json::to_string(args)
            .map_err(|error| ClientError::Settings(error.to_string()))?;
        let body = open_body(R::NAME, &args).map_err(ClientError::Settings)?;
        // Another opening after the room is over must not count as a double.
        let id = format!("open-{room}-{}-{}-{}", self.player, self.session, unique());
        let topic = Topic::Open(client.room.clone());
        client.opened = Some(client.append(&topic, &id, &body).await?);
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

impl<R: Room> RoomClient<R> {
    /// Sends an input, and returns its entry in the log once it is there. From then on it is durable,
    /// and is applied in one frame, exactly once, even if the room has no owner at this moment. It is
    /// sent again until there is an answer, for 30 s.
    ///
    /// `Ok` says that it is in the log, not what the room does with it. It has no effect if the room is
    /// not open, is over or broken, if the player sends more than
    /// [`Server::inputs_per_second`](crate::Server::inputs_per_second), or if it is not an `R::Input` of
    /// the server. The node that runs the room says so, and `top` counts it.
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
    /// If the log has no answer for 30 s (then the input may be there), or the input is too large for
    /// it.
    pub async fn send(&self, input: &R::Input) -> Result<u64, ClientError> {
        let input = R::FORMAT.write(input).map_err(ClientError::Settings)?;
        let _permit = self.numbers.under_way.acquire().await;
        let number = self.numbers.next.fetch_add(1, Ordering::Relaxed);
        let body = close_envelope(self.client.session, number, &input);
        let player = &self.client.player;
        let id = format!("{player}-{}-{}-{number}", self.room, self.client.session);
        let topic = Topic::Input(self.room.clone(), player.clone());
        self.append(&topic, &id, &body).await
    }

    /// Watches the room: its views from now on, one for each frame, while there is an owner.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached.
    pub async fn watch(&self) -> Result<Watch<R>, ClientError> {
        let mut watch = Watch {
            room: self.clone(),
            inbox: self.hear().await?,
            said: None,
            has_seen: false,
            is_over: false,
            skipped: 0,
        };
        watch.say().await;
        Ok(watch)
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
                "no server has shown room `{}` for {} s: does one run shard {}? `top` shows that",
                self.room,
                VIEW.as_secs(),
                self.shard
            ))
            .into()),
        }
    }

    fn absent(&self, why: &Absence) -> ClientError {
        let why = match why {
            Absence::None => "it was not opened, or is over".to_owned(),
            Absence::Over => "it is over".to_owned(),
            Absence::Broken => {
                "it is broken: the server has said why, and `top` shows it".to_owned()
            }
            Absence::Refused(why) => format!("it was not opened: {why}"),
        };
        ClientError::NoRoom {
            room: self.room.to_string(),
            why,
        }
    }

    async fn hear(&self) -> Result<Box<dyn Inbox>, LogError> {
        self.client
            .log
            .hear(&format!("view.{}.{}", self.shard, self.room))
            .await
    }
}

/// What a watcher sees after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View<V> {
    /// The frame of the room, from 1.
    pub frame: u64,
    /// Its view.
    pub view: V,
}

/// Watches a room.
pub struct Watch<R> {
    room: RoomClient<R>,
    inbox: Box<dyn Inbox>,
    said: Option<Instant>,
    /// Whether there was a view.
    has_seen: bool,
    is_over: bool,
    skipped: u64,
}

/// What a watcher hears.
enum Heard<V> {
    View(View<V>),
    /// There is no room, since the client has opened it.
    End(Absence),
}

impl<R> fmt::Debug for Watch<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.room.room)
    }
}

impl<R> Watch<R> {
    /// How many messages were skipped that are no views. The servers send none: in an account of NATS
    /// that several players share, one of them may have named the room's views for an answer.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl<R: Room> Watch<R> {
    async fn say(&mut self) {
        if self.said.is_none_or(|said| said.elapsed() >= WATCHES) {
            self.said = Some(Instant::now());
            let channel = format!("watch.{}.{}", self.room.shard, self.room.room);
            // It is said again.
            let _ = self.room.client.log.say(&channel, Vec::new()).await;
        }
    }

    /// The next view. `None` if the room is over: its last view came before. It waits while the room has
    /// no owner.
    ///
    /// Of a room that this client has not [opened](Client::open), it also waits until somebody opens it.
    /// Messages that are no views are [skipped](Self::skipped).
    ///
    /// # Cancel safety
    ///
    /// No view is lost that has arrived.
    ///
    /// # Errors
    ///
    /// - [`ClientError::NoRoom`] if the room is broken, or the client's `open` had no effect.
    /// - [`ClientError::Settings`] if a view is not an `R::View`: server and client differ.
    pub async fn next(&mut self) -> Result<Option<View<R::View>>, ClientError> {
        while !self.is_over {
            match self.hear().await? {
                Heard::View(view) => {
                    self.has_seen = true;
                    return Ok(Some(view));
                }
                Heard::End(Absence::Broken) => return Err(self.room.absent(&Absence::Broken)),
                Heard::End(_) if self.has_seen => self.is_over = true,
                // It was opened, and is over already.
                Heard::End(Absence::Over) if self.room.opened.is_some() => self.is_over = true,
                Heard::End(why) if self.room.opened.is_some() => {
                    return Err(self.room.absent(&why));
                }
                // It may be opened later.
                Heard::End(_) => {}
            }
        }
        Ok(None)
    }

    /// The next message of the node that runs the room.
    async fn hear(&mut self) -> Result<Heard<R::View>, ClientError> {
        loop {
            self.say().await;
            match timeout(WATCHES, self.inbox.next()).await {
                Ok(Some(message)) => {
                    let Some(shown) = open_view(&message.body) else {
                        self.skipped += 1;
                        continue;
                    };
                    match shown {
                        Shown::View(frame, view) => {
                            let view = Format::read(view).map_err(|why| self.room.differs(&why))?;
                            return Ok(Heard::View(View { frame, view }));
                        }
                        // It is of the time before.
                        Shown::End(at, _) if self.room.opened.is_some_and(|opened| at < opened) => {
                        }
                        Shown::End(_, why) => return Ok(Heard::End(why)),
                    }
                }
                Ok(None) => match self.room.hear().await {
                    Ok(inbox) => self.inbox = inbox,
                    Err(_) => sleep(WATCHES).await,
                },
                Err(_) => {}
            }
        }
    }
}

impl<R: Room> RoomClient<R> {
    fn differs(&self, why: &str) -> ClientError {
        ClientError::Settings(format!(
            "a view of room `{}` is not one of a `{}`: server and client are of different versions, or the \
             room is of another kind ({why})",
            self.room,
            R::NAME
        ))
    }
}

/// The mark of a view that is not in JSON.
const BINARY: u8 = 2;
/// What a message begins with that says why there is no view.
const END: &[u8] = br#"{"end":"#;

/// A view with its frame: `{"f":7,"v":..}`, or the number in 8 bytes before the view.
pub(crate) fn close_view(frame: u64, view: &[u8]) -> Vec<u8> {
    // What `Format::write` has written in JSON never begins with a control character.
    if view.first().is_some_and(|first| *first >= b' ') {
        let mut body = format!("{{\"f\":{frame},\"v\":").into_bytes();
        body.extend_from_slice(view);
        body.push(b'}');
        return body;
    }
    let mut body = vec![BINARY];
    body.extend_from_slice(&frame.to_le_bytes());
    body.extend_from_slice(view);
    body
}

/// Why there is no such room after an entry: `{"end":"over","at":7}`.
pub(crate) fn close_end(at: u64, why: &Absence) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct Text<'a> {
        end: &'a Absence,
        at: u64,
    }
    serde_json::to_vec(&Text { end: why, at }).unwrap_or_default()
}

/// What is shown of a room.
#[derive(Debug, PartialEq)]
enum Shown<'a> {
    View(u64, &'a [u8]),
    End(u64, Absence),
}

/// Reads what [`close_view`] or [`close_end`] has written. `None` if it is something else.
fn open_view(body: &[u8]) -> Option<Shown<'_>> {
    #[derive(serde::Deserialize)]
    struct Text<'a> {
        f: u64,
        #[serde(borrow)]
        v: &'a serde_json::value::RawValue,
    }
    #[derive(serde::Deserialize)]
    struct End {
        end: Absence,
        at: u64,
    }
    if let Some(rest) = body.strip_prefix(&[BINARY]) {
        let (frame, view) = rest.split_first_chunk()?;
        return Some(Shown::View(u64::from_le_bytes(*frame), view));
    }
    if body.starts_with(END) {
        let text: End = serde_json::from_slice(body).ok()?;
        return Some(Shown::End(text.at, text.end));
    }
    let text: Text<'_> = serde_json::from_slice(body).ok()?;
    Some(Shown::View(text.f, text.v.get().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_and_ends_are_read_as_they_were_written() {
        for format in [Format::Json, Format::Postcard] {
            let view = close_view(7, &format.write(&(1_u32, "two")).unwrap());
            let Some(Shown::View(7, view)) = open_view(&view) else {
                panic!("{view:?}");
            };
            assert_eq!(Format::read(view), Ok((1_u32, "two".to_owned())));
            let nothing = close_view(7, &format.write(&()).unwrap());
            let Some(Shown::View(7, nothing)) = open_view(&nothing) else {
                panic!("{nothing:?}");
            };
            assert_eq!(Format::read(nothing), Ok(()));
        }
        let refused = Absence::Refused("a \"reason\"".to_owned());
        for why in [Absence::None, Absence::Over, Absence::Broken, refused] {
            let end = close_end(9, &why);
            assert_eq!(open_view(&end), Some(Shown::End(9, why)));
        }
        assert_eq!(close_end(9, &Absence::Over), br#"{"end":"over","at":9}"#);
        let answer = br#"{"stream":"LOG_7","seq":9}"#;
        for wrong in [
            &b""[..],
            b"{}",
            b"{\"f\":1}",
            b"\x02abc",
            b"\x07",
            b"8",
            answer,
        ] {
            assert_eq!(open_view(wrong), None);
        }
    }
}
