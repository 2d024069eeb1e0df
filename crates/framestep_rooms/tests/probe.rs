//! Rooms that end or hang the process, in a frame, when they are opened, restored or shown:
//! they are found, taken out, and shown as broken. The test is its own node: it
//! starts itself, again and again, on a log in files.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{FileLog, Log as _};
use framestep_rooms::{Client, Player, Room, RoomStatus, Server, ShardStatus};

#[path = "support/patience.rs"]
mod patience;

use patience::patient;

#[derive(Clone, Serialize, Deserialize)]
struct Mine {
    ticks: u64,
    trap: Trap,
    /// Whether who looks at it ends the process.
    is_medusa: bool,
}

/// Ends the process that restores it, once it is set.
#[derive(Clone, Serialize)]
struct Trap(bool);

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if bool::deserialize(from)? {
            std::process::abort();
        }
        Ok(Trap(false))
    }
}

#[derive(Serialize, Deserialize)]
enum Step {
    Abort,
    Loop,
    SetTrap,
    BeMedusa,
}

#[durable]
async fn explode(aborts: bool) {
    wait_seconds(0.1).await;
    if aborts {
        std::process::abort();
    }
    loop {
        std::hint::spin_loop();
    }
}

impl Room for Mine {
    const NAME: &'static str = "mine";
    /// Whether it ends the process when it is opened.
    type Args = bool;
    type Input = Step;
    type View = Mine;

    fn registry() -> Registry {
        Registry::new().script(explode)
    }

    fn open(_: &Runtime, aborts: bool) -> Self {
        if aborts {
            std::process::abort();
        }
        Mine {
            ticks: 0,
            trap: Trap(false),
            is_medusa: false,
        }
    }

    fn input(&mut self, runtime: &Runtime, _: Player, step: Step) {
        match step {
            Step::Abort => runtime.spawn(explode(true)).detach(),
            Step::Loop => runtime.spawn(explode(false)).detach(),
            Step::SetTrap => self.trap = Trap(true),
            Step::BeMedusa => self.is_medusa = true,
        }
    }

    fn view(&self) -> Mine {
        if self.is_medusa {
            std::process::abort();
        }
        self.clone()
    }
}

/// A node: ends with 0 once another room has run for a second, and the bad one is shown as broken.
async fn node(folder: &Path, kind: &str) {
    let is_first = !folder.exists();
    let log = FileLog::open(folder).unwrap();
    let server = Server::on(log.clone())
        .named("node")
        .build_id("1")
        .shards(1)
        .failover_timeout(Duration::from_millis(60))
        .snapshot_interval(Duration::from_millis(200))
        // A machine that is busy is not a room that hangs.
        .watchdog_timeout(Duration::from_secs(3))
        .on_note(|note| println!("{note}"))
        .room::<Mine>();
    let play = async {
        let mut statuses = log.hear("status.0").await.unwrap();
        let client = Client::on(log, "alice").await.unwrap();
        if is_first {
            client.open::<Mine>("good", &false).await.unwrap();
            let bad = client.open::<Mine>("bad", &(kind == "open")).await.unwrap();
            let step = match kind {
                "abort" => Step::Abort,
                "loop" => Step::Loop,
                "view" => Step::BeMedusa,
                _ => Step::SetTrap,
            };
            bad.send(&step).await.unwrap();
        }
        let bad = client.room::<Mine>("bad").unwrap();
        let _watch = bad.watch().await.unwrap();
        let mut views = client.room::<Mine>("good").unwrap().watch().await.unwrap();
        let mut frame = async || views.next().await.unwrap().unwrap().frame;
        let first = frame().await;
        while frame().await < first + 30 {}
        if is_first {
            // It was saved several times.
            assert_eq!(kind, "restore");
            std::process::abort();
        }
        loop {
            let status = statuses.next().await.unwrap();
            let status: ShardStatus = serde_json::from_slice(&status.body).unwrap();
            let is_broken = |room: &RoomStatus| room.name == "bad" && room.broken.is_some();
            if status.rooms.iter().any(is_broken) {
                break;
            }
        }
        println!("the other room runs");
    };
    server.serve(play).await.unwrap();
}

/// Starts nodes until one stays. Returns what they have said.
fn run(kind: &str) -> String {
    let folder =
        std::env::temp_dir().join(format!("framestep-rooms-{kind}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut said = String::new();
    for start in 1..=8 {
        let mut node = Command::new(std::env::current_exe().unwrap());
        let node = node
            .args([kind.as_ref(), folder.as_os_str()])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        said.push_str(
            &[
                &format!("start {start}\n"),
                &*String::from_utf8_lossy(&node.stdout),
            ]
            .concat(),
        );
        if node.status.success() {
            std::fs::remove_dir_all(&folder).unwrap();
            return said;
        }
    }
    panic!("no node stays:\n{said}");
}

const KINDS: [&str; 5] = ["abort", "loop", "open", "restore", "view"];

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().collect();
    if let [_, kind, folder] = &args[..]
        && KINDS.contains(&&**kind)
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let node = patient(node(folder.as_ref(), kind));
            node.await.expect("it ends");
        });
        return ExitCode::SUCCESS;
    }
    for kind in KINDS {
        let said = run(kind);
        assert!(
            said.contains("room bad: it ends or hangs the process in frame"),
            "{said}"
        );
        assert!(said.contains("the other room runs"), "{said}");
        if kind == "loop" {
            assert!(said.contains("room bad: it hangs in frame"), "{said}");
        }
        // The first start after the room has ended a process finds it. One that is restored is only
        // suspected after it has ended two.
        let starts = if kind == "restore" { 4 } else { 2 };
        assert!(said.contains(&format!("start {starts}\n")), "{said}");
        assert!(!said.contains(&format!("start {}\n", starts + 1)), "{said}");
        println!("a room that does `{kind}` is taken out, and the other one runs: ok");
    }
    ExitCode::SUCCESS
}
