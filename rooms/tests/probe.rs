//! Rooms that end or hang the process: they are found, and taken out. The test is its own node: it
//! starts itself, again and again, on a log in files.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::FileLog;
use framestep_rooms::{Client, Player, Room, Server};
use tokio::time::timeout;

#[derive(Clone, Serialize, Deserialize)]
struct Mine {
    ticks: u64,
}

#[derive(Serialize, Deserialize)]
enum Step {
    OnAbort,
    OnLoop,
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
    type Args = ();
    type Input = Step;
    type View = Mine;

    fn registry() -> Registry {
        Registry::new().with::<Explode>()
    }

    fn open(_: &Runtime, (): ()) -> Self {
        Mine { ticks: 0 }
    }

    fn input(&mut self, runtime: &Runtime, _: Player, step: Step) {
        runtime
            .spawn(explode(matches!(step, Step::OnAbort)))
            .detach();
    }

    fn view(&self) -> Mine {
        self.clone()
    }
}

/// A node: ends with 0 once another room has run for a second.
async fn node(folder: &Path, kind: &str) {
    let is_first = !folder.exists();
    let log = FileLog::open(folder).unwrap();
    let server = Server::on(log.clone())
        .named("node")
        .build("1")
        .shards(1)
        .dead_after(Duration::from_millis(60))
        .save_every(Duration::from_millis(200))
        .hang_after(Duration::from_millis(800))
        .on_note(|note| println!("{note}"))
        .room::<Mine>();
    let play = async {
        let client = Client::on(log, "alice").await.unwrap();
        if is_first {
            let bad = client.open::<Mine>("bad", &()).await.unwrap();
            client.open::<Mine>("good", &()).await.unwrap();
            bad.send(&if kind == "abort" {
                Step::OnAbort
            } else {
                Step::OnLoop
            })
            .await
            .unwrap();
        }
        let mut views = client.room::<Mine>("good").unwrap().watch().await.unwrap();
        let first = views.next().await.unwrap().frame;
        while views.next().await.unwrap().frame < first + 30 {}
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

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().collect();
    if let [_, kind, folder] = &args[..]
        && matches!(&**kind, "abort" | "loop")
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let node = timeout(Duration::from_secs(60), node(folder.as_ref(), kind));
            node.await.expect("it ends");
        });
        return ExitCode::SUCCESS;
    }
    for kind in ["abort", "loop"] {
        let said = run(kind);
        assert!(
            said.contains("room bad ends or hangs the process in frame"),
            "{said}"
        );
        assert!(said.contains("the other room runs"), "{said}");
        if kind == "loop" {
            assert!(said.contains("room bad hangs in frame"), "{said}");
        }
        assert!(
            said.contains("start 3") && !said.contains("start 5"),
            "{said}"
        );
        println!("a room that does `{kind}` is taken out, and the other one runs: ok");
    }
    ExitCode::SUCCESS
}
