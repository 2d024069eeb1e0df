//! Servers and clients on a log in memory, in one process.

#[path = "support/empty.rs"]
mod empty;
#[path = "support/node.rs"]
mod node;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/views.rs"]
mod views;

use framestep_durable::prelude::*;
use framestep_rooms::log::MemoryLog;
use framestep_rooms::{Client, Effects, Operator, Player, Room, Server};

use empty::empty_room;
use node::{Node, server};
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
        Registry::new().script(clock).script(buy)
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

fn start(log: &MemoryLog, name: &str) -> Node {
    start_build(log, name, "test")
}

fn start_build(log: &MemoryLog, name: &str, build: &str) -> Node {
    Node::start::<Bell>(server(log.clone(), name, build, 3))
}

/// Stops a node, and returns its warnings. On a busy machine, nodes lose each other now and then: that
/// is none here.
async fn warnings_of(node: Node) -> Vec<String> {
    let mut warnings = node.stop().await;
    warnings.retain(|text| !text.contains("is lost"));
    warnings
}

async fn ends_well(node: Node) {
    assert_eq!(warnings_of(node).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_go_on_while_all_nodes_are_replaced_one_after_the_other() {
    let log = MemoryLog::new();
    let mut node = start(&log, "a");
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
        let next = start(&log, &format!("b{round}"));
        for room in &rooms {
            until(room, |bell| bell.rung.len() == round as usize + 1).await;
        }
        ends_well(node).await;
        node = next;
    }
    for room in &rooms {
        let bell = until(room, |bell| bell.ticks > 3).await;
        let expected: Vec<_> = (0..3).map(|round| ("alice".to_owned(), round)).collect();
        assert_eq!(bell.rung, expected);
    }
    ends_well(node).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effect_is_answered_once_and_a_panic_breaks_one_room() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
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
    let [warning] = &warnings_of(node).await[..] else {
        panic!("one warning");
    };
    let ends = "room broken: it is broken: an input of bob has panicked: the bell is broken";
    assert!(warning.ends_with(ends), "{warning}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_build_begins_where_the_old_one_hands_over() {
    let log = MemoryLog::new();
    let old = start_build(&log, "old", "1");
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Bell>("bell", &()).await.unwrap();
    room.send(&Act::Ring(1)).await.unwrap();
    until(&room, |bell| bell.ticks > 3).await;
    let new = start_build(&log, "new", "2");
    room.send(&Act::Ring(2)).await.unwrap();
    until(&room, |bell| bell.rung.len() == 2).await;
    old.stop().await;
    room.send(&Act::Ring(3)).await.unwrap();
    let bell = until(&room, |bell| bell.rung.len() == 3).await;
    let ticks = bell.ticks;
    until(&room, |bell| bell.ticks > ticks + 3).await;
    new.stop().await;
}

// A room of another game.
empty_room!(Drum, "drum");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_game_does_not_start_on_the_log() {
    let log = MemoryLog::new();
    let own = start(&log, "own");
    let client = Client::on(log.clone(), "alice").await.unwrap();
    let room = client.open::<Bell>("bell", &()).await.unwrap();
    until(&room, |bell| bell.ticks > 1).await;
    let other = server(log.clone(), "other", "of a drum", 3).room::<Drum>();
    let error = other.serve(std::future::pending()).await.unwrap_err();
    let expected =
        "the log is of another game: its rooms are of the kinds `bell`, and this server has `drum`";
    assert!(error.to_string().starts_with(expected), "{error}");
    ends_well(own).await;
    // With both kinds of rooms, it is the next version of the game.
    let both = server(log.clone(), "both", "test", 3).room::<Bell>();
    let both = Node::start::<Drum>(both);
    room.send(&Act::Ring(2)).await.unwrap();
    until(&room, |bell| bell.rung.len() == 1).await;
    both.says("both: has joined").await;
    assert_eq!(both.said("cannot read"), []);
    both.stop().await;
}

#[tokio::test]
async fn another_number_of_shards_is_refused() {
    let log = MemoryLog::new();
    start(&log, "a");
    Client::on(log.clone(), "alice").await.unwrap();
    let error = Server::on(log)
        .shards(4)
        .room::<Bell>()
        .serve(std::future::pending())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("made for 3 shards, not for 4"),
        "{error}"
    );
}

/// `main` prints that of what it returns.
#[tokio::test]
async fn the_debug_of_an_error_is_the_sentence_of_its_display() {
    let server = Server::on(MemoryLog::new()).named("a b").room::<Bell>();
    let error = server.serve(async {}).await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "`a b` cannot name a node: use letters, digits, `-` and `_`"
    );
    let error = Client::on(MemoryLog::new(), "a b").await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "`a b` is no name: use 1 to 64 letters, digits, `-` and `_`"
    );
    let operator = Operator::on(MemoryLog::new());
    let error = operator.close("a b").await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "the log has failed: `a b` cannot name a room"
    );
}
