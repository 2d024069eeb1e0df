//! A room: the trait of a game, and one live room with its runtime.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use framestep_durable::{Policy, Registry, Request, RequestId, Runtime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::entry::Player;

/// How inputs and views are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON, which browsers and people read.
    #[default]
    Json,
    /// [postcard](https://docs.rs/postcard): a few times shorter, for clients in Rust.
    Postcard,
}

/// The byte that messages in postcard begin with. JSON begins with another one.
const POSTCARD: u8 = 1;

impl Format {
    pub(crate) fn write<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, String> {
        match self {
            Format::Json => serde_json::to_vec(value).map_err(|error| error.to_string()),
            Format::Postcard => {
                postcard::to_extend(value, vec![POSTCARD]).map_err(|error| error.to_string())
            }
        }
    }

    /// Reads either format.
    pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
        match bytes.split_first() {
            Some((&POSTCARD, content)) => match postcard::take_from_bytes(content) {
                Ok((value, [])) => Ok(value),
                Ok(_) => Err("it is too long".to_owned()),
                Err(error) => Err(error.to_string()),
            },
            _ => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        }
    }
}

/// A room of a game: the state that its durable scripts borrow, what players do to it, and what
/// they see of it.
///
/// A room is a function of its inputs. Every node that has the room computes it, from the same
/// inputs in the same frames, so it must not depend on anything else: no clock, no random number but
/// from a generator in the room, no iteration of a `HashMap`, no file, no static. Nodes compare
/// a hash of each room in every fourth frame, and report a difference.
///
/// The value that implements this trait is lent to the scripts, as by
/// [`Runtime::run_frame_with`], and saved with them.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
/// use framestep_rooms::{Player, Room};
///
/// const HIT: Signal<u32> = signal("hit");
///
/// #[durable]
/// async fn guard() -> Chapter {
///     let damage = HIT.wait().await;
///     with(move |arena: &mut Arena| arena.health = arena.health.saturating_sub(damage));
///     wait_seconds(1).await;
///     with(|arena: &mut Arena| arena.health += 1);
///     Chapter::Next(guard())
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Arena {
///     health: u32,
/// }
///
/// impl Room for Arena {
///     const NAME: &'static str = "arena";
///     type Args = u32;
///     type Input = u32;
///     type View = u32;
///
///     fn registry() -> Registry {
///         Registry::new().script(guard)
///     }
///
///     fn open(runtime: &Runtime, health: u32) -> Self {
///         runtime.spawn(guard()).detach();
///         Arena { health }
///     }
///
///     fn input(&mut self, runtime: &Runtime, _: Player, damage: u32) {
///         runtime.named(&HIT).emit(damage);
///     }
///
///     fn view(&self) -> u32 {
///         self.health
///     }
/// }
/// ```
pub trait Room: Serialize + DeserializeOwned + 'static {
    /// The name of this kind of room, in logs and saves.
    const NAME: &'static str;

    /// How inputs of Rust clients and views are written. Inputs are read in each format.
    const FORMAT: Format = Format::Json;
    /// What happens to scripts whose code differs from that of the build before, in an upgrade: by
    /// default they go on waiting as before, and then restart their chapter.
    const CHANGED: Policy = Policy::RestartAfterWait;

    /// What a room is opened with, such as the seed of its generator.
    type Args: Serialize + DeserializeOwned;

    /// What a player does.
    type Input: Serialize + DeserializeOwned;

    /// What watchers see.
    type View: Serialize + DeserializeOwned;

    /// The durable scripts of the room.
    fn registry() -> Registry;

    /// What scripts ask of the outside with [`ask`](framestep_durable::ask). None by default.
    fn effects() -> Effects {
        Effects::new()
    }

    /// Opens a room, before its first frame. Scripts that need the state are
    /// [spawned](framestep_durable::RuntimeHandle::spawn), not started, because the state is only lent in
    /// frames.
    fn open(runtime: &Runtime, args: Self::Args) -> Self;

    /// Takes an input of a player, before the frame to which it belongs.
    ///
    /// Inputs of a frame arrive in the order of the log. Nothing is checked but the size, the rate
    /// and the form: whether the player may do this is for the room to decide.
    fn input(&mut self, runtime: &Runtime, player: Player, input: Self::Input);

    /// What all see, after a frame. Views may be skipped, and are not saved.
    ///
    /// It is sent when it has changed, and once a second, while somebody watches.
    fn view(&self) -> Self::View;

    /// Whether each player has a view of its own, as [`view_for`](Self::view_for) returns it: such as its
    /// hand of cards, or what its units see. Then [`watch`](crate::RoomClient::watch) shows that and
    /// nothing else, and [`spectate`](crate::RoomClient::spectate) what all see.
    const VIEW_PER_PLAYER: bool = false;

    /// What a player sees, in a room with [`VIEW_PER_PLAYER`](Self::VIEW_PER_PLAYER).
    fn view_for(&self, player: &Player) -> Self::View {
        let _ = player;
        self.view()
    }

    /// A player comes or goes, before the frame to which that belongs. Nothing happens by default.
    ///
    /// A player is there while it [watches](crate::RoomClient::watch), and is gone some seconds after it
    /// has stopped. It is an entry of the log, as an input is: each node computes the same.
    fn presence(&mut self, runtime: &Runtime, player: Player, presence: Presence) {
        let _ = (runtime, player, presence);
    }

    /// Whether the room is over. It is asked after each frame; a room that is over is closed, and
    /// its name is free.
    fn is_over(&self) -> bool {
        false
    }
}

/// How a player comes or goes, for [`Room::presence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Presence {
    /// It watches for the first time, as far as the room remembers.
    Joined,
    /// It does not watch any more. Its connection may be lost: it may return.
    Gone,
    /// It watches again.
    Returned,
    /// The operator has removed it: its inputs have no effect any more.
    Kicked,
}

/// The key of an effect: the same for every attempt, and never that of another effect.
///
/// Give it to the outside as the idempotency key: an effect is performed at least once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectKey {
    /// The room.
    pub room: Arc<str>,
    /// The entry of the log that has opened the room: names can be used again.
    pub opened: u64,
    /// The number of the question in the room.
    pub number: u64,
    /// A random number of the log: a log that was made anew counts its entries from 1 again.
    pub log: u64,
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EffectKey {
            room,
            opened,
            number,
            log,
        } = self;
        write!(f, "{room}-{opened}-{number}-{log:x}")
    }
}

/// A boxed future that can move between threads: what the methods of a [`Log`](crate::log::Log) return.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub(crate) type Perform =
    Arc<dyn Fn(EffectKey, &[u8]) -> Option<Later<'static, Vec<u8>>> + Send + Sync>;

/// What scripts of a room may ask of the outside, and how it is performed.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
/// use framestep_rooms::Effects;
///
/// #[derive(Serialize, Deserialize)]
/// struct Purchase {
///     item: u32,
/// }
///
/// impl Request for Purchase {
///     const NAME: &'static str = "purchase";
///     type Answer = bool;
/// }
///
/// let effects = Effects::new().with(|key, purchase: Purchase| async move {
///     // An HTTP request to the shop, with the key `key`: another node may repeat it.
///     let _ = (key, purchase.item);
///     true
/// });
/// # let _ = effects;
/// ```
#[derive(Clone, Default)]
pub struct Effects {
    pub(crate) known: Vec<Effect>,
}

#[derive(Clone)]
pub(crate) struct Effect {
    pub(crate) name: &'static str,
    pub(crate) perform: Perform,
    pub(crate) find: fn(&Runtime) -> Vec<Question>,
    pub(crate) answer: fn(&Runtime, &[u8], &[u8]) -> bool,
    pub(crate) is_open: fn(&Runtime, &[u8]) -> bool,
}

/// A question of a script to the outside.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) number: u64,
    pub(crate) id: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

impl Effects {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind of request. `perform` is called on the node that owns the room, once the frame
    /// that has asked is in the log, and until there is an answer: perhaps on several nodes, so at
    /// least once. The first answer that gets into the log is the one that the script receives,
    /// exactly once. If `perform` panics, it is called again after a second.
    ///
    /// # Panics
    ///
    /// If another kind has the same name.
    #[must_use]
    #[track_caller]
    pub fn with<R, F>(mut self, perform: impl Fn(EffectKey, R) -> F + Send + Sync + 'static) -> Self
    where
        R: Request,
        F: Future<Output = R::Answer> + Send + 'static,
    {
        assert!(
            self.known.iter().all(|known| known.name != R::NAME),
            "two effects are named `{}`",
            R::NAME
        );
        let perform = move |key: EffectKey, content: &[u8]| {
            let request = postcard::from_bytes(content).ok()?;
            let answer = perform(key, request);
            let later: Later<'static, Vec<u8>> = Box::pin(async move { write(&answer.await) });
            Some(later)
        };
        self.known.push(Effect {
            name: R::NAME,
            perform: Arc::new(perform),
            find: |runtime| {
                let question = |(id, request): (RequestId<R>, R)| Question {
                    number: id.number(),
                    id: write(&id),
                    content: write(&request),
                };
                runtime.requests::<R>().into_iter().map(question).collect()
            },
            answer: |runtime, id, answer| {
                let id = postcard::from_bytes::<RequestId<R>>(id);
                let answer = postcard::from_bytes::<R::Answer>(answer);
                match (id, answer) {
                    (Ok(id), Ok(answer)) => runtime.answer(id, &answer),
                    _ => false,
                }
            },
            is_open: |runtime, id| {
                let id = postcard::from_bytes::<RequestId<R>>(id);
                id.is_ok_and(|id| runtime.is_open(id))
            },
        });
        self
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.known.iter().map(|known| known.name))
            .finish()
    }
}

fn write<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value)
        .expect("requests and answers serialise without a self-describing format")
}
