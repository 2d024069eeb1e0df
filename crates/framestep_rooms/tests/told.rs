//! What a server tells its operator, and a client its player, about what goes wrong: on a log in
//! memory.

#[path = "support/gate.rs"]
mod gate;
#[path = "told/next.rs"]
mod next;
#[path = "support/node.rs"]
mod node;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/views.rs"]
mod views;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log, MemoryLog};
use framestep_rooms::{Client, ClientError, Player, Room, Server, ShardStatus, Topic};

use gate::Gate;
use node::{Node, server, warnings};
use patience::patient;
use views::until;

/// An auction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Lot {
    bids: u32,
    /// What is not the same on each node.
    odd: u64,
    ticks: u32,
    is_over: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum Act {
    Bid,
    Provoke,
    BeOdd,
    End,
}

#[durable]
async fn clock() -> Chapter {
    wait_frames(1).await;
    with(|lot: &mut Lot| lot.ticks += 1);
    Chapter::Next(clock())
}

#[durable]
async fn provoker() {
    wait_frames(3).await;
    panic!("nobody answers");
}
/// The line of its `.await`.
const AWAIT: u32 = line!() - 4;

static NEXT: AtomicU64 = AtomicU64::new(0);

#[durable]
async fn odd_one() -> Chapter {
    wait_frames(1).await;
    with(|lot: &mut Lot| lot.odd = NEXT.fetch_add(1, Ordering::Relaxed));
    Chapter::Next(odd_one())
}

impl Room for Lot {
    const NAME: &'static str = "lot";
    type Args = u32;
    type Input = Act;
    type View = Lot;

    fn registry() -> Registry {
        Registry::new()
            .script(clock)
            .script(provoker)
            .script(odd_one)
    }

    fn open(runtime: &Runtime, bids: u32) -> Self {
        runtime.spawn(clock()).detach();
        Lot {
            bids,
            ..Lot::default()
        }
    }

    fn input(&mut self, runtime: &Runtime, _: Player, act: Act) {
        match act {
            Act::Bid => self.bids += 1,
            Act::Provoke => runtime.spawn(provoker()).detach(),
            Act::BeOdd => runtime.spawn(odd_one()).detach(),
            Act::End => self.is_over = true,
        }
    }

    fn view(&self) -> Lot {
        self.clone()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// The same kind of room in a client of another version.
#[derive(Serialize, Deserialize)]
struct NewLot;

impl Room for NewLot {
    const NAME: &'static str = "lot";
    type Args = String;
    type Input = String;
    type View = Vec<String>;

    fn registry() -> Registry {
        Registry::new()
    }

    fn open(_: &Runtime, _: String) -> Self {
        NewLot
    }

    fn input(&mut self, _: &Runtime, _: Player, _: String) {}

    fn view(&self) -> Vec<String> {
        Vec::new()
    }
}

fn start(log: impl Log, name: &str) -> Node {
    start_build::<Lot>(log, name, "test")
}

fn start_build<R: Room>(log: impl Log, name: &str, build: &str) -> Node {
    let server = server(log, name, build, 1).threads(1).max_rooms(3);
    Node::start::<R>(server.failover_timeout(Duration::from_millis(200)))
}

/// Waits for a status that fits.
async fn status(log: &impl Log, fits: impl Fn(&ShardStatus) -> bool) -> ShardStatus {
    let mut statuses = log.hear("status.*").await.unwrap();
    let look = async {
        loop {
            let status = statuses.next().await.unwrap();
            let status: ShardStatus = serde_json::from_slice(&status.body).unwrap();
            if fits(&status) {
                return status;
            }
        }
    };
    patient(look).await.expect("the status comes")
}

async fn client(log: &MemoryLog) -> Client {
    Client::on(log.clone(), "alice").await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_panics_is_told_once_with_its_last_await_and_counted() {
    let log = MemoryLog::new();
    let nodes = [start(log.clone(), "a"), start(log.clone(), "b")];
    let room = client(&log).await.open::<Lot>("lot-3", &0).await.unwrap();
    for _ in 0..3 {
        room.send(&Act::Provoke).await.unwrap();
    }
    let counted = status(&log, |status| {
        status.rooms.iter().any(|room| room.panics == 3)
    });
    let status = counted.await;
    let text = format!(
        "script `provoker` has panicked: nobody answers (after {}:{AWAIT})",
        file!()
    );
    assert_eq!(status.rooms[0].last_panic.as_ref(), Some(&text));
    assert_eq!(status.rooms[0].broken, None);
    // The room goes on.
    let ticks = room.view().await.unwrap().view.ticks;
    until(&room, |lot| lot.ticks > ticks + 3).await;
    // By the node that runs the room: on a busy machine, that may change.
    let told = nodes.each_ref().map(|node| node.said("panicked"));
    assert!(told.iter().all(|told| told.len() <= 1), "{told:#?}");
    let note = told.iter().flatten().next().expect("it is told");
    assert!(note.is_warning() && note.shard == Some(0));
    assert_eq!(note.room.as_deref(), Some("lot-3"));
    assert_eq!(note.event.to_string(), text);
    let ends = format!(", shard 0, room lot-3: {text}");
    assert!(note.to_string().ends_with(&ends), "{note}");
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_differs_is_told_once_by_name_and_shown() {
    let log = MemoryLog::new();
    let nodes = [start(log.clone(), "a"), start(log.clone(), "b")];
    let alice = client(&log).await;
    let mut rooms = Vec::new();
    for name in ["one", "odd", "two"] {
        let room = alice.open::<Lot>(name, &0).await.unwrap();
        room.view().await.unwrap();
        rooms.push(room);
    }
    rooms[1].send(&Act::BeOdd).await.unwrap();
    let shown = status(&log, |status| !status.differs.is_empty()).await;
    assert!(shown.differs.contains(&"odd".to_owned()), "{shown:?}");
    let ticks = rooms[0].view().await.unwrap().view.ticks;
    until(&rooms[0], |lot| lot.ticks > ticks + 100).await;
    // Who follows may change on a busy machine.
    let told = nodes
        .each_ref()
        .map(|node| node.said("differs from that on"));
    let all: Vec<_> = told.iter().flatten().collect();
    assert!(
        !all.is_empty() && told.iter().all(|told| told.len() <= 1),
        "{told:#?}"
    );
    for note in all {
        let names_it = ["of room odd", "one, odd", "odd, two", "odd, one"];
        let names_it = names_it
            .iter()
            .any(|words| note.event.to_string().contains(words));
        assert!(names_it && note.is_warning(), "{note}");
    }
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_effect_is_told_with_its_reason_and_counted() {
    let log = MemoryLog::new();
    let limited = server(log.clone(), "a", "test", 1).inputs_per_second(6);
    let node = Node::start::<Lot>(limited);
    let alice = client(&log).await;
    let room = alice.open::<Lot>("lot", &0).await.unwrap();
    room.view().await.unwrap();
    let mut burst = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let room = room.clone();
        burst.spawn(async move { room.send(&Act::Bid).await.unwrap() });
    }
    burst.join_all().await;
    let told = node.says("more than 6 in a second").await;
    assert!(
        told.is_warning() && told.event.to_string().contains("of alice to room lot"),
        "{told}"
    );

    let new = alice.room::<NewLot>("lot").unwrap();
    // The budget of the burst.
    let ticks = room.view().await.unwrap().view.ticks;
    until(&room, |lot| lot.ticks > ticks + 20).await;
    new.send(&"bid".to_owned()).await.unwrap();
    node.says(
        "an input of alice to room lot has no effect: it cannot be read: unknown variant `bid`",
    )
    .await;
    let nowhere = alice.room::<Lot>("lto").unwrap();
    nowhere.send(&Act::Bid).await.unwrap();
    node.says("an input of alice to room lto has no effect: the room is over, or was not opened")
        .await;
    let counted = |status: &ShardStatus| {
        let refused = status.refused;
        refused.too_many > 0 && refused.unreadable == 1 && refused.no_room == 1
    };
    let status = status(&log, counted).await;
    let bids = u64::from(room.view().await.unwrap().view.bids);
    assert_eq!(bids + status.refused.too_many, 200);
    // One line a second for each reason, whatever is sent.
    assert!(node.said("more than 6 in a second").len() <= 2);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_whose_clock_was_ahead_is_heard_from_other_devices_and_a_number_too_old_is_told() {
    let log = MemoryLog::new();
    let node = start(log.clone(), "a");
    let alice = client(&log).await;
    let room = alice.open::<Lot>("lot", &0).await.unwrap();
    room.view().await.unwrap();
    let topic = Topic::Input("lot".into(), Player::new("alice").unwrap());
    let send = async |session: u64, number: u64| {
        let shard = alice.shard("lot");
        // Nothing: the answer is an entry that the page knows.
        let asks = format!("asks-{session}-{number}");
        let after = log.append(shard, &topic, &asks, &[]).await.unwrap();
        let (id, body) = (
            format!("{session}-{number}"),
            format!(r#"{{"s":{session},"n":{number},"a":{after},"i":"Bid"}}"#),
        );
        log.append(shard, &topic, &id, body.as_bytes())
            .await
            .unwrap();
    };
    // A page whose clock is ahead connects five times, then one with another unit, then this client.
    for connection in 0..5 {
        send(9_000_000_000_000_000 + connection, 1).await;
    }
    send(1_764_000_000_000, 1).await;
    room.send(&Act::Bid).await.unwrap();
    until(&room, |lot| lot.bids == 7).await;
    send(9_000_000_000_000_000, 2).await;
    until(&room, |lot| lot.bids == 8).await;

    // A page that takes the same session, and counts anew.
    send(9_000_000_000_000_000, 100).await;
    send(9_000_000_000_000_000, 3).await;
    node.says("its number 3 is 64 or more behind the newest one of its session")
        .await;
    send(9_000_000_000_000_000, 0).await;
    node.says("its number is 0: a session counts from 1").await;
    assert_eq!(room.view().await.unwrap().view.bids, 9);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_opening_without_effect_is_an_error_at_the_first_view() {
    let log = MemoryLog::new();
    let node = start(log.clone(), "a");
    let alice = client(&log).await;
    let why = |error: ClientError| match error {
        ClientError::NoRoom { room, why } => format!("{room}: {why}"),
        error => panic!("{error}"),
    };
    let room = alice
        .open::<NewLot>("lot", &"many".to_owned())
        .await
        .unwrap();
    let refused = why(patient(room.view()).await.unwrap().unwrap_err());
    let begins =
        "lot: it was not opened: its arguments cannot be read: invalid type: string \"many\"";
    assert!(refused.starts_with(begins), "{refused}");
    let mut watch = room.watch().await.unwrap();
    let refused = why(patient(watch.next()).await.unwrap().unwrap_err());
    assert!(refused.starts_with(begins), "{refused}");
    node.says("room lot is not opened: its arguments cannot be read")
        .await;

    // The name is free.
    let room = alice.open::<Lot>("lot", &5).await.unwrap();
    assert_eq!(room.view().await.unwrap().view.bids, 5);
    for name in ["b", "c"] {
        alice.open::<Lot>(name, &0).await.unwrap();
    }
    let room = alice.open::<Lot>("d", &0).await.unwrap();
    let refused = why(patient(room.view()).await.unwrap().unwrap_err());
    assert_eq!(
        refused,
        "d: it was not opened: its shard has 3 rooms already (`Server::max_rooms`)"
    );
    let never = alice.room::<Lot>("e").unwrap();
    let refused = why(patient(never.view()).await.unwrap().unwrap_err());
    assert_eq!(refused, "e: it was not opened, or is over");

    // A room whose view is of another type.
    let other = alice.room::<NewLot>("lot").unwrap();
    let error = patient(other.view()).await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Settings(_)));
    let begins =
        "a view of room `lot` is not one of a `lot`: server and client are of different versions";
    assert!(error.to_string().starts_with(begins), "{error}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_ends_with_the_last_view_when_the_room_is_over() {
    let log = MemoryLog::new();
    let node = start(log.clone(), "a");
    let alice = client(&log).await;
    let room = alice.open::<Lot>("lot", &0).await.unwrap();
    let mut watch = room.watch().await.unwrap();
    let mut before = client(&log)
        .await
        .room::<Lot>("lot")
        .unwrap()
        .watch()
        .await
        .unwrap();
    before.next().await.unwrap().unwrap();
    room.send(&Act::Bid).await.unwrap();
    room.send(&Act::End).await.unwrap();
    for watch in [&mut watch, &mut before] {
        let seen = async {
            let mut last = None;
            while let Some(view) = watch.next().await.unwrap() {
                last = Some(view.view);
            }
            last.unwrap()
        };
        let last = patient(seen).await.expect("it ends");
        assert!(last.is_over && last.bids == 1, "{last:?}");
        assert_eq!(watch.next().await.unwrap(), None);
    }
    // A watch of the client that has opened it ends, also if it begins too late.
    let mut late = room.watch().await.unwrap();
    assert_eq!(patient(late.next()).await.unwrap().unwrap(), None);
    let error = patient(room.view()).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "there is no room `lot`: it is over");
    // Any other waits until it is opened again.
    let mut next = client(&log)
        .await
        .room::<Lot>("lot")
        .unwrap()
        .watch()
        .await
        .unwrap();
    tokio::select! {
        biased;
        view = next.next() => panic!("{view:?}"),
        error = room.view() => assert!(matches!(error, Err(ClientError::NoRoom { .. }))),
    }
    let room = alice.open::<Lot>("lot", &7).await.unwrap();
    assert_eq!(room.view().await.unwrap().view.bids, 7);
    assert_eq!(next.next().await.unwrap().unwrap().view.bids, 7);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_tells_that_it_has_joined_what_it_runs_and_once_that_the_log_is_away_and_back() {
    let log = MemoryLog::new();
    let gate = Gate::to(&log);
    let node = start(gate.clone(), "a");
    node.says("a: has joined, build ").await;
    let told = node.says("a: runs 1 of 1 shards, follows 0").await;
    assert!(!told.is_warning());
    let room = client(&log).await.open::<Lot>("lot", &0).await.unwrap();
    room.view().await.unwrap();
    gate.set_cut(true);
    let told = node
        .says("the log does not answer for 1 of 1 shards: no answer in time")
        .await;
    assert!(told.is_warning() && told.shard.is_none());
    tokio::task::yield_now().await;
    gate.set_cut(false);
    node.says("the log answers again, after").await;
    let ticks = room.view().await.unwrap().view.ticks;
    until(&room, |lot| lot.ticks > ticks + 3).await;
    assert_eq!(node.said("log does not answer").len(), 1);
    let warned: BTreeSet<String> = warnings(&node.notes.lock().unwrap()).into_iter().collect();
    assert_eq!(warned.len(), 1, "{warned:?}");
    let other = start(gate, "b");
    node.says("a: node b has joined").await;
    other.says("has joined, build ").await;
    let notes = other.notes.clone();
    other.stop().await;
    node.says("a: node b stops").await;
    let notes: Vec<String> = notes
        .lock()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        notes.last().unwrap().contains("b: has stopped, in "),
        "{notes:?}"
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_of_a_shard_that_is_not_there_says_how_many_there_are() {
    let log = MemoryLog::new();
    let nothing = Server::on(log.clone()).room::<Lot>().replay(0, 9).await;
    let error = nothing.unwrap_err().to_string();
    assert!(error.contains("no server has made this log yet"), "{error}");
    let node = start(log.clone(), "a");
    client(&log)
        .await
        .open::<Lot>("lot", &0)
        .await
        .unwrap()
        .view()
        .await
        .unwrap();
    node.stop().await;
    let wrong = Server::on(log.clone()).room::<Lot>().replay(7, 9).await;
    let error = wrong.unwrap_err().to_string();
    assert!(
        error.starts_with("there is no shard 7: the log has 1 shards, 0 to 0"),
        "{error}"
    );
    Server::on(log).room::<Lot>().replay(0, 9).await.unwrap();
}
