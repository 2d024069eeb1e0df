//! The server: a node that runs its part of all rooms.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, timeout};

use crate::builds;
use crate::driver::drive;
use crate::entry::{Build, Generation, is_name};
use crate::log::{Log, LogError};
use crate::member::{Heartbeat, Members};
use crate::notes::{Bulletin, Failure, Hook, Part, Parts, ServerNote, print};
use crate::probe;
use crate::room::{Kind, Room};
use crate::shard::Limits;
use framestep_durable::StableHash;

/// How long a room stays watched after its watcher was heard.
const WATCHED: Duration = Duration::from_secs(5);

/// How often a node reads which builds there are.
const BUILDS: Duration = Duration::from_secs(2);

/// How long a watcher hears that there is no room, after it was heard: it may watch a little before
/// the room is opened.
const JUST_NOW: Duration = Duration::from_millis(250);

/// Why a server has stopped, or has not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// The log.
    Log(LogError),
    /// The settings of the server.
    Settings(String),
    /// The operating system.
    System(std::io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Log(error) => error.fmt(f),
            ServerError::Settings(why) => f.write_str(why),
            ServerError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServerError {}

impl From<LogError> for ServerError {
    fn from(error: LogError) -> Self {
        ServerError::Log(error)
    }
}

impl From<std::io::Error> for ServerError {
    fn from(error: std::io::Error) -> Self {
        ServerError::System(error)
    }
}

/// The settings of a node.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) shards: u32,
    pub(crate) standbys: usize,
    pub(crate) snapshot_interval: Duration,
    pub(crate) spacing: Duration,
    pub(crate) failover_timeout: Duration,
    pub(crate) ticks: u32,
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) watchdog_timeout: Duration,
    pub(crate) probes: bool,
    pub(crate) keeps_log: bool,
}

enum Where {
    Log(Arc<dyn Log>),
    #[cfg(feature = "nats")]
    Nats(String),
}

impl Where {
    #[cfg(feature = "nats")]
    async fn open(self) -> Result<Arc<dyn Log>, LogError> {
        match self {
            Where::Log(log) => Ok(log),
            Where::Nats(url) => Ok(Arc::new(crate::log::NatsLog::connect(&url).await?)),
        }
    }

    #[cfg(not(feature = "nats"))]
    #[expect(clippy::unused_async, reason = "it is with NATS")]
    async fn open(self) -> Result<Arc<dyn Log>, LogError> {
        let Where::Log(log) = self;
        Ok(log)
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
            },
            hook: Arc::new(print),
        }
    }

    /// Adds a kind of room.
    ///
    /// # Panics
    ///
    /// If another kind has the same name.
    #[must_use]
    #[track_caller]
    pub fn room<R: Room>(mut self) -> Self {
        let is_new = self.kinds.iter().all(|kind| kind.name != R::NAME);
        assert!(is_new, "two kinds of rooms are named `{}`", R::NAME);
        self.kinds.push(Kind::of::<R>());
        self.has_effects |= !format!("{:?}", R::effects()).eq("[]");
        self
    }

    /// Names the node, for messages. `node-` and the number of the process by default.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Names the build. Nodes of one build compute the same frames; another build never replays
    /// them, but begins where the old one hands over. By default a hash of the executable: give a
    /// name if the nodes have different executables of the same code, such as on several
    /// architectures.
    ///
    /// The log notes the order in which builds were first started. A build takes shards from earlier
    /// ones, and never from later ones, however often its nodes restart: it would drop what it does not
    /// know of their state. To go back to it, [`prefer`](crate::prefer) it.
    #[must_use]
    pub fn build_id(mut self, name: impl Into<String>) -> Self {
        self.build = Some(name.into());
        self
    }

    /// How many shards the rooms are distributed to, 8 by default: at least a few for each thread of
    /// all nodes. It cannot change later: rooms would be searched for in the wrong one.
    #[must_use]
    pub fn shards(mut self, shards: u32) -> Self {
        self.options.shards = shards;
        self
    }

    /// How many other nodes follow each shard, 1 by default. With one, rooms go on at once after a
    /// node is lost; without, another node loads the last save first. Each costs as much computing as
    /// the owner.
    #[must_use]
    pub fn standbys(mut self, standbys: usize) -> Self {
        self.options.standbys = standbys;
        self
    }

    /// How often a shard is saved, every 5 s by default: a node that has no state of a shard replays
    /// at most so much.
    #[must_use]
    pub fn snapshot_interval(mut self, period: Duration) -> Self {
        self.options.snapshot_interval = period;
        self
    }

    /// How long a save stays at least, 150 s by default, and the log since then: if a loss of power
    /// takes the tail of the log, there is one before it. NATS writes to the disk every two minutes,
    /// unless it has `sync_interval: always`.
    #[must_use]
    pub fn snapshot_retention(mut self, period: Duration) -> Self {
        self.options.spacing = period;
        self
    }

    /// After how long without a tick a node counts as lost, 300 ms by default. A node that is only
    /// slow loses its shards, and nothing else.
    #[must_use]
    pub fn failover_timeout(mut self, period: Duration) -> Self {
        self.options.failover_timeout = period;
        self
    }

    /// Frames of each room a second, 30 by default.
    #[must_use]
    pub fn ticks_per_second(mut self, ticks: u32) -> Self {
        self.options.ticks = ticks;
        self
    }

    /// Threads that run rooms, one for each core by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Inputs that a player may send to a room in a second, 60 by default, and as many at once. More
    /// have no effect.
    #[must_use]
    pub fn inputs_per_second(mut self, inputs: u32) -> Self {
        self.options.limits.rate = inputs;
        self
    }

    /// Bytes of an input at most, 4 KiB by default. Larger ones have no effect.
    #[must_use]
    pub fn max_input(mut self, bytes: usize) -> Self {
        self.options.limits.size = bytes;
        self
    }

    /// Rooms of a shard at most, 1,000 by default. More are not opened.
    #[must_use]
    pub fn max_rooms(mut self, rooms: usize) -> Self {
        self.options.limits.rooms = rooms;
        self
    }

    /// After how long a frame of a room counts as hung, 5 s by default. The process ends then, with
    /// a sentence: nothing else ends a loop. Another node finds the room, and does not run it any
    /// more; until then, so long, the other rooms of its shard stand still.
    #[must_use]
    pub fn watchdog_timeout(mut self, period: Duration) -> Self {
        self.options.watchdog_timeout = period;
        self
    }

    /// Whether a frame that may have ended another node is tried in a child process first, as it is by
    /// default. The child is this executable with the same arguments. It ends in [`serve`](Self::serve),
    /// before the log is reached; a node that has learnt the members keeps one ready. What the program does
    /// before `serve` is done in the child, too.
    ///
    /// Without it, a room that ends or hangs its process ends all nodes that run it, again and again.
    /// Turn it off where the program must not be started twice, such as in a test with several nodes.
    #[must_use]
    pub fn probe_frames(mut self, tries: bool) -> Self {
        self.options.probes = tries;
        self
    }

    /// Keeps all of the log, so that each frame can be replayed.
    #[must_use]
    pub fn keep_log(mut self) -> Self {
        self.options.keeps_log = true;
        self
    }

    /// Calls `hook` with what the operator should know, a sentence each. By default all of it is printed
    /// to standard error.
    ///
    /// [Warnings](ServerNote::is_warning) are what somebody should look at: a room that is broken, a
    /// script that has panicked, an input that has no effect, a log that does not answer. The other notes
    /// say that the node has joined, which shards it runs, and which nodes come and go.
    ///
    /// A room's notes come from the node that runs it. Each room says each script's panics once, what has
    /// no effect is counted and said once a second, and a log that does not answer is said once. `top` has
    /// the numbers.
    #[must_use]
    pub fn on_note(mut self, hook: impl Fn(&ServerNote) + Send + Sync + 'static) -> Self {
        self.hook = Arc::new(hook);
        self
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
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let kinds: Arc<[Kind]> = self.kinds.into();
        let options = self.options;
        if std::env::var_os(probe::VARIABLE).is_some() {
            probe::run(&kinds, &options);
        }
        check(&self.name, &kinds, &options)?;
        let log = self.log.open().await?;
        log.prepare(options.shards).await?;
        let me: Arc<str> = format!("{}.{:x}", self.name, crate::random()).into();
        let build = match self.build {
            Some(name) => StableHash::digest(name.as_bytes()),
            None => StableHash::digest(&std::fs::read(std::env::current_exe()?)?),
        };
        let generation = builds::register(&*log, build, 0).await?;
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
            watched: Mutex::new(HashMap::new()),
            parts: Mutex::new(BTreeMap::new()),
            failing: Mutex::new(BTreeMap::new()),
            saved: Mutex::new(Vec::new()),
            probes: probe::Probes::new(threads),
            alarms: (0..threads).map(|_| Arc::default()).collect(),
            handle: Handle::current(),
            hook: self.hook,
            options,
        });
        node.serve(threads, stop).await
    }

    /// The log, and what its rooms are computed with.
    pub(crate) async fn into_parts(
        self,
    ) -> Result<(Arc<dyn Log>, Arc<[Kind]>, Options), ServerError> {
        let kinds: Arc<[Kind]> = self.kinds.into();
        check(&self.name, &kinds, &self.options)?;
        Ok((self.log.open().await?, kinds, self.options))
    }
}

fn check(name: &str, kinds: &[Kind], options: &Options) -> Result<(), ServerError> {
    let wrong = |text: &str| Err(ServerError::Settings(text.to_owned()));
    if !is_name(name) {
        return wrong(&format!(
            "`{name}` cannot name a node: use letters, digits, `-` and `_`"
        ));
    }
    if kinds.is_empty() {
        return wrong("the server has no kind of room: call `.room::<R>()`");
    }
    if options.shards == 0 || options.threads == 0 || options.ticks == 0 || options.limits.rate == 0
    {
        return wrong("shards, threads, ticks and inputs a second must be at least 1");
    }
    if options.ticks > 1_000 {
        return wrong("more than 1,000 ticks a second are not possible");
    }
    if options.failover_timeout < Duration::from_millis(20) {
        return wrong("`failover_timeout` must be at least 20 ms");
    }
    Ok(())
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

/// How far a node is with stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Runs,
    /// It saves what it owns.
    Saves,
    /// Others take its shards over.
    Leaves,
    /// No other node does.
    Finishes,
    /// The log does not answer: what is not saved is in the log.
    Ends,
}

/// A room that somebody watches.
#[derive(Debug)]
struct Watched {
    /// When that was said last.
    at: Instant,
    /// Whether it was said since the last frame.
    is_new: bool,
}

/// A node: what all its threads share.
pub(crate) struct Node {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) kinds: Arc<[Kind]>,
    pub(crate) options: Options,
    pub(crate) me: Arc<str>,
    name: String,
    pub(crate) build: Build,
    pub(crate) has_effects: bool,
    /// The generation of the build, as the log has said last.
    generation: AtomicU64,
    began: Instant,
    members: Mutex<Arc<Members>>,
    pub(crate) stage: watch::Sender<Stage>,
    watched: Mutex<HashMap<u32, HashMap<String, Watched>>>,
    /// What this node does for each shard that it has.
    parts: Mutex<BTreeMap<u32, Part>>,
    /// The shards of which the log does not answer.
    failing: Mutex<BTreeMap<u32, Failure>>,
    /// Shards that have nothing to save any more.
    saved: Mutex<Vec<u32>>,
    /// Shards that this node does not tick any more, because it stops.
    left: Mutex<Vec<u32>>,
    /// Shards of other builds, and whether this node can begin them.
    begins: Mutex<BTreeMap<u32, bool>>,
    pub(crate) alarms: Vec<Arc<Alarm>>,
    pub(crate) probes: probe::Probes,
    pub(crate) handle: Handle,
    hook: Hook,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is changed in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn members(&self) -> Arc<Members> {
        lock(&self.members).clone()
    }

    /// Warns about a shard.
    pub(crate) fn tell(&self, shard: u32, text: &str) {
        self.send_note(Some(shard), None, text, true);
    }

    /// Warns about a room.
    pub(crate) fn tell_of_room(&self, shard: u32, room: &str, text: &str) {
        self.send_note(Some(shard), Some(room), text, true);
    }

    /// Warns about the node.
    fn warn(&self, text: &str) {
        self.send_note(None, None, text, true);
    }

    /// Says something about the node that is as it should be.
    fn inform(&self, text: &str) {
        self.send_note(None, None, text, false);
    }

    fn send_note(&self, shard: Option<u32>, room: Option<&str>, text: &str, is_warning: bool) {
        let note = ServerNote {
            node: self.name.clone(),
            shard,
            room: room.map(str::to_owned),
            text: text.to_owned(),
            is_warning,
        };
        (self.hook)(&note);
    }

    /// Notes what this node does for a shard. `None`: nothing.
    pub(crate) fn note_part(&self, shard: u32, part: Option<Part>) {
        let mut parts = lock(&self.parts);
        match part {
            Some(part) => {
                parts.insert(shard, part);
            }
            None => {
                parts.remove(&shard);
            }
        }
    }

    /// How many shards this node runs and follows.
    fn parts(&self) -> Parts {
        let parts = lock(&self.parts);
        let runs = parts.values().filter(|part| **part == Part::Runs).count();
        Parts {
            runs,
            follows: parts.len() - runs,
        }
    }

    /// Notes that the log has answered for a shard.
    pub(crate) fn log_answers(&self, shard: u32) {
        lock(&self.failing).remove(&shard);
    }

    /// Notes that the log has not answered, or cannot do what it should.
    pub(crate) fn log_fails(&self, shard: u32, why: &LogError) {
        let now = self.now();
        let why = match why {
            LogError::Unreachable(why) => why.clone(),
            why => why.to_string(),
        };
        let mut failing = lock(&self.failing);
        let failure = failing.entry(shard).or_insert_with(|| Failure {
            since: now,
            last: now,
            why,
        });
        failure.last = now;
    }

    /// Says what is new about the node.
    async fn say_news(self: Arc<Self>) {
        let (me, options) = (self.me.clone(), &self.options);
        let mut bulletin = Bulletin::new(me, self.build, options.shards, options.failover_timeout);
        while *self.stage.borrow() == Stage::Runs {
            let parts = self.parts();
            let members = self.members();
            let said = bulletin.look(self.now(), &members, parts, &mut lock(&self.failing));
            for (is_warning, text) in said {
                self.send_note(None, None, &text, is_warning);
            }
            sleep(options.failover_timeout / 3).await;
        }
    }

    pub(crate) fn note_saved(&self, shard: u32) {
        let mut saved = lock(&self.saved);
        if !saved.contains(&shard) {
            saved.push(shard);
        }
    }

    pub(crate) fn note_left(&self, shard: u32) {
        lock(&self.left).push(shard);
    }

    /// Says whether this node can begin a shard of another build.
    pub(crate) fn note_begins(self: &Arc<Self>, shard: u32, can_begin: Option<bool>) {
        let mut begins = lock(&self.begins);
        match can_begin {
            Some(can_begin) => begins.insert(shard, can_begin),
            None => begins.remove(&shard),
        };
        drop(begins);
        let node = self.clone();
        self.handle
            .spawn(async move { node.send_heartbeat().await });
    }

    /// The rooms of a shard that somebody watches, and whether somebody has said so just now.
    pub(crate) fn watched(&self, shard: u32) -> Vec<(String, bool)> {
        let mut watched = lock(&self.watched);
        let rooms = watched.get_mut(&shard).into_iter().flatten();
        rooms
            .filter(|(_, watched)| watched.at.elapsed() < WATCHED)
            .map(|(room, watched)| {
                let is_new = std::mem::take(&mut watched.is_new);
                (room.clone(), is_new || watched.at.elapsed() < JUST_NOW)
            })
            .collect()
    }

    fn change_members(&self, change: impl FnOnce(&mut Members)) {
        let mut members = lock(&self.members);
        change(Arc::make_mut(&mut members));
    }

    fn heartbeat(&self) -> Heartbeat {
        let begins = lock(&self.begins).clone();
        let of = |can_begin: bool| -> Vec<u32> {
            let shards = begins.iter().filter(|it| *it.1 == can_begin);
            shards.map(|(shard, _)| *shard).collect()
        };
        Heartbeat {
            begins: of(true),
            refuses: of(false),
            node: self.me.clone(),
            build: self.build,
            generation: self.generation.load(Ordering::Relaxed),
            leaves: *self.stage.borrow() >= Stage::Leaves,
        }
    }

    async fn serve(
        self: Arc<Self>,
        threads: usize,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let mut tasks = JoinSet::new();
        let node = self.clone();
        tasks.spawn(restarted(self.clone(), "receiving heartbeats", move || {
            node.clone().receive_heartbeats()
        }));
        let node = self.clone();
        tasks.spawn(restarted(self.clone(), "hearing watchers", move || {
            node.clone().hear_watchers()
        }));
        let node = self.clone();
        tasks.spawn(restarted(self.clone(), "sending heartbeats", move || {
            node.clone().send_heartbeats()
        }));
        let node = self.clone();
        tasks.spawn(restarted(self.clone(), "reading the builds", move || {
            node.clone().read_generation()
        }));
        let _watchdog = Watchdog::start(&self)?;
        // First it learns the members: otherwise it would take all shards, and give them back.
        sleep(self.options.failover_timeout).await;
        let node = self.clone();
        tasks.spawn(restarted(self.clone(), "saying what is new", move || {
            node.clone().say_news()
        }));

        let mut workers = Vec::new();
        let (done, mut all_done) = mpsc::channel::<()>(1);
        for number in 0..threads {
            let (node, done) = (self.clone(), done.clone());
            let name = format!("rooms-{number}");
            workers.push(thread::Builder::new().name(name).spawn(move || {
                let _done = done;
                node.work(number, threads)
            })?);
        }
        drop(done);

        let mut stop = pin!(stop);
        tokio::select! {
            () = &mut stop => {}
            // Only if all threads have failed.
            _ = all_done.recv() => {}
        }
        let stops_at = Instant::now();
        let shards = self.parts().runs;
        self.inform(&format!(
            "stops: it saves {shards} shards, and hands them over"
        ));
        if !self.drain(&mut all_done).await {
            // A thread that is joined later would keep the process.
            self.warn("a thread of rooms has not ended in time: it is left");
            return Ok(());
        }
        for worker in workers {
            match worker.join() {
                Ok(ended) => ended?,
                Err(_) => self.warn("a thread of rooms has panicked"),
            }
        }
        let seconds = stops_at.elapsed().as_secs_f64();
        self.inform(&format!("has stopped, in {seconds:.1} s"));
        Ok(())
    }

    /// Saves, and lets others take over: all this takes 10 s at most. Returns whether all threads have
    /// ended.
    async fn drain(&self, all_done: &mut Receiver<()>) -> bool {
        let seconds = Duration::from_secs;
        self.stage.send_replace(Stage::Saves);
        let is_saved = || lock(&self.saved).len() >= self.options.shards as usize;
        let mut has_ended = ends(all_done, seconds(2), is_saved).await;
        self.stage.send_replace(Stage::Leaves);
        self.change_members(|members| members.hear(self.now(), self.heartbeat()));
        let _ = timeout(Duration::from_millis(500), self.send_heartbeat()).await;
        // Others may leave at the same time.
        let is_last = || {
            let members = self.members();
            let is_other =
                |it: &Heartbeat| it.node != self.me && !it.leaves && it.build == self.build;
            let has_others = members.iter().any(is_other);
            let left = lock(&self.left);
            let mut shards = (0..self.options.shards).filter(|shard| !left.contains(shard));
            !has_others && !shards.any(|shard| members.may_be_superseded(self.build, shard))
        };
        has_ended = has_ended || ends(all_done, seconds(4), is_last).await;
        self.stage.send_replace(Stage::Finishes);
        has_ended = has_ended || ends(all_done, Duration::from_millis(2_500), || false).await;
        self.stage.send_replace(Stage::Ends);
        has_ended || ends(all_done, seconds(1), || false).await
    }

    /// A thread with its shards.
    fn work(self: Arc<Self>, number: usize, threads: usize) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shards = (0..self.options.shards).filter(|shard| *shard as usize % threads == number);
        let local = LocalSet::new();
        for shard in shards {
            let node = self.clone();
            local.spawn_local(async move {
                loop {
                    let driving = tokio::task::spawn_local(drive(node.clone(), shard, number));
                    match driving.await {
                        Ok(()) => return,
                        Err(error) => {
                            node.alarms[number].end();
                            node.tell(
                                shard,
                                &format!("its task has failed: {error}. It is started again"),
                            );
                            sleep(Duration::from_millis(500)).await;
                        }
                    }
                }
            });
        }
        runtime.block_on(local);
        Ok(())
    }

    async fn send_heartbeat(&self) {
        if let Ok(body) = postcard::to_stdvec(&self.heartbeat()) {
            let _ = self.log.say("nodes", body).await;
        }
    }

    async fn send_heartbeats(self: Arc<Self>) {
        loop {
            let now = self.now();
            self.change_members(|members| {
                members.hear(now, self.heartbeat());
                members.forget(now);
            });
            self.send_heartbeat().await;
            sleep(self.options.failover_timeout / 3).await;
        }
    }

    /// Follows the generation of the build, which rises if the operator prefers the build.
    async fn read_generation(self: Arc<Self>) {
        loop {
            sleep(BUILDS).await;
            let known: Generation = self.generation.load(Ordering::Relaxed);
            // Without an answer, what is known counts.
            if let Ok(generation) = builds::register(&*self.log, self.build, known).await {
                self.generation.fetch_max(generation, Ordering::Relaxed);
            }
        }
    }

    async fn receive_heartbeats(self: Arc<Self>) {
        let Ok(mut inbox) = self.log.hear("nodes").await else {
            return;
        };
        let mut has_probe = false;
        while let Some(message) = inbox.next().await {
            if let Ok(heartbeat) = postcard::from_bytes::<Heartbeat>(&message.body)
                && heartbeat.node != self.me
            {
                self.change_members(|members| members.hear(self.now(), heartbeat));
                if self.options.probes && !std::mem::replace(&mut has_probe, true) {
                    let node = self.clone();
                    tokio::spawn(async move { node.probes.prepare().await });
                }
            }
        }
    }

    async fn hear_watchers(self: Arc<Self>) {
        let Ok(mut inbox) = self.log.hear("watch.*.*").await else {
            return;
        };
        while let Some(message) = inbox.next().await {
            let mut parts = message.channel.split('.').skip(1);
            let (Some(shard), Some(room)) = (parts.next(), parts.next()) else {
                continue;
            };
            let Some(shard) = shard
                .parse()
                .ok()
                .filter(|shard| *shard < self.options.shards)
            else {
                continue;
            };
            if is_name(room) {
                let mut watched = lock(&self.watched);
                let rooms = watched.entry(shard).or_default();
                rooms.retain(|_, watched| watched.at.elapsed() < WATCHED);
                // Anybody may say this: not without bounds.
                if rooms.len() < self.options.limits.rooms || rooms.contains_key(room) {
                    let watched = Watched {
                        at: Instant::now(),
                        is_new: true,
                    };
                    rooms.insert(room.to_owned(), watched);
                }
            }
        }
    }
}

/// Waits until all threads have ended, which it returns, or something else, or a time at most.
async fn ends(all_done: &mut Receiver<()>, at_most: Duration, is_over: impl Fn() -> bool) -> bool {
    let until = Instant::now() + at_most;
    while !is_over() && Instant::now() < until {
        if timeout(Duration::from_millis(5), all_done.recv())
            .await
            .is_ok()
        {
            return true;
        }
    }
    false
}

/// Runs a task again whenever it ends or panics.
async fn restarted<F>(node: Arc<Node>, name: &'static str, task: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let mut set = JoinSet::new();
        set.spawn(task());
        if let Some(Err(error)) = set.join_next().await {
            node.warn(&format!("{name} has failed: {error}. It is started again"));
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// What a thread runs, for the watchdog.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    /// Since when, in milliseconds of the node, plus 1. 0 if nothing runs.
    since: AtomicU64,
    frames: AtomicU64,
    what: Mutex<(u32, u64, String)>,
}

impl Alarm {
    pub(crate) fn begin(&self, now: Duration) {
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX - 1);
        self.since.store(millis + 1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// A room is run next.
    pub(crate) fn name(&self, shard: u32, frame: u64, room: &str) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        let mut what = lock(&self.what);
        (what.0, what.1) = (shard, frame);
        what.2.clear();
        what.2.push_str(room);
    }
}

/// Ends the process if a room hangs.
struct Watchdog {
    _ends: std::sync::mpsc::Sender<()>,
}

impl Watchdog {
    fn start(node: &Arc<Node>) -> std::io::Result<Self> {
        let (sender, ends) = std::sync::mpsc::channel::<()>();
        let node = node.clone();
        let pause = (node.options.watchdog_timeout / 4).max(Duration::from_millis(10));
        thread::Builder::new().name("rooms-watchdog".to_owned()).spawn(move || {
            // Of each thread: the room that it was running, and since when.
            let mut seen = vec![(0, Instant::now()); node.alarms.len()];
            while ends.recv_timeout(pause) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                for (alarm, seen) in node.alarms.iter().zip(&mut seen) {
                    let frames = alarm.frames.load(Ordering::Relaxed);
                    let is_idle = alarm.since.load(Ordering::Relaxed) == 0;
                    if is_idle || frames != seen.0 {
                        *seen = (frames, Instant::now());
                    } else if seen.1.elapsed() >= node.options.watchdog_timeout {
                        let (shard, frame, room) = lock(&alarm.what).clone();
                        node.tell(
                            shard,
                            &format!(
                                "room {room} hangs in frame {frame}: the process ends. Its other rooms go \
                                 on elsewhere"
                            ),
                        );
                        std::process::abort();
                    }
                }
            }
        })?;
        Ok(Watchdog { _ends: sender })
    }
}
