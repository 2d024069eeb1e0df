//! A node: its threads, its tasks, how it stops.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, timeout};

use super::builder::Options;
use super::error::ServerError;
use super::health::Health;
use super::membership::Watched;
use super::watchdog::{Alarm, Watchdog};
use crate::bulletin::{Bulletin, Failure, Own, Part, Parts};
use crate::driver::drive;
use crate::entry::Build;
use crate::event::{Hook, ServerEvent, ServerNote, emit};
use crate::live::Kind;
use crate::log::{Log, LogError};
use crate::member::{Heartbeat, Members};
use crate::metered;
use crate::probe;
use crate::reminders::Reminders;

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

/// A node: what all its threads share.
pub(crate) struct Node {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) kinds: Arc<[Kind]>,
    pub(crate) options: Options,
    pub(crate) me: Arc<str>,
    pub(super) name: String,
    pub(crate) build: Build,
    pub(crate) has_effects: bool,
    /// The generation of the build, as the log has said last.
    pub(super) generation: AtomicU64,
    pub(super) began: Instant,
    pub(super) members: Mutex<Arc<Members>>,
    pub(crate) stage: watch::Sender<Stage>,
    pub(super) watched: Mutex<HashMap<u32, Watched>>,
    /// Since when all watchers are heard.
    pub(super) hears_since: Mutex<Duration>,
    /// When it was told that the log of a shard is full.
    pub(super) told_full: Mutex<Reminders<u32>>,
    /// The code of the node, whatever its settings are.
    pub(super) code: u64,
    /// The settings that rooms are computed with, for people.
    pub(super) settings: Arc<str>,
    /// What this node does for each shard that it has.
    pub(super) parts: Mutex<BTreeMap<u32, Part>>,
    /// The shards of which the log does not answer.
    pub(super) failing: Mutex<BTreeMap<u32, Failure>>,
    /// Shards that have nothing to save any more.
    pub(super) saved: Mutex<Vec<u32>>,
    /// Shards that this node does not tick any more, because it stops.
    pub(super) left: Mutex<Vec<u32>>,
    /// Shards of other builds, and whether this node can begin them.
    pub(super) begins: Mutex<BTreeMap<u32, bool>>,
    pub(crate) alarms: Vec<Arc<Alarm>>,
    pub(crate) probes: probe::Probes,
    pub(crate) handle: Handle,
    pub(super) hook: Hook,
    pub(super) health: Health,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

    /// Tells something about a shard.
    pub(crate) fn tell(&self, shard: u32, event: ServerEvent) {
        self.note(Some(shard), None, event);
    }

    /// Tells something about a room.
    pub(crate) fn tell_of_room(&self, shard: u32, room: &str, event: ServerEvent) {
        self.note(Some(shard), Some(room), event);
    }

    /// Tells something about the node.
    pub(super) fn tell_of_node(&self, event: ServerEvent) {
        self.note(None, None, event);
    }

    fn note(&self, shard: Option<u32>, room: Option<&str>, event: ServerEvent) {
        let note = ServerNote {
            node: self.name.clone(),
            shard,
            room: room.map(str::to_owned),
            event,
        };
        emit(&note);
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
        *lock(&self.hears_since) = now;
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
        let mut bulletin = Bulletin::new(
            me,
            Own {
                build: self.build,
                code: self.code,
                settings: self.settings.clone(),
            },
            options.shards,
            options.failover_timeout,
        );
        while *self.stage.borrow() == Stage::Runs {
            let parts = self.parts();
            let members = self.members();
            let said = bulletin.look(self.now(), &members, parts, &mut lock(&self.failing));
            for event in said {
                self.tell_of_node(event);
            }
            self.health
                .see(parts.runs, parts.follows, bulletin.log_is_silent());
            metered::parts(parts.runs, parts.follows);
            sleep(options.failover_timeout / 3).await;
        }
    }

    /// Whether it is to be told that the log of a shard is full: once a minute.
    pub(crate) fn is_to_tell_full(&self, shard: u32) -> bool {
        lock(&self.told_full).is_due(shard)
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

    pub(super) async fn serve(
        self: Arc<Self>,
        threads: usize,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let mut tasks = JoinSet::new();
        tasks.spawn(restarted(
            self.clone(),
            "receiving heartbeats",
            Node::receive_heartbeats,
        ));
        tasks.spawn(restarted(
            self.clone(),
            "hearing watchers",
            Node::hear_watchers,
        ));
        tasks.spawn(restarted(
            self.clone(),
            "sending heartbeats",
            Node::send_heartbeats,
        ));
        tasks.spawn(restarted(
            self.clone(),
            "reading the builds",
            Node::read_generation,
        ));
        let _watchdog = Watchdog::start(&self)?;
        self.health.join();
        // First it learns the members: otherwise it would take all shards, and give them back.
        sleep(self.options.failover_timeout).await;
        tasks.spawn(restarted(
            self.clone(),
            "saying what is new",
            Node::say_news,
        ));

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
        self.health.stop();
        self.tell_of_node(ServerEvent::Stops { shards });
        if !self.drain(&mut all_done).await {
            // A thread that is joined later would keep the process.
            let why = "a thread of rooms has not ended in time: it is left".to_owned();
            self.tell_of_node(ServerEvent::ThreadFailed { why });
            return Ok(());
        }
        for worker in workers {
            if let Ok(ended) = worker.join() {
                ended?;
            } else {
                let why = "a thread of rooms has panicked".to_owned();
                self.tell_of_node(ServerEvent::ThreadFailed { why });
            }
        }
        self.tell_of_node(ServerEvent::Stopped {
            after: stops_at.elapsed(),
        });
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
                            let task = "its task";
                            let why = error.to_string();
                            node.tell(shard, ServerEvent::TaskFailed { task, why });
                            sleep(Duration::from_millis(500)).await;
                        }
                    }
                }
            });
        }
        runtime.block_on(local);
        Ok(())
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
async fn restarted<F>(node: Arc<Node>, name: &'static str, task: fn(Arc<Node>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let mut set = JoinSet::new();
        set.spawn(task(node.clone()));
        if let Some(Err(error)) = set.join_next().await {
            node.tell_of_node(ServerEvent::TaskFailed {
                task: name,
                why: error.to_string(),
            });
        }
        sleep(Duration::from_millis(200)).await;
    }
}
