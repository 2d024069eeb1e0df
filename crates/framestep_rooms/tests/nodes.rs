//! Which nodes run which shards, on a log in memory: builds that cannot read each other, nodes that
//! come, go, and lose the log.

#[path = "support/gate.rs"]
mod gate;
#[path = "support/node.rs"]
mod node;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/views.rs"]
mod views;

use std::collections::BTreeMap;
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log, MemoryLog};
use framestep_rooms::{Client, Player, Room, ServerEvent, ShardStatus};

use gate::Gate;
use node::{Node, server, warnings};
use patience::patient;
use views::until;

/// Counts its frames.
#[derive(Serialize, Deserialize)]
struct Mill {
    frames: u32,
}

#[durable]
async fn grind() -> Chapter {
    wait_frames(1).await;
    with(|mill: &mut Mill| mill.frames += 1);
    Chapter::Next(grind())
}

impl Room for Mill {
    const NAME: &'static str = "mill";
    type Args = ();
    type Input = u32;
    type View = u32;

    fn registry() -> Registry {
        Registry::new().script(grind)
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        runtime.spawn(grind()).detach();
        Mill { frames: 0 }
    }

    fn input(&mut self, _: &Runtime, _: Player, by: u32) {
        self.frames += by;
    }

    fn view(&self) -> u32 {
        self.frames
    }
}

/// The same in a build with one more field, which old saves do not have.
#[derive(Serialize, Deserialize)]
struct NewMill {
    frames: u32,
    wings: Vec<String>,
}

#[durable]
async fn grind_anew() -> Chapter {
    wait_frames(1).await;
    with(|mill: &mut NewMill| mill.frames += 1);
    Chapter::Next(grind_anew())
}

impl Room for NewMill {
    const NAME: &'static str = "mill";
    type Args = ();
    type Input = u32;
    type View = u32;

    fn registry() -> Registry {
        Registry::new().script(grind_anew)
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        runtime.spawn(grind_anew()).detach();
        NewMill {
            frames: 0,
            wings: Vec::new(),
        }
    }

    fn input(&mut self, _: &Runtime, _: Player, by: u32) {
        self.frames += by;
    }

    fn view(&self) -> u32 {
        self.frames
    }
}

fn start<R: Room>(log: impl Log, name: &str, build: &str, shards: u32) -> Node {
    Node::start::<R>(server(log, name, build, shards))
}

/// Waits until the owners of all shards fit: their names, without their starts.
async fn until_owned(
    log: &MemoryLog,
    shards: u32,
    fits: impl Fn(&[String]) -> bool,
) -> Vec<String> {
    let mut inbox = log.hear("status.*").await.unwrap();
    let mut owners = BTreeMap::new();
    let look = async {
        loop {
            let message = inbox.next().await.unwrap();
            let status: ShardStatus = serde_json::from_slice(&message.body).unwrap();
            if status.owns {
                let name = status.node.split('.').next().unwrap_or_default();
                owners.insert(status.shard, name.to_owned());
            }
            let names: Vec<String> = owners.values().cloned().collect();
            if names.len() == shards as usize && fits(&names) {
                return names;
            }
        }
    };
    let found = patient(look).await;
    found.unwrap_or_else(|| panic!("{owners:?}"))
}

fn count(owners: &[String], name: &str) -> usize {
    owners.iter().filter(|owner| *owner == name).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_that_cannot_read_the_rooms_gets_only_empty_shards_and_leaves_them_behind() {
    let log = MemoryLog::new();
    let old = start::<Mill>(log.clone(), "old", "1", 4);
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Mill>("mill", &()).await.unwrap();
    let frames = until(&room, |frames| *frames > 30).await;

    let gate = Gate::to(&log);
    let new = start::<NewMill>(gate.clone(), "new", "2", 4);
    until_owned(&log, 4, |names| count(names, "new") == 3).await;
    new.says("this build cannot read the save of frame").await;
    old.says("cannot read the save of this shard").await;
    // At full speed: a frame that is handed over in vain takes 600 ms.
    let frames = until(&room, |now| *now > frames + 200).await;
    let said = new.said("this build cannot read");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(old.said("cannot read the save of this shard").len(), 1);
    assert_eq!(new.said("have not ended").len(), 0);

    // It is lost. Nobody was in its shards: they go on with the build that is there.
    gate.set_cut(true);
    until_owned(&log, 4, |names| count(names, "old") == 4).await;
    for number in 0..8 {
        let room = client.open::<Mill>(&format!("mill-{number}"), &()).await;
        until(&room.unwrap(), |frames| *frames > 3).await;
    }
    until(&room, |now| *now > frames + 30).await;
    old.stop().await;
    new.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_with_rooms_waits_for_its_build_and_the_others_say_so_once() {
    let log = MemoryLog::new();
    let gate = Gate::to(&log);
    let new = start::<NewMill>(gate.clone(), "new", "2", 2);
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<NewMill>("mill", &()).await.unwrap();
    until(&room, |frames| *frames > 30).await;
    gate.set_cut(true);
    let old = start::<Mill>(log.clone(), "old", "1", 2);
    old.says("the shard stands still: frame").await;
    until_owned(&log, 1, |names| count(names, "old") == 1).await;
    let again = start::<NewMill>(log.clone(), "again", "2", 2);
    let frames = until(&room, |frames| *frames > 30).await;
    until(&room, |now| *now > frames + 100).await;
    let said = old.said("the shard stands still");
    assert_eq!(said.len(), 1, "{said:?}");
    new.stop().await;
    old.stop().await;
    again.stop().await;
}

/// ```text
/// build 1  old ---------- hands over, stops    again ------------------- preferred: runs
/// build 2        new ---- runs ---------------------------------------- hands over
/// ```
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_an_earlier_build_that_restarts_takes_no_shard_until_the_operator_prefers_it() {
    let log = MemoryLog::new();
    let old = start::<Mill>(log.clone(), "old", "1", 2);
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Mill>("mill", &()).await.unwrap();
    until(&room, |frames| *frames > 3).await;
    let new = start::<Mill>(log.clone(), "new", "2", 2);
    until_owned(&log, 2, |names| count(names, "new") == 2).await;
    old.says("is later than this one, and takes its shards over")
        .await;
    old.stop().await;

    let again = start::<Mill>(log.clone(), "again", "1", 2);
    again.says("is later than this one").await;
    // Twice as long as a hand-over takes that nobody wants.
    let frames = room.view().await.unwrap().view;
    until(&room, |now| *now > frames + 120).await;
    until_owned(&log, 2, |names| count(names, "new") == 2).await;
    assert_eq!(
        again.said("runs 1 of").len() + again.said("runs 2 of").len(),
        0
    );

    let joined = again.says("again: has joined").await;
    let ServerEvent::Joined { build, .. } = joined.event else {
        panic!("{joined}");
    };
    framestep_rooms::prefer(&log, build).await.unwrap();
    until_owned(&log, 2, |names| count(names, "again") == 2).await;
    let frames = room.view().await.unwrap().view;
    until(&room, |now| *now > frames + 30).await;
    new.stop().await;
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_share_the_shards_equally_when_they_come_and_go_and_end_together_soon() {
    let log = MemoryLog::new();
    let start = |name: &str| start::<Mill>(log.clone(), name, "1", 8);
    let shares = |names: &[String]| {
        let mut shares = ["a", "b", "c", "d"].map(|name| count(names, name));
        shares.sort_unstable();
        shares
    };
    let a = start("a");
    until_owned(&log, 8, |names| shares(names) == [0, 0, 0, 8]).await;
    let b = start("b");
    until_owned(&log, 8, |names| shares(names) == [0, 0, 4, 4]).await;
    let c = start("c");
    until_owned(&log, 8, |names| shares(names) == [0, 2, 3, 3]).await;
    b.stop().await;
    until_owned(&log, 8, |names| shares(names) == [0, 0, 4, 4]).await;
    let d = start("d");
    until_owned(&log, 8, |names| shares(names) == [0, 2, 3, 3]).await;

    // Each waits for the others as long as they do not leave as well. The time is that of the log.
    let last = async || log.ends(0).await.unwrap().last;
    let before = last().await;
    let nodes = [a, c, d].map(|node| {
        node.stop.send(()).unwrap();
        (node.ended, node.notes)
    });
    for (ended, notes) in nodes {
        ended.await.unwrap().unwrap();
        assert_eq!(warnings(&notes.lock().unwrap()), [""; 0]);
    }
    // At a hundred a second.
    let ticks = last().await - before;
    assert!(ticks < 400, "{ticks}");
}

#[test]
fn a_server_that_has_lost_its_log_stops_within_ten_seconds() {
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The whole runtime has to end, as that of `main`.
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let ticks = runtime.block_on(async {
            let log = MemoryLog::new();
            let gate = Gate::to(&log);
            let node = start::<Mill>(gate.clone(), "a", "1", 3);
            let client = Client::on(log.clone(), "alice").await.unwrap();
            let room = client.open::<Mill>("mill", &()).await.unwrap();
            until(&room, |frames| *frames > 3).await;
            // Another node with a log of its own is the clock.
            let time = MemoryLog::new();
            let clock = start::<Mill>(time.clone(), "clock", "1", 1);
            clock.says("runs 1 of 1 shards").await;
            gate.set_cut(true);
            let before = time.ends(0).await.unwrap().last;
            let warnings = node.stop().await;
            let ticks = time.ends(0).await.unwrap().last - before;
            let is_left = |text: &String| text.contains("a thread");
            assert!(!warnings.iter().any(is_left), "{warnings:?}");
            clock.stop().await;
            ticks
        });
        drop(runtime);
        sender.send(ticks).unwrap();
    });
    let ticks = (0..1_200).find_map(|_| ended.recv_timeout(Duration::from_millis(100)).ok());
    // At a hundred a second.
    let ticks = ticks.expect("it ends");
    assert!(ticks < 1_100, "{ticks}");
}
