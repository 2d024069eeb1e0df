//! Servers and clients on a log in memory, in one process.

#[path = "support/views.rs"]
mod views;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::MemoryLog;
use framestep_rooms::{Client, Effects, Fault, Player, Room, Server, ServerNote};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use views::until;

/// What a bell has heard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bell {
    rung: Vec<(String, u32)>,
    bought: Vec<u32>,
    ticks: u32,
}

#[derive(Debug, Serialize, Deserialize)]
enum Act {
    Ring(u32),
    Buy(u32),
    Panic,
}

#[derive(Serialize, Deserialize)]
struct Price(u32);

impl Request for Price {
    const NAME: &'static str = "price";
    type Answer = u32;
}

#[durable]
async fn clock() -> Chapter {
    wait_seconds(0.1).await;
    with(|bell: &mut Bell| bell.ticks += 1);
    Chapter::Next(clock())
}

#[durable]
async fn buy(item: u32) {
    let price = ask(|| Price(item)).await;
    with(move |bell: &mut Bell| bell.bought.push(price));
}

impl Room for Bell {
    const NAME: &'static str = "bell";
    type Args = ();
    type Input = Act;
    type View = Bell;

    fn registry() -> Registry {
        Registry::new().with::<Clock>().with::<Buy>()
    }

    fn effects() -> Effects {
        Effects::new().with(|_, price: Price| async move { price.0 * 10 })
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        runtime.spawn(clock()).detach();
        Bell::default()
    }

    fn input(&mut self, runtime: &Runtime, player: Player, act: Act) {
        match act {
            Act::Ring(times) => self.rung.push((player.name().to_owned(), times)),
            Act::Buy(item) => runtime.spawn(buy(item)).detach(),
            Act::Panic => panic!("the bell is broken"),
        }
    }

    fn view(&self) -> Bell {
        self.clone()
    }
}

/// A node, and what it has told.
struct Node {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), Fault>>,
    notes: Arc<Mutex<Vec<ServerNote>>>,
}

impl Node {
    fn start(log: &MemoryLog, name: &str) -> Self {
        Self::start_build(log, name, "test")
    }

    fn start_build(log: &MemoryLog, name: &str, build: &str) -> Self {
        Self::start_game::<Bell>(log, name, build)
    }

    fn start_game<R: Room>(log: &MemoryLog, name: &str, build: &str) -> Self {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel::<()>();
        let told = notes.clone();
        let server = Server::on(log.clone())
            .named(name)
            .build(build)
            .shards(3)
            .threads(2)
            .ticks_per_second(100)
            .dead_after(Duration::from_millis(100))
            .save_every(Duration::from_millis(200))
            .tries_frames(false)
            .on_note(move |note| told.lock().unwrap().push(note.clone()))
            .room::<R>();
        let ended = tokio::spawn(server.serve(async {
            let _ = stopped.await;
        }));
        Node { stop, ended, notes }
    }

    /// Waits until it says this.
    async fn says(&self, words: &str) {
        let is_said = || self.said(words) > 0;
        let said = async {
            while !is_said() {
                tokio::task::yield_now().await;
            }
        };
        let said = timeout(Duration::from_secs(15), said).await;
        assert!(said.is_ok(), "{:?}", self.notes.lock().unwrap());
    }

    /// How often it has said this.
    fn said(&self, words: &str) -> usize {
        let notes = self.notes.lock().unwrap();
        let said = notes.iter().filter(|note| note.to_string().contains(words));
        said.count()
    }

    async fn stop(self) {
        let notes = self.stop_with_warnings().await;
        assert_eq!(notes, [""; 0]);
    }

    /// Stops it, and returns its warnings. On a busy machine, nodes lose each other now and then: that
    /// is none here.
    async fn stop_with_warnings(mut self) -> Vec<String> {
        self.stop.send(()).unwrap();
        timeout(Duration::from_secs(15), &mut self.ended)
            .await
            .expect("it stops in time")
            .unwrap()
            .unwrap();
        let notes = self.notes.lock().unwrap();
        let warnings = notes.iter().filter(|note| note.is_warning());
        let warnings = warnings.map(ToString::to_string);
        warnings.filter(|text| !text.contains("is lost")).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_go_on_while_all_nodes_are_replaced_one_after_the_other() {
    let log = MemoryLog::new();
    let mut node = Node::start(&log, "a");
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let mut rooms = Vec::new();
    for number in 0..6 {
        rooms.push(
            client
                .open::<Bell>(&format!("bell-{number}"), &())
                .await
                .unwrap(),
        );
    }
    for round in 0..3_u32 {
        for room in &rooms {
            room.send(&Act::Ring(round)).await.unwrap();
        }
        let next = Node::start(&log, &format!("b{round}"));
        for room in &rooms {
            until(room, |bell| bell.rung.len() == round as usize + 1).await;
        }
        node.stop().await;
        node = next;
    }
    for room in &rooms {
        let bell = until(room, |bell| bell.ticks > 3).await;
        let expected: Vec<_> = (0..3).map(|round| ("alice".to_owned(), round)).collect();
        assert_eq!(bell.rung, expected);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effect_is_answered_once_and_a_panic_breaks_one_room() {
    let log = MemoryLog::new();
    let node = Node::start(&log, "a");
    let alice = Client::on(log.clone(), "alice").await.unwrap();
    let bob = alice.player("bob").unwrap();
    let room = alice.open::<Bell>("shop", &()).await.unwrap();
    let broken = bob.open::<Bell>("broken", &()).await.unwrap();
    until(&broken, |bell| bell.ticks > 1).await;
    broken.send(&Act::Panic).await.unwrap();
    room.send(&Act::Buy(7)).await.unwrap();
    bob.room::<Bell>("shop")
        .unwrap()
        .send(&Act::Buy(8))
        .await
        .unwrap();
    let bell = until(&room, |bell| bell.bought.len() == 2).await;
    assert_eq!(bell.bought.iter().sum::<u32>(), 150);
    let ticks = bell.ticks;
    let bell = until(&room, |bell| bell.ticks > ticks + 3).await;
    assert_eq!(bell.bought.len(), 2);
    let [warning] = &node.stop_with_warnings().await[..] else {
        panic!("one warning");
    };
    let ends = "room broken: it is broken: an input of bob has panicked: the bell is broken";
    assert!(warning.ends_with(ends), "{warning}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_build_begins_where_the_old_one_hands_over() {
    let log = MemoryLog::new();
    let old = Node::start_build(&log, "old", "1");
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Bell>("bell", &()).await.unwrap();
    room.send(&Act::Ring(1)).await.unwrap();
    until(&room, |bell| bell.ticks > 3).await;
    let new = Node::start_build(&log, "new", "2");
    room.send(&Act::Ring(2)).await.unwrap();
    until(&room, |bell| bell.rung.len() == 2).await;
    old.stop.send(()).unwrap();
    timeout(Duration::from_secs(15), old.ended)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    room.send(&Act::Ring(3)).await.unwrap();
    let bell = until(&room, |bell| bell.rung.len() == 3).await;
    let ticks = bell.ticks;
    until(&room, |bell| bell.ticks > ticks + 3).await;
    new.stop.send(()).unwrap();
    timeout(Duration::from_secs(15), new.ended)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

/// A room of another game.
#[derive(Serialize, Deserialize)]
struct Drum;

impl Room for Drum {
    const NAME: &'static str = "drum";
    type Args = ();
    type Input = ();
    type View = ();

    fn registry() -> Registry {
        Registry::new()
    }

    fn open(_: &Runtime, (): ()) -> Self {
        Drum
    }

    fn input(&mut self, _: &Runtime, _: Player, (): ()) {}

    fn view(&self) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_game_says_so_and_the_rooms_go_on_with_their_own() {
    let log = MemoryLog::new();
    let own = Node::start(&log, "own");
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Bell>("bell", &()).await.unwrap();
    room.send(&Act::Ring(1)).await.unwrap();
    until(&room, |bell| bell.ticks > 3).await;
    own.stop().await;

    // It cannot read the rooms, and may not replay frames of another build.
    let other = Node::start_game::<Drum>(&log, "other", "of a drum");
    let kind = "this server has no rooms of the kind `bell`: the log is that of another game";
    other.says(kind).await;
    other.says("only that may go on").await;
    room.send(&Act::Ring(2)).await.unwrap();
    let own = Node::start(&log, "own");
    until(&room, |bell| bell.rung.len() == 2).await;
    own.stop.send(()).unwrap();
    own.ended.await.unwrap().unwrap();

    // Beside it, the rooms go on with their own.
    room.send(&Act::Ring(3)).await.unwrap();
    let own = Node::start(&log, "own");
    let bell = until(&room, |bell| bell.rung.len() == 3).await;
    until(&room, |now| now.ticks > bell.ticks + 30).await;
    let said = other.notes.lock().unwrap().clone();
    let times = |words: &str| {
        said.iter()
            .filter(|note| note.to_string().contains(words))
            .count()
    };
    assert_eq!(times(kind), 1, "{said:?}");
    other.stop.send(()).unwrap();
    other.ended.await.unwrap().unwrap();
    own.stop.send(()).unwrap();
    own.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn another_number_of_shards_is_refused() {
    let log = MemoryLog::new();
    Node::start(&log, "a");
    Client::on(log.clone(), "alice").await.unwrap();
    let fault = Server::on(log)
        .shards(4)
        .room::<Bell>()
        .serve(std::future::pending())
        .await
        .unwrap_err();
    assert!(
        fault.to_string().contains("made for 3 shards, not for 4"),
        "{fault}"
    );
}
