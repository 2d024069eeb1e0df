//! Players who come and go, views of their own, and what an operator does: on a log in memory.

#[path = "support/node.rs"]
mod node;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/views.rs"]
mod views;

use std::time::{Duration, Instant};

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log, MemoryLog};
use framestep_rooms::{
    Client, Entry, Operator, Player, Presence, Room, RoomClient, ServerEvent, ShardStatus, Topic,
};

use node::{Node, server};
use patience::patient;
use views::until;

/// Each player has a number that nobody else sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Hands {
    heard: Vec<(String, Presence)>,
    sum: u32,
    hand: Option<String>,
}

impl Room for Hands {
    const NAME: &'static str = "hands";
    const VIEW_PER_PLAYER: bool = true;
    type Args = u32;
    type Input = u32;
    type View = Hands;

    fn registry() -> Registry {
        Registry::new()
    }

    fn open(_: &Runtime, sum: u32) -> Self {
        Hands {
            sum,
            ..Hands::default()
        }
    }

    fn input(&mut self, _: &Runtime, _: Player, by: u32) {
        assert!(by != 13, "an unlucky number");
        self.sum += by;
    }

    fn presence(&mut self, _: &Runtime, player: Player, presence: Presence) {
        self.heard.push((player.to_string(), presence));
    }

    fn view(&self) -> Hands {
        self.clone()
    }

    fn view_for(&self, player: &Player) -> Hands {
        Hands {
            hand: Some(format!("the hand of {player}")),
            ..self.clone()
        }
    }
}

fn start(log: &MemoryLog, name: &str) -> Node {
    Node::start::<Hands>(server(log.clone(), name, "test", 2))
}

async fn client(log: &MemoryLog, name: &str) -> Client {
    Client::on(log.clone(), name).await.unwrap()
}

/// The room, opened by alice.
async fn opened(log: &MemoryLog) -> RoomClient<Hands> {
    let alice = client(log, "alice").await;
    alice.open::<Hands>("hands", &5).await.unwrap()
}

/// ```text
/// alice   watches ......................................  watches again
/// bob            watches  drops his watch
/// room    Joined Joined                   Gone (bob)
/// ```
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_hears_who_watches_and_each_sees_its_own_view() {
    let log = MemoryLog::new();
    let nodes = [start(&log, "a"), start(&log, "b")];
    let alice = client(&log, "alice").await;
    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    let of_bob = client(&log, "bob").await.room::<Hands>("hands").unwrap();
    let mut views = room.watch().await.unwrap();
    let mut theirs = of_bob.watch().await.unwrap();
    let seen = patient(theirs.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(seen.view.hand.as_deref(), Some("the hand of bob"));
    // What all see is without hands, and who looks on is not there.
    let mut all = of_bob.spectate().await.unwrap();
    let seen = patient(all.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(seen.view.hand, None);
    drop((theirs, all));
    let mut last = 0;
    let gone = async {
        loop {
            let seen = views.next().await.unwrap().expect("it is open");
            assert!(seen.frame > last, "{} after {last}", seen.frame);
            last = seen.frame;
            assert_eq!(seen.view.hand.as_deref(), Some("the hand of alice"));
            if seen
                .view
                .heard
                .contains(&("bob".to_owned(), Presence::Gone))
            {
                return seen.view.heard;
            }
        }
    };
    let heard = patient(gone).await.expect("bob is gone");
    for player in ["alice", "bob"] {
        let of_it = heard.iter().filter(|(name, _)| name == player);
        let of_it: Vec<Presence> = of_it.map(|(_, it)| *it).collect();
        let expected: &[Presence] = match player {
            "alice" => &[Presence::Joined],
            _ => &[Presence::Joined, Presence::Gone],
        };
        assert_eq!(of_it, expected, "{player}");
    }
    let again = of_bob.watch().await.unwrap();
    let is_back = |hands: &Hands| {
        hands
            .heard
            .contains(&("bob".to_owned(), Presence::Returned))
    };
    until(&room, is_back).await;
    drop(again);
    for node in nodes {
        node.stop().await;
    }
}

/// ```text
/// sent    room 7: 5, 4, 5, 6 | room 9, of the same name: 1 | room 7: 8 | room 9: 2
/// seen            5        6                           1                      2
/// ```
#[tokio::test]
async fn a_view_that_is_not_later_than_the_last_one_is_skipped() {
    let log = MemoryLog::new();
    log.prepare(1, 4_096).await.unwrap();
    let room = client(&log, "alice").await.room::<Hands>("hands").unwrap();
    let mut views = room.spectate().await.unwrap();
    for (opened, frame) in [(7, 5), (7, 4), (7, 5), (7, 6), (9, 1), (7, 8), (9, 2)] {
        let body = format!(
            r#"{{"f":{frame},"o":{opened},"a":9,"v":{{"heard":[],"sum":{frame},"hand":null}}}}"#
        );
        log.say("view.0.hands", body.into_bytes()).await.unwrap();
    }
    for frame in [5, 6, 1, 2] {
        let seen = patient(views.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(seen.frame, frame);
    }
}

/// The entries of the room that is open in a log, without its ticks.
async fn entries(log: &MemoryLog) -> Vec<Entry> {
    let mut reader = log.read(0, 1).await.unwrap();
    let mut all = Vec::new();
    loop {
        let batch = reader.next(Duration::from_secs(30)).await.unwrap();
        let entries = batch.entries.into_iter();
        all.extend(entries.filter(|it| it.topic != Some(Topic::Tick) && !it.body.is_empty()));
        if batch.is_end {
            return all;
        }
    }
}

/// ```text
/// alice   opens, sends 1                  opens again
/// log                     closed                       the three again, as if the network had kept them
/// room    5            6  -                         5                                                 5
/// ```
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_late_copy_of_an_entry_opens_closes_or_changes_a_room_again() {
    let log = MemoryLog::new();
    let node = Node::start::<Hands>(server(log.clone(), "a", "test", 1));
    let alice = client(&log, "alice").await;
    let again = async |entries: &[Entry], name: &str| {
        for (number, entry) in entries.iter().enumerate() {
            let (topic, id) = (entry.topic.clone().unwrap(), format!("{name}-{number}"));
            log.append(0, &topic, &id, &entry.body).await.unwrap();
        }
    };
    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    room.send(&1).await.unwrap();
    until(&room, |hands| hands.sum == 6).await;
    Operator::on(log.clone()).close("hands").await.unwrap();
    while room.view().await.is_ok() {}
    let copies = entries(&log).await;
    again(&copies, "first").await;
    node.says("room hands is not opened: it was made after entry")
        .await;
    let there = room.view().await.unwrap_err().to_string();
    assert_eq!(there, "there is no room `hands`: it is over");

    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    room.view().await.unwrap();
    again(&copies, "second").await;
    room.send(&10).await.unwrap();
    until(&room, |hands| hands.sum == 15).await;
    node.stop().await;
}

/// ```text
/// frame   f     f + 1..50 | no change: the next one is sent to all at f + 100
/// alice   view            | view   view   view
/// ```
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_begins_to_watch_sees_at_once_what_others_have_seen() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
    let room = opened(&log).await;
    until(&room, |hands| !hands.heard.is_empty()).await;
    for _ in 0..5 {
        let first = room.view().await.unwrap().frame;
        let again = room.view().await.unwrap().frame;
        // A hundred frames a second.
        assert!(again < first + 50, "{again} after {first}");
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_does_not_change_is_sent_once_a_second() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
    let room = opened(&log).await;
    let mut views = room.watch().await.unwrap();
    let heard = async { while views.next().await.unwrap().unwrap().view.heard.is_empty() {} };
    patient(heard).await.expect("the room hears alice");
    // A hundred frames a second at most, and no change.
    let began = Instant::now();
    let first = views.next().await.unwrap().unwrap().frame;
    let mut count = 1;
    while views.next().await.unwrap().unwrap().frame < first + 250 {
        count += 1;
    }
    let seconds = began.elapsed().as_secs();
    assert!(count <= seconds + 3, "{count} views in {seconds} s");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_room_is_closed_and_replaced_and_a_player_is_removed() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
    let operator = Operator::on(log.clone());
    let alice = client(&log, "alice").await;
    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    room.view().await.unwrap();
    room.send(&13).await.unwrap();
    let broken = node
        .says("it is broken: an input of alice has panicked")
        .await;
    assert!(matches!(broken.event, ServerEvent::RoomBroken { .. }));
    operator.close("hands").await.unwrap();
    node.says("room hands: the operator has closed it").await;
    let room = alice.open::<Hands>("hands", &7).await.unwrap();
    until(&room, |hands| hands.sum == 7).await;

    operator.kick("hands", "alice").await.unwrap();
    node.says("the operator has removed alice").await;
    room.send(&1).await.unwrap();
    node.says("the operator has removed the player from the room")
        .await;
    let of_bob = client(&log, "bob").await.room::<Hands>("hands").unwrap();
    let is_kicked = |hands: &Hands| {
        hands
            .heard
            .contains(&("alice".to_owned(), Presence::Kicked))
    };
    assert_eq!(until(&of_bob, is_kicked).await.sum, 7);
    assert!(operator.close("no name").await.is_err());
    node.stop().await;
}

async fn status(log: &MemoryLog, fits: impl Fn(&ShardStatus) -> bool) -> ShardStatus {
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_that_no_node_can_load_begins_without_rooms_when_the_operator_says_so() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
    let operator = Operator::on(log.clone());
    let alice = client(&log, "alice").await;
    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    room.view().await.unwrap();
    let shard = alice.shard("hands");
    let runs = operator.restart(shard).await.unwrap_err().to_string();
    assert!(runs.contains("runs, at frame"), "{runs}");
    node.stop().await;
    // Its log is trimmed further than any save.
    let last = log.ends(shard).await.unwrap().last;
    log.trim(shard, last + 1).await.unwrap();
    let node = start(&log, "b");
    node.says("no save fits the log").await;
    operator.restart(shard).await.unwrap();
    let begun = status(&log, |it| it.shard == shard && it.owns).await;
    assert!(begun.rooms.is_empty() && begun.frame > 0, "{begun:?}");
    let room = alice.open::<Hands>("hands", &9).await.unwrap();
    until(&room, |hands| hands.sum == 9).await;
    assert!(operator.restart(7).await.is_err());
    node.stop().await;
}

/// A client that may write to the log of a shard appends what looks like ticks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticks_without_effect_are_told_once_in_a_while_and_the_shard_goes_on() {
    let log = MemoryLog::new();
    let node = start(&log, "a");
    let alice = client(&log, "alice").await;
    let room = alice.open::<Hands>("hands", &5).await.unwrap();
    room.view().await.unwrap();
    let shard = alice.shard("hands");
    for number in 0..300 {
        let id = format!("void-{number}");
        log.append(shard, &Topic::Tick, &id, b"void").await.unwrap();
    }
    node.says("do not fit the log").await;
    room.send(&1).await.unwrap();
    until(&room, |hands| hands.sum == 6).await;
    let told = node.said("not fit the log");
    assert!(told.len() <= 4, "{told:#?}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_other_settings_are_of_another_build_and_say_so() {
    let log = MemoryLog::new();
    let first = start(&log, "a");
    let room = opened(&log).await;
    room.view().await.unwrap();
    let other = server(log.clone(), "b", "test", 2).max_input(100);
    let other = Node::start::<Hands>(other);
    let told = first.says("runs the same code with other settings").await;
    assert!(told.to_string().contains("inputs of 100 bytes"), "{told}");
    assert!(told.is_warning());
    room.send(&1).await.unwrap();
    until(&room, |hands| hands.sum == 6).await;
    assert_eq!(first.said("differs from that").len(), 0);
    other.stop().await;
    first.stop().await;
}

#[tokio::test]
async fn settings_that_cannot_work_are_an_error_at_the_start() {
    let zero = Duration::ZERO;
    for (server, word) in [
        (start_of().watchdog_timeout(zero), "watchdog_timeout"),
        (start_of().snapshot_interval(zero), "snapshot_interval"),
        (start_of().failover_timeout(zero), "failover_timeout"),
        (start_of().max_input(0), "max_input"),
        (start_of().ticks_per_second(0), "ticks"),
        (start_of().named("a b"), "cannot name a node"),
    ] {
        let error = server.room::<Hands>().serve(std::future::pending()).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

fn start_of() -> framestep_rooms::Server {
    framestep_rooms::Server::on(MemoryLog::new())
}
