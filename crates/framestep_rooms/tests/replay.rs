//! `rooms replay`: the program of the operator starts a server's executable, which prints past frames. The
//! test is that server: it starts itself.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::FileLog;
use framestep_rooms::{Client, Player, Room, Server};

#[path = "support/patience.rs"]
mod patience;

use patience::patient;

#[derive(Serialize, Deserialize)]
struct Pot {
    sum: u32,
}

/// Adds one when there was an input of 7 or more.
#[durable]
async fn stir(by: u32) {
    wait_frames(2).await;
    with(move |pot: &mut Pot| pot.sum += u32::from(by >= 7));
}

impl Room for Pot {
    const NAME: &'static str = "pot";
    type Args = u32;
    type Input = u32;
    type View = u32;

    fn registry() -> Registry {
        Registry::new().script(stir)
    }

    fn open(_: &Runtime, sum: u32) -> Self {
        Pot { sum }
    }

    fn input(&mut self, runtime: &Runtime, _: Player, by: u32) {
        self.sum += by;
        runtime.spawn(stir(by)).detach();
    }

    fn view(&self) -> u32 {
        self.sum
    }
}

/// A node on a log in files, on which a player plays.
async fn node(folder: &Path) {
    let log = FileLog::open(folder).unwrap();
    let server = Server::on(log.clone())
        .named("node")
        .build_id("1")
        .shards(2)
        .snapshot_interval(Duration::from_millis(50))
        .keep_log()
        .on_note(|_| ())
        .room::<Pot>();
    let play = async {
        let client = Client::on(log, "alice").await.unwrap();
        let room = client.open::<Pot>("pot-1", &30).await.unwrap();
        room.view().await.unwrap();
        let mut views = room.watch().await.unwrap();
        room.send(&5).await.unwrap();
        room.send(&7).await.unwrap();
        while views.next().await.unwrap().unwrap().view < 43 {}
    };
    server.serve(play).await.unwrap();
}

/// What `rooms replay` prints with these words, and whether it was a success.
fn replay(words: &[&str], folder: &Path) -> (bool, String) {
    let mut rooms = Command::new(env!("CARGO_BIN_EXE_rooms"));
    let this = std::env::current_exe().unwrap();
    rooms.arg("replay").args(words).arg("--").arg(this);
    let output = rooms.args(["node".as_ref(), folder]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.success(), said)
}

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().collect();
    if let [_, kind, folder] = &args[..]
        && kind == "node"
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let node = patient(node(folder.as_ref()));
            node.await.expect("it ends");
        });
        return ExitCode::SUCCESS;
    }
    let folder =
        std::env::temp_dir().join(format!("framestep-rooms-replay-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let this = std::env::current_exe().unwrap();
    let played = Command::new(this)
        .args(["node".as_ref(), &*folder])
        .status();
    assert!(played.unwrap().success());

    let (is_done, all) = replay(&["--room", "pot-1", "--frames", "10000"], &folder);
    assert!(is_done, "{all}");
    for line in [
        ", from frame 0",
        "opens pot-1: {\"kind\":\"pot\",\"a\":1,\"args\":30}",
        "alice to pot-1: 5",
        "alice to pot-1: 7",
        "each frame is the same as on the nodes",
        "0 scripts, view 43",
    ] {
        assert!(all.contains(line), "{line} is not in\n{all}");
    }
    // It stops at a frame: the one in which the second input was applied.
    let before = all.split("alice to pot-1: 7").next().unwrap();
    let frame = before.rsplit("frame ").next().unwrap();
    let frame = frame.split(',').next().unwrap();
    let until = ["--room", "pot-1", "--frames", "1", "--until", frame];
    let (is_done, last) = replay(&until, &folder);
    assert!(is_done, "{last}");
    assert!(
        last.contains("alice to pot-1: 7") && last.contains("view 42"),
        "{last}"
    );
    assert!(!last.contains("alice to pot-1: 5\nframe"), "{last}");

    for (words, why) in [
        (
            &["--shard", "2"][..],
            "there is no shard 2: the log has 2 shards, 0 to 1",
        ),
        (&["--shard", "x"], "x"),
        (&[], "--room NAME or --shard NUMBER is missing"),
    ] {
        let (is_done, said) = replay(words, &folder);
        assert!(!is_done && said.contains(why), "{words:?}: {said}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("a replay prints inputs, frames, views and errors: ok");
    ExitCode::SUCCESS
}
