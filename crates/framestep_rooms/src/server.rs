//! The server: a node that runs its part of all rooms.

mod builder;
mod error;
mod health;
mod membership;
mod node;
mod watchdog;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::builds;
use crate::entry::{Build, Generation};
use crate::event::{self, Hook};
use crate::live::Kind;
use crate::log::{Log, LogError};
use crate::member::Members;
use crate::probe;
use crate::reminders::{MINUTE, Reminders};
use crate::replay::print;
use crate::room::Room;
use crate::shard::Limits;
use builder::check;
use framestep_durable::StableHash;

pub(crate) use builder::Options;
pub use error::ServerError;
pub use health::Health;
pub(crate) use node::{Node, Stage};

enum Where {
    Log(Arc<dyn Log>),
    #[cfg(feature = "nats")]
    Nats(String),
}

impl Where {
    #[cfg(feature = "nats")]
    async fn open(&mut self) -> Result<Arc<dyn Log>, LogError> {
        if let Where::Nats(url) = self {
            *self = Where::Log(Arc::new(crate::log::NatsLog::connect(url).await?));
        }
        match self {
            Where::Log(log) => Ok(log.clone()),
            Where::Nats(_) => unreachable!("it was opened"),
        }
    }

    #[cfg(not(feature = "nats"))]
    #[expect(clippy::unused_async, reason = "it is with NATS")]
    async fn open(&mut self) -> Result<Arc<dyn Log>, LogError> {
        let Where::Log(log) = self;
        Ok(log.clone())
    }
}

/// A node that runs its part of all rooms, until it is told to stop.
///
/// Start as many nodes as you like, with the same settings, on any machines that reach the log. Each
/// shard of rooms runs on one of them, and its standbys follow. If a node ends, for whatever reason,
/// its rooms fail over to another, in the frame and at the `.await` where they were.
///
/// # Examples
///
/// One process, without a server for the log:
///
/// ```
/// # use framestep_durable::prelude::*;
/// # use framestep_rooms::{Player, Room};
/// use framestep_rooms::log::MemoryLog;
/// use framestep_rooms::{Client, Server};
///
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
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let log = MemoryLog::new();
///     let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
///     let server = Server::on(log.clone()).room::<Counter>().serve(async {
///         let _ = stopped.await;
///     });
///     let server = tokio::spawn(server);
///
///     let client = Client::on(log, "alice").await?;
///     let room = client.open::<Counter>("counter-1", &40).await?;
///     let mut views = room.watch().await?;
///     room.send(&2).await?; // durable from here on
///     while let Some(view) = views.next().await? {
///         if view.view == 42 {
///             break;
///         }
///     }
///
///     let _ = stop.send(());
///     server.await??;
///     Ok(())
/// }
/// ```
pub struct Server {
    log: Where,
    name: String,
    build: Option<String>,
    kinds: Vec<Kind>,
    has_effects: bool,
    options: Options,
    hook: Hook,
    health: Health,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("rooms", &self.kinds)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// A node whose log is in NATS, such as at `nats://127.0.0.1:4222`.
    #[cfg(feature = "nats")]
    pub fn at(url: impl Into<String>) -> Self {
        Self::of(Where::Nats(url.into()))
    }

    /// A node with any log.
    pub fn on(log: impl Log) -> Self {
        Self::of(Where::Log(Arc::new(log)))
    }

    fn of(log: Where) -> Self {
        Server {
            log,
            name: format!("node-{}", std::process::id()),
            build: None,
            kinds: Vec::new(),
            has_effects: false,
            options: Options {
                shards: 8,
                standbys: 1,
                snapshot_interval: Duration::from_secs(5),
                spacing: Duration::from_secs(150),
                failover_timeout: Duration::from_millis(300),
                ticks: 30,
                threads: thread::available_parallelism().map_or(1, usize::from),
                limits: Limits {
                    rooms: 1_000,
                    size: 4 << 10,
                    rate: 60,
                },
                watchdog_timeout: Duration::from_secs(5),
                probes: true,
                keeps_log: false,
                answer: 4 << 10,
            },
            hook: Arc::new(event::print),
            health: Health::default(),
        }
    }

    /// Runs until the process receives SIGTERM or SIGINT; then it drains: the rooms are saved, other
    /// nodes take them over, and this returns. A drain lasts 10 s at most, also if the log cannot be
    /// reached: what could not be saved is in the log, and goes on with the next start.
    ///
    /// # Errors
    ///
    /// If the log cannot be reached at the start, or was made with other settings. Later the node
    /// waits for it.
    pub async fn run<R: Room>(self) -> Result<(), ServerError> {
        self.room::<R>().serve(stop_signal()).await
    }

    /// The same for several kinds of [rooms](Self::room), until `stop` is ready.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn serve(mut self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        if let Some(asked) = print::asked() {
            let (asked, handle) = (asked?, Handle::current());
            // Rooms stay on the thread on which they were made.
            let printing = move || handle.block_on(print::run(self, asked));
            let printed = tokio::task::spawn_blocking(printing).await;
            return printed.unwrap_or_else(|panic| Err(std::io::Error::other(panic).into()));
        }
        if std::env::var_os(probe::VARIABLE).is_some() {
            probe::run(&self.kinds.into(), &self.options);
        }
        check(&self.name, &self.kinds, &self.options)?;
        let log = self.log().await?;
        let kinds: Arc<[Kind]> = self.kinds.into();
        let options = self.options;
        log.prepare(options.shards, options.largest_entry()).await?;
        let me: Arc<str> = format!("{}.{:x}", self.name, crate::random()).into();
        let code = match self.build {
            Some(name) => StableHash::digest(name.as_bytes()),
            None => StableHash::digest(&std::fs::read(std::env::current_exe()?)?),
        };
        let settings = options.of_rooms();
        let mut build = StableHash::new();
        build.add(code);
        build.add_bytes(settings.as_bytes());
        let build = build.finish();
        let generation = join(&*log, &kinds, build).await?;
        let threads = options.threads.min(options.shards as usize);
        let node = Arc::new(Node {
            members: Mutex::new(Arc::new(Members::new(
                options.failover_timeout * 3,
                options.shards,
            ))),
            left: Mutex::new(Vec::new()),
            begins: Mutex::new(BTreeMap::new()),
            log,
            kinds,
            me,
            name: self.name,
            build,
            has_effects: self.has_effects,
            generation: AtomicU64::new(generation),
            began: Instant::now(),
            stage: watch::Sender::new(Stage::Runs),
            watched: Mutex::default(),
            hears_since: Mutex::default(),
            told_full: Mutex::new(Reminders::every(MINUTE)),
            code,
            settings: settings.into(),
            parts: Mutex::new(BTreeMap::new()),
            failing: Mutex::new(BTreeMap::new()),
            saved: Mutex::new(Vec::new()),
            probes: probe::Probes::new(threads),
            alarms: (0..threads).map(|_| Arc::default()).collect(),
            handle: Handle::current(),
            hook: self.hook,
            health: self.health,
            options,
        });
        node.serve(threads, stop).await
    }

    /// The log, which is opened once.
    pub(crate) async fn log(&mut self) -> Result<Arc<dyn Log>, ServerError> {
        self.log.open().await.map_err(Into::into)
    }

    /// What its rooms are computed with.
    pub(crate) fn into_parts(self) -> Result<(Arc<[Kind]>, Options), ServerError> {
        let kinds: Arc<[Kind]> = self.kinds.into();
        check(&self.name, &kinds, &self.options)?;
        Ok((kinds, self.options))
    }

    /// Whether the node is well, also while it [runs](Self::run): take it before.
    pub fn health(&self) -> Health {
        self.health.clone()
    }
}

/// Ready when the process receives SIGTERM or SIGINT.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// How long a node that starts waits for a log that was there a moment ago.
const PATIENCE: Duration = Duration::from_secs(30);

/// Checks that the log is of this game, and returns the generation of the build.
async fn join(log: &dyn Log, kinds: &[Kind], build: Build) -> Result<Generation, ServerError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let joined = async {
            check_game(log, kinds).await?;
            Ok(builds::register(log, build, 0).await?)
        };
        match joined.await {
            Err(ServerError::Log(LogError::Unreachable(_))) if Instant::now() < until => {
                sleep(Duration::from_millis(500)).await;
            }
            joined => return joined,
        }
    }
}

/// The key of the kinds of rooms that a log has had.
const KINDS: &str = "kinds";

/// Checks that the log is of this game: it has one of the kinds of rooms. A node of another game would
/// take shards that are empty.
async fn check_game(log: &dyn Log, kinds: &[Kind]) -> Result<(), ServerError> {
    loop {
        let kept = log.kept(KINDS).await?;
        let revision = kept.as_ref().map_or(0, |kept| kept.revision);
        let known = kept.map(|kept| serde_json::from_slice::<BTreeSet<String>>(&kept.body));
        let known = known.transpose().map_err(|error| {
            LogError::Failed(format!(
                "the list of kinds of rooms cannot be read: {error}"
            ))
        })?;
        let own: BTreeSet<String> = kinds.iter().map(|kind| kind.name.to_owned()).collect();
        let known = known.unwrap_or_default();
        if !known.is_empty() && known.is_disjoint(&own) {
            let list = |kinds: BTreeSet<String>| kinds.into_iter().collect::<Vec<_>>().join("`, `");
            return Err(ServerError::Settings(format!(
                "the log is of another game: its rooms are of the kinds `{}`, and this server has `{}`. Use \
                 another log, such as by `NatsLog::named`",
                list(known),
                list(own)
            )));
        }
        let all: BTreeSet<String> = known.union(&own).cloned().collect();
        if all == known {
            return Ok(());
        }
        let body = serde_json::to_vec(&all).unwrap_or_default();
        match log.keep(KINDS, revision, &body).await {
            // Another node adds its own at the same time.
            Err(LogError::Refused) => {}
            kept => return kept.map(drop).map_err(Into::into),
        }
    }
}
