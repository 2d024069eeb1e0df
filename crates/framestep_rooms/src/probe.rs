//! Tries frames in a child process: a room that ends or hangs its process does it there.
//!
//! The child is this executable once more. It waits for frames until its standard input ends, which
//! it does with the process that has started it. So one child serves many tries, and is ready before
//! it is needed.

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::entry::{Entry, Position, Tick, Topic};
use crate::live::Kind;
use crate::log::LogError;
use crate::role::Fold as _;
use crate::server::{Node, Options};
use crate::shard::{Out, Shard};

/// Set for the child process.
pub(crate) const VARIABLE: &str = "FRAMESTEP_ROOMS_PROBE";
/// What the lines of the child begin with: a game may print other ones.
const MARK: &str = "framestep_rooms probe: ";
/// How long a child may take until it reaches [`Server::serve`](crate::Server::serve).
const START: Duration = Duration::from_secs(10);

/// What a child process is to compute.
#[derive(Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) state: Option<Vec<u8>>,
    pub(crate) out: Out,
    shard: u32,
    frames: Vec<(u64, Vec<Sent>)>,
}

/// An entry without its tick.
type Sent = (u64, Option<Topic>, Vec<u8>);

impl Task {
    pub(crate) fn new(shard: u32, state: Option<Vec<u8>>, out: Out) -> Self {
        Task {
            shard,
            state,
            out,
            frames: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, frame: u64, entries: &[Entry]) {
        let sent = |entry: &Entry| (entry.seq, entry.topic.clone(), entry.body.to_vec());
        self.frames
            .push((frame, entries.iter().map(sent).collect()));
    }
}

/// A room that has ended or hung the child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) room: Arc<str>,
    pub(crate) frame: u64,
}

/// The child process: computes what it reads, and names each room before it runs it. Never returns.
pub(crate) fn run(kinds: &Arc<[Kind]>, options: &Options) -> ! {
    let (sender, tasks) = mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut length = [0; 8];
            let mut body = Vec::new();
            let is_read = input.read_exact(&mut length).is_ok()
                && (&mut input)
                    .take(u64::from_le_bytes(length))
                    .read_to_end(&mut body)
                    .is_ok()
                && body.len() as u64 == u64::from_le_bytes(length);
            if !is_read || sender.send(body).is_err() {
                // The process that has started this one is gone. A room may hang at this moment.
                std::process::exit(0);
            }
        }
    });
    say("ready");
    for body in tasks {
        match postcard::from_bytes::<Task>(&body) {
            Ok(task) => compute(task, kinds, options),
            Err(_) => std::process::exit(2),
        }
        say("end");
    }
    std::process::exit(0)
}

fn compute(task: Task, kinds: &Arc<[Kind]>, options: &Options) {
    let mut rooms = Shard::new(
        kinds.clone(),
        options.place(task.shard),
        options.ticks,
        options.limits,
    );
    rooms.take_out(task.out);
    rooms.call_before(|frame, room| say(&format!("{frame} {room}")));
    if rooms.load(task.state.as_deref()).is_err() {
        return;
    }
    for (frame, entries) in task.frames {
        let entry = |(seq, topic, body): Sent| Entry {
            seq,
            topic,
            body: body.into(),
        };
        let entries: Vec<Entry> = entries.into_iter().map(entry).collect();
        rooms.frame(frame, &entries);
        // As in the role: what the hash breaks is broken there, too.
        rooms.hash();
        // As in the driver: a view may end or hang the process as well.
        rooms.views();
    }
}

fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{MARK}{text}");
    let _ = out.flush();
}

/// This executable. In an upgrade, another one may be at its path already.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe()
}

/// A child process that waits for a task.
struct Helper {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Helper {
    /// Starts one, and waits until it is ready.
    async fn start() -> io::Result<Self> {
        let mut child = Command::new(program()?)
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let mut helper = Helper {
            child,
            input,
            lines: BufReader::new(output).lines(),
        };
        match helper.said(Instant::now() + START).await {
            Some(said) if said == "ready" => Ok(helper),
            _ => Err(io::Error::other(
                "it has not reached `Server::serve` in 10 s",
            )),
        }
    }

    /// The next line that is for this process.
    async fn said(&mut self, until: Instant) -> Option<String> {
        while let Ok(Ok(Some(line))) = timeout_at(until, self.lines.next_line()).await {
            if let Some(said) = line.strip_prefix(MARK) {
                return Some(said.to_owned());
            }
        }
        None
    }

    /// Computes a task. `Ok` if it has, or the room that was run when it ended or hung.
    async fn compute(
        &mut self,
        task: &[u8],
        watchdog_timeout: Duration,
    ) -> Result<(), Option<Found>> {
        let Helper { input, .. } = self;
        let length = (task.len() as u64).to_le_bytes();
        let sent = async {
            input.write_all(&length).await?;
            input.write_all(task).await?;
            input.flush().await
        };
        // It reads while it computes.
        let sent = timeout_at(Instant::now() + watchdog_timeout, sent).await;
        if !matches!(sent, Ok(Ok(()))) {
            return Err(None);
        }
        let mut last = None;
        // A line for each room of each frame: the watchdog.
        while let Some(said) = self.said(Instant::now() + watchdog_timeout).await {
            if said == "end" {
                return Ok(());
            }
            if let Some((frame, room)) = said.split_once(' ')
                && let Ok(frame) = frame.parse()
            {
                last = Some(Found {
                    room: room.into(),
                    frame,
                });
            }
        }
        // Only this child.
        let _ = self.child.start_kill();
        Err(last)
    }
}

/// The child processes of a node.
pub(crate) struct Probes {
    idle: Mutex<Vec<Helper>>,
    /// How many may run at once. One may hang while the others are needed.
    permits: Semaphore,
    /// How many wait for the next task.
    waiting: usize,
}

impl Probes {
    pub(crate) fn new(threads: usize) -> Self {
        Probes {
            idle: Mutex::default(),
            permits: Semaphore::new(threads + 3),
            waiting: threads,
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Vec<Helper>) -> T) -> T {
        f(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts a child process, if none waits, so that it is ready when it is needed.
    pub(crate) async fn prepare(&self) {
        if self.with(|idle| idle.is_empty())
            && let Ok(helper) = Helper::start().await
        {
            self.put(helper);
        }
    }

    fn put(&self, helper: Helper) {
        self.with(|idle| {
            if idle.len() < self.waiting {
                idle.push(helper);
            }
        });
    }

    /// Computes a task in a child process. Returns the room that has ended or hung it.
    pub(crate) async fn compute(
        &self,
        task: &Task,
        watchdog_timeout: Duration,
    ) -> Result<Option<Found>, LogError> {
        let failed = |why: String| LogError::Failed(format!("no frame can be tried: {why}"));
        let task = postcard::to_stdvec(task).map_err(|error| failed(error.to_string()))?;
        let _permit = self.permits.acquire().await;
        for _ in 0..3 {
            let idle = self.with(Vec::pop);
            let is_new = idle.is_none();
            let mut helper = match idle {
                Some(helper) => helper,
                None => Helper::start().await.map_err(|error| {
                    failed(format!(
                        "this executable cannot be started once more: {error}"
                    ))
                })?,
            };
            match helper.compute(&task, watchdog_timeout).await {
                Ok(()) => {
                    self.put(helper);
                    return Ok(None);
                }
                Err(Some(found)) => return Ok(Some(found)),
                // One that has waited may have been ended by somebody else.
                Err(None) if !is_new => {}
                Err(None) => return Err(failed("the child process has ended".to_owned())),
            }
        }
        Err(failed("child processes end".to_owned()))
    }
}

/// Computes the log of a shard from its save on in a child process. Returns the room that has ended
/// or hung it.
pub(crate) async fn try_rooms(
    node: &Node,
    shard: u32,
    save: Option<&(Position, Arc<[u8]>)>,
    out: &Out,
) -> Result<Option<Found>, LogError> {
    let mut task = Task::new(shard, save.map(|(_, state)| state.to_vec()), out.clone());
    let mut at = save.map_or_else(Position::start, |(at, _)| at.clone());
    let mut reader = node.log.read(shard, at.seq + 1).await?;
    let mut queue = Vec::new();
    loop {
        let read = reader.next(Duration::from_millis(200)).await?;
        for entry in read.entries {
            let tick = Tick::of(&entry);
            queue.push(entry);
            if let Some(tick) = tick.filter(|tick| at.accepts(tick)) {
                task.add(tick.frame, &queue);
                at = at.after(&tick, &queue);
                queue.clear();
            }
        }
        if read.is_end {
            break;
        }
    }
    node.probes
        .compute(&task, node.options.watchdog_timeout)
        .await
}
