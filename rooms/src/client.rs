//! The client: opens rooms, sends inputs, watches.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::doubles::Doubles;
use crate::entry::{Player, Topic, is_name};
use crate::log::{Inbox, Log, LogError};
use crate::member::shard_of;
use crate::room::{Format, Room};
use crate::server::Fault;
use crate::shard::{close_envelope, open_body};

/// How long an input is sent again without an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client waits for the number of shards.
const START: Duration = Duration::from_secs(10);
/// How often a watcher says that it watches.
const WATCHES: Duration = Duration::from_secs(1);

/// Opens rooms, and is a player in them. Clones are the same player in the same session. A player may
/// have four sessions at once, such as on several devices: the inputs of a fifth end the oldest one.
///
/// # Without Rust
///
/// A page in a browser uses the same subjects of NATS, over its websockets:
///
/// | subject | content |
/// |---|---|
/// | `log.SHARD.open.ROOM` | `{"kind": "arena", "args": ..}` opens a room |
/// | `log.SHARD.room.ROOM.PLAYER` | `{"s": session, "n": number, "i": ..}` is an input: `s` is higher in each session of the player, such as the time in milliseconds, and `n` counts from 1 |
/// | `rooms.watch.SHARD.ROOM` | anything, each second: somebody watches |
/// | `rooms.view.SHARD.ROOM` | `{"f": frame, "v": ..}`: a view, for watchers |
///
/// Requests to the first two are answered once the log has them. Until then, send the same message
/// again: an input with the same `s` and `n` counts once. [`Client::shard`] computes the shard, which
/// the page gets from the server that it comes from.
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
    pub async fn at(url: &str, player: &str) -> Result<Self, Fault> {
        Self::on(crate::log::NatsLog::connect(url).await?, player).await
    }

    /// A player on any log.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub async fn on(log: impl Log, player: &str) -> Result<Self, Fault> {
        Self::on_shared(Arc::new(log), player).await
    }

    async fn on_shared(log: Arc<dyn Log>, player: &str) -> Result<Self, Fault> {
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
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let session = u64::try_from(since.as_micros()).unwrap_or(0);
        Ok(Client {
            log,
            player,
            shards,
            session,
            numbers: Arc::default(),
        })
    }

    /// The same connection for another player, such as in a gateway.
    ///
    /// # Errors
    ///
    /// If the name has other characters than letters, digits, `-` and `_`.
    pub fn player(&self, name: &str) -> Result<Self, Fault> {
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
    /// # Errors
    ///
    /// If the log cannot be reached, or the name has other characters than letters, digits, `-` and
    /// `_`.
    pub async fn open<R: Room>(&self, room: &str, args: &R::Args) -> Result<RoomClient<R>, Fault> {
        let client = self.room::<R>(room)?;
        let args =
            serde_json::to_string(args).map_err(|error| Fault::Settings(error.to_string()))?;
        let body = open_body(R::NAME, &args).map_err(Fault::Settings)?;
        // Another opening after the room is over must not count as a double.
        let id = format!("open-{room}-{}-{}-{}", self.player, self.session, unique());
        client
            .append(&Topic::Open(client.room.clone()), &id, &body)
            .await?;
        Ok(client)
    }

    /// A room that is open, or will be. Inputs to a room that is not have no effect.
    ///
    /// # Errors
    ///
    /// If the name has other characters than letters, digits, `-` and `_`.
    pub fn room<R: Room>(&self, room: &str) -> Result<RoomClient<R>, Fault> {
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
            kind: PhantomData,
        })
    }
}

/// A number that no other call in this process gets.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn not_a_name(name: &str) -> Fault {
    Fault::Settings(format!(
        "`{name}` is no name: use 1 to 64 letters, digits, `-` and `_`"
    ))
}

/// A player in a room.
pub struct RoomClient<R> {
    client: Client,
    room: Arc<str>,
    shard: u32,
    numbers: Arc<Numbers>,
    kind: PhantomData<fn() -> R>,
}

impl<R> Clone for RoomClient<R> {
    fn clone(&self) -> Self {
        RoomClient {
            client: self.client.clone(),
            room: self.room.clone(),
            shard: self.shard,
            numbers: self.numbers.clone(),
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
    async fn append(&self, topic: &Topic, id: &str, body: &[u8]) -> Result<u64, Fault> {
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
    pub async fn send(&self, input: &R::Input) -> Result<u64, Fault> {
        let input = R::FORMAT.write(input).map_err(Fault::Settings)?;
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
    pub async fn watch(&self) -> Result<Watch<R>, Fault> {
        let mut watch = Watch {
            room: self.clone(),
            inbox: self.hear().await?,
            said: None,
        };
        watch.say().await;
        Ok(watch)
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
}

impl<R> fmt::Debug for Watch<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.room.room)
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

    /// The next view. It waits while the room has no owner, or is not open.
    ///
    /// # Cancel safety
    ///
    /// No view is lost that has arrived.
    ///
    /// # Errors
    ///
    /// If a view is not an `R::View`: server and client are of different versions.
    pub async fn next(&mut self) -> Result<View<R::View>, Fault> {
        loop {
            self.say().await;
            match timeout(WATCHES, self.inbox.next()).await {
                Ok(Some(message)) => {
                    let (frame, view) = open_view(&message.body).map_err(Fault::Settings)?;
                    return Ok(View { frame, view });
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

/// The mark of a view that is not in JSON.
const BINARY: u8 = 2;

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

fn open_view<V: serde::de::DeserializeOwned>(body: &[u8]) -> Result<(u64, V), String> {
    #[derive(serde::Deserialize)]
    struct Text<'a> {
        f: u64,
        #[serde(borrow)]
        v: &'a serde_json::value::RawValue,
    }
    if let Some(rest) = body.strip_prefix(&[BINARY]) {
        let (frame, view) = rest.split_first_chunk().ok_or("a view is too short")?;
        return Ok((u64::from_le_bytes(*frame), Format::read(view)?));
    }
    let text: Text<'_> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Ok((text.f, Format::read(text.v.get().as_bytes())?))
}
