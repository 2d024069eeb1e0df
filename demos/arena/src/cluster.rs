//! The processes: nodes, the log, the oracle; and what is done to them.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep, timeout};

use framestep_rooms::log::NatsLog;

use crate::nats::{self, Nats};
use crate::oracle::build_number;
use crate::proxy::Proxy;
use crate::round::Plan;

/// What can happen to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// `kill -9` of a node.
    Kill,
    /// A node sleeps for two seconds, and then goes on as if nothing had been.
    Stop,
    /// A node is told to stop.
    Drain,
    /// A node does not reach the log for two seconds.
    Partition,
    /// `kill -9` of `nats-server`.
    Nats,
    /// All nodes are replaced by those of another build, one after the other.
    Upgrade,
    /// A room panics, one ends its process, one hangs it.
    Bugs,
    /// The store of `nats-server` is copied while it is written, as by a backup, and another cluster goes on
    /// with the copy.
    Copy,
}

impl Trouble {
    pub(crate) const ALL: [Trouble; 8] = [
        Trouble::Kill,
        Trouble::Stop,
        Trouble::Drain,
        Trouble::Partition,
        Trouble::Nats,
        Trouble::Upgrade,
        Trouble::Bugs,
        Trouble::Copy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Trouble::Kill => "kill",
            Trouble::Stop => "stop",
            Trouble::Drain => "drain",
            Trouble::Partition => "partition",
            Trouble::Nats => "nats",
            Trouble::Upgrade => "upgrade",
            Trouble::Bugs => "bugs",
            Trouble::Copy => "copy",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = Trouble::ALL
            .into_iter()
            .find(|trouble| trouble.name() == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = Trouble::ALL.iter().map(|trouble| trouble.name()).collect();
            format!("there is no trouble `{name}`: use {}", all.join(", "))
        })
    }
}

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Runs,
    Killed,
    Stopped,
    Drains,
    Cut,
}

/// A node and its cable to the log.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) build: u8,
    pub(crate) health: Health,
    pub(crate) pid: u32,
    child: Option<Child>,
    /// It ends with this process, however that ends: then its input ends.
    input: Option<ChildStdin>,
    proxy: Proxy,
}

/// All processes.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) folder: PathBuf,
    pub(crate) nats: Nats,
    pub(crate) nodes: Vec<Node>,
    pub(crate) build: u8,
    /// The builds of which nodes were started.
    known: BTreeSet<u8>,
    /// The executables of the builds.
    programs: Vec<PathBuf>,
    shards: u32,
    keeps_log: bool,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// Sends a signal to a process that this one has started.
async fn signal(name: &str, pid: u32) -> Result<(), String> {
    let sent = Command::new("sh")
        .arg("-c")
        .arg(format!("kill -{name} {pid}"))
        .status()
        .await;
    sent.map(drop).map_err(io)
}

impl Cluster {
    /// Starts a cluster of nodes of a build.
    pub(crate) async fn start(plan: &Plan, count: usize, build: u8) -> Result<Self, String> {
        let (folder, shards) = (&plan.folder, plan.shards);
        let own = std::env::current_exe().map_err(io)?;
        let nats = Nats::start(&folder.join("nats")).await?;
        let mut cluster = Cluster {
            folder: folder.to_owned(),
            nats,
            nodes: Vec::new(),
            build,
            known: BTreeSet::new(),
            programs: [own].into_iter().chain(plan.next.clone()).collect(),
            shards,
            // An oracle of a copy begins with the first entry.
            keeps_log: plan.keeps || plan.troubles.contains(&Trouble::Copy),
        };
        for number in 0..count {
            let name = format!(
                "node-{}",
                char::from(b'a' + u8::try_from(number).unwrap_or(0))
            );
            let proxy = Proxy::to(cluster.nats.port).await.map_err(io)?;
            let node = Node {
                name,
                build,
                health: Health::Killed,
                pid: 0,
                child: None,
                input: None,
                proxy,
            };
            cluster.nodes.push(node);
            cluster.begin(number)?;
        }
        Ok(cluster)
    }

    /// The builds, from 1 on.
    pub(crate) fn builds(&self) -> impl Iterator<Item = u8> + use<> {
        1..=u8::try_from(self.programs.len()).unwrap_or(1)
    }

    fn program(&self, build: u8) -> &Path {
        &self.programs[usize::from(build) - 1]
    }

    /// Starts the process of a node.
    pub(crate) fn begin(&mut self, number: usize) -> Result<(), String> {
        let build = self.build;
        let node = &self.nodes[number];
        let log = self.folder.join(format!("{}.log", node.name));
        let log = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(io)?;
        let mut child = Command::new(self.program(build))
            .args(["node", "--attached"])
            .args(["--url", &nats::url(node.proxy.port, "node")])
            .args(["--name", &node.name])
            .args(["--shards", &self.shards.to_string()])
            .args(self.keeps_log.then_some("--keep"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(io)?;
        let node = &mut self.nodes[number];
        // Otherwise it would end when the process is waited for.
        node.input = child.stdin.take();
        node.pid = child.id().unwrap_or(0);
        node.child = Some(child);
        node.build = build;
        node.health = Health::Runs;
        self.known.insert(build);
        Ok(())
    }

    /// From now on, nodes are of another build. To go back to one, it is preferred, as an operator does
    /// it; a new one runs the shards by itself.
    pub(crate) async fn upgrade(&mut self, build: u8) -> Result<(), String> {
        self.build = build;
        if self.known.contains(&build) {
            let log = NatsLog::connect(&self.nats.url("node")).await;
            let log = log.map_err(|error| error.to_string())?;
            let preferred = framestep_rooms::prefer(&log, build_number(build)).await;
            preferred.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    pub(crate) async fn kill(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        node.health = Health::Killed;
        if let Some(mut child) = node.child.take() {
            // By its own number, and it is waited for.
            let _ = child.kill().await;
        }
    }

    pub(crate) async fn stop(&mut self, number: usize, stops: bool) -> Result<(), String> {
        let node = &mut self.nodes[number];
        node.health = if stops { Health::Stopped } else { Health::Runs };
        signal(if stops { "STOP" } else { "CONT" }, node.pid).await
    }

    /// Tells a node to stop. It then saves, and hands its rooms over.
    pub(crate) async fn drain(&mut self, number: usize) -> Result<(), String> {
        let node = &mut self.nodes[number];
        node.health = Health::Drains;
        signal("TERM", node.pid).await
    }

    /// Waits for a node that drains, until `is_still` says that nothing goes on. Returns how long it has taken.
    pub(crate) async fn drained(
        &mut self,
        number: usize,
        mut is_still: impl FnMut() -> Result<bool, String>,
    ) -> Result<Duration, String> {
        let began = Instant::now();
        let node = &mut self.nodes[number];
        let Some(child) = &mut node.child else {
            return Ok(Duration::ZERO);
        };
        let status = loop {
            if let Ok(status) = timeout(Duration::from_millis(100), child.wait()).await {
                break status.map_err(io)?;
            }
            if is_still()? {
                return Err(format!("{} does not end after SIGTERM", node.name));
            }
        };
        node.child = None;
        node.health = Health::Killed;
        if status.success() {
            Ok(began.elapsed())
        } else {
            Err(format!("{} has ended with {status}", node.name))
        }
    }

    pub(crate) fn cut(&mut self, number: usize, is_cut: bool) {
        let node = &mut self.nodes[number];
        if is_cut {
            node.proxy.cut();
        } else {
            node.proxy.mend();
        }
        node.health = if is_cut { Health::Cut } else { Health::Runs };
    }

    /// Starts nodes again that have ended by themselves, as a supervisor would. Returns their names.
    pub(crate) fn supervise(&mut self) -> Result<Vec<String>, String> {
        let mut ended = Vec::new();
        for number in 0..self.nodes.len() {
            let node = &mut self.nodes[number];
            let status = match &mut node.child {
                Some(child) if matches!(node.health, Health::Runs | Health::Cut) => {
                    child.try_wait().map_err(io)?
                }
                _ => None,
            };
            if status.is_some() {
                node.child = None;
                ended.push(node.name.clone());
                self.begin(number)?;
            }
        }
        Ok(ended)
    }

    /// Whether all nodes run.
    pub(crate) fn is_well(&self) -> bool {
        self.nodes.iter().all(|node| node.health == Health::Runs)
    }

    /// The process of the oracle of a build, which reads the log directly.
    pub(crate) fn oracle(&self, build: u8) -> Result<Child, String> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("oracle.log"))
            .map_err(io)?;
        Command::new(self.program(build))
            .arg("oracle")
            .arg("--folder")
            .arg(&self.folder)
            .args(["--url", &self.nats.url("node")])
            .args(["--shards", &self.shards.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(io)
    }

    /// Ends all processes.
    pub(crate) async fn end(mut self) {
        for number in 0..self.nodes.len() {
            let _ = self.drain(number).await;
        }
        let until = Instant::now() + Duration::from_secs(5);
        for node in &mut self.nodes {
            if let Some(mut child) = node.child.take()
                && timeout(until - Instant::now(), child.wait()).await.is_err()
            {
                let _ = child.kill().await;
            }
        }
        sleep(Duration::from_millis(10)).await;
        self.nats.end().await;
    }
}
