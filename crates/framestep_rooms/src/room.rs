//! A room: the trait of a game, and one live room with its runtime.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep_durable::{Policy, Registry, Request, RequestId, Runtime, SaveState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::entry::Player;
use crate::news::without_numbers;

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
///         Registry::new().with::<Guard>()
///     }
///
///     fn open(runtime: &Runtime, health: u32) -> Self {
///         runtime.spawn(guard()).detach();
///         Arena { health }
///     }
///
///     fn input(&mut self, runtime: &Runtime, _: Player, damage: u32) {
///         runtime.emit(&HIT, damage);
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

    /// What watchers see, after a frame. Views may be skipped, and are not saved.
    fn view(&self) -> Self::View;

    /// Whether the room is over. It is asked after each frame; a room that is over is closed, and
    /// its name is free.
    fn is_over(&self) -> bool {
        false
    }
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
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.room, self.opened, self.number)
    }
}

/// A boxed future that can move between threads: what the methods of a [`Log`](crate::log::Log) return.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type Perform = Arc<dyn Fn(EffectKey, &[u8]) -> Option<Later<'static, Vec<u8>>> + Send + Sync>;

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
    known: Vec<Effect>,
}

#[derive(Clone)]
struct Effect {
    name: &'static str,
    perform: Perform,
    find: fn(&Runtime) -> Vec<Question>,
    answer: fn(&Runtime, &[u8], &[u8]) -> bool,
    is_open: fn(&Runtime, &[u8]) -> bool,
}

/// A question of a script to the outside.
#[derive(Clone, Debug)]
struct Question {
    number: u64,
    id: Vec<u8>,
    content: Vec<u8>,
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

/// A live room, or why there is none.
pub(crate) type Made = Result<Box<dyn Live>, String>;

/// A kind of room.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) open: fn(&[u8]) -> Made,
    pub(crate) restore: fn(&[u8]) -> Made,
}

impl Kind {
    pub(crate) fn of<R: Room>() -> Self {
        Kind {
            name: R::NAME,
            open: |args| Ok(Box::new(LiveRoom::<R>::open(args)?)),
            restore: |save| Ok(Box::new(LiveRoom::<R>::restore(save)?)),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An effect that is to be performed.
pub(crate) struct Asked {
    pub(crate) number: u64,
    content: Vec<u8>,
    perform: Perform,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asked({})", self.number)
    }
}

impl Asked {
    /// The answer, later. `None` if the request cannot be read.
    pub(crate) fn perform(&self, key: EffectKey) -> Option<Later<'static, Vec<u8>>> {
        (self.perform)(key, &self.content)
    }
}

/// What the runtime of a room has reported.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// How many scripts have panicked, and how the last one did.
    pub(crate) panics: u64,
    pub(crate) last_panic: Option<String>,
    /// What was not reported before, a sentence each.
    pub(crate) lines: Vec<String>,
}

/// How many reports of a room a node says.
const MOST_REPORTS: usize = 20;

/// A live room of any kind. A call that panics may leave it in any state: it is dropped then.
pub(crate) trait Live {
    fn input(&mut self, player: Player, input: &[u8]) -> Result<(), String>;
    fn frame(&mut self, step: Duration);
    fn is_over(&self) -> bool;
    /// A hash of the room. The same on all nodes.
    fn hash(&self) -> Result<u64, String>;
    fn save(&self) -> Result<Vec<u8>, String>;
    fn view(&self) -> Result<Vec<u8>, String>;
    /// How many scripts are alive.
    fn scripts(&self) -> usize;
    /// What the runtime has reported since the last call.
    fn reported(&mut self) -> Option<Reported>;
    /// The questions to the outside without an answer.
    fn asked(&mut self) -> Vec<Asked>;
    /// Answers a question. Returns whether it was open.
    fn answer(&mut self, number: u64, answer: &[u8]) -> bool;
    /// The `LiveRoom`, for tools that know its kind.
    fn any(&self) -> &dyn Any;
}

/// Looks at a live room of a kind. `None` if it is of another one.
pub(crate) fn look<R: Room, T>(live: &dyn Live, look: impl FnOnce(&R, &Runtime) -> T) -> Option<T> {
    let live = live.any().downcast_ref::<LiveRoom<R>>()?;
    Some(look(&live.room, &live.runtime))
}

struct LiveRoom<R> {
    runtime: Runtime,
    room: R,
    effects: Rc<[Effect]>,
    /// By number: the kind, and the question.
    open: BTreeMap<u64, (usize, Question)>,
    reports: Reports,
    /// What was reported before: each script and kind of report is said once.
    reported: BTreeSet<String>,
}

type Reports = Rc<RefCell<Vec<Report>>>;

/// A runtime whose reports are kept.
fn runtime<R: Room>() -> (Runtime, Reports) {
    let runtime = Runtime::new(R::registry());
    let reports = Reports::default();
    hear(&runtime, reports.clone());
    (runtime, reports)
}

fn hear(runtime: &Runtime, reports: Reports) {
    let hook = move |report: &Report| reports.borrow_mut().push(report.clone());
    runtime.executor().on_report(hook);
}

/// Sorts reports.
fn sort(runtime: &Runtime, reports: Vec<Report>, before: &mut BTreeSet<String>) -> Reported {
    let mut reported = Reported::default();
    for report in reports {
        let (subject, line) = match &report {
            Report::CoroutinePanicked {
                id, name, message, ..
            } => {
                reported.panics += 1;
                let message = message.as_deref().unwrap_or("a panic without a text");
                let place = runtime.panicked_after(*id);
                let place = place.map_or(String::new(), |place| format!(" (after {place})"));
                let line = format!("script `{name}` has panicked: {message}{place}");
                reported.last_panic = Some(line.clone());
                (format!("panic {name}"), line)
            }
            report => {
                let line = report.to_string();
                (without_numbers(&line), line)
            }
        };
        if before.len() < MOST_REPORTS && before.insert(subject) {
            reported.lines.push(line);
        }
    }
    reported
}

impl<R: Room> LiveRoom<R> {
    fn open(args: &[u8]) -> Result<Self, String> {
        let args =
            Format::read(args).map_err(|error| format!("its arguments cannot be read: {error}"))?;
        let (runtime, reports) = runtime::<R>();
        let room = R::open(&runtime, args);
        Ok(Self::new(runtime, reports, room))
    }

    fn restore(save: &[u8]) -> Result<Self, String> {
        let (mut runtime, reports) = runtime::<R>();
        let read = SaveState::from_bytes_with::<R>(save);
        let (save, room) = read.map_err(|error| error.to_string())?;
        let restored = runtime.restore(&save, R::CHANGED);
        restored.map_err(|error| error.to_string())?;
        Ok(Self::new(runtime, reports, room))
    }

    fn new(runtime: Runtime, reports: Reports, room: R) -> Self {
        LiveRoom {
            runtime,
            room,
            effects: R::effects().known.into(),
            open: BTreeMap::new(),
            reports,
            reported: BTreeSet::new(),
        }
    }
}

impl<R: Room> Live for LiveRoom<R> {
    fn input(&mut self, player: Player, input: &[u8]) -> Result<(), String> {
        let input = Format::read(input)?;
        self.room.input(&self.runtime, player, input);
        Ok(())
    }

    fn frame(&mut self, step: Duration) {
        self.runtime.run_frame_with(&mut self.room, step);
    }

    fn is_over(&self) -> bool {
        self.room.is_over()
    }

    fn hash(&self) -> Result<u64, String> {
        let checksum = self.runtime.checksum_with(&self.room);
        checksum.map_err(|error| error.to_string())
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        let save = self
            .runtime
            .save_state()
            .map_err(|error| error.to_string())?;
        // With the names of fields: the next build may have others.
        let described = save
            .described(&self.runtime.registry())
            .and_then(|save| save.try_to_bytes_with(&self.room));
        // A state that is nested too deep cannot be described.
        described
            .or_else(|_| save.try_to_bytes_with(&self.room))
            .map_err(|error| error.to_string())
    }

    fn view(&self) -> Result<Vec<u8>, String> {
        R::FORMAT.write(&self.room.view())
    }

    fn scripts(&self) -> usize {
        self.runtime.scripts().len()
    }

    fn reported(&mut self) -> Option<Reported> {
        if self.reports.borrow().is_empty() {
            return None;
        }
        let reports = std::mem::take(&mut *self.reports.borrow_mut());
        Some(sort(&self.runtime, reports, &mut self.reported))
    }

    fn asked(&mut self) -> Vec<Asked> {
        for (kind, effect) in self.effects.iter().enumerate() {
            for question in (effect.find)(&self.runtime) {
                self.open.insert(question.number, (kind, question));
            }
        }
        let (effects, runtime) = (&self.effects, &self.runtime);
        self.open
            .retain(|_, (kind, question)| (effects[*kind].is_open)(runtime, &question.id));
        let asked = |(&number, (kind, question)): (&u64, &(usize, Question))| Asked {
            number,
            content: question.content.clone(),
            perform: self.effects[*kind].perform.clone(),
        };
        self.open.iter().map(asked).collect()
    }

    fn answer(&mut self, number: u64, answer: &[u8]) -> bool {
        // A node that has only just restored the room does not know its questions yet.
        if !self.open.contains_key(&number) && !self.effects.is_empty() {
            self.asked();
        }
        let Some((kind, question)) = self.open.remove(&number) else {
            return false;
        };
        (self.effects[kind].answer)(&self.runtime, &question.id, answer)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}
