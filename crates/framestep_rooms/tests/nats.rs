//! Servers and clients over a real NATS server. Without one, these tests are skipped with a message.
#![cfg(feature = "nats")]

#[path = "support/empty.rs"]
mod empty;
#[path = "support/patience.rs"]
mod patience;
#[path = "nats/rights.rs"]
mod rights;
mod support;
#[path = "nats/unreadable.rs"]
mod unreadable;
#[path = "support/views.rs"]
mod views;

use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log as _, LogError, NatsLog};
use framestep_rooms::{Client, Format, Player, Room, Server, ServerError, ServerEvent, Topic};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use patience::patient;
use views::until;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sum {
    sum: u64,
    beats: u32,
}

#[durable]
async fn beat() -> Chapter {
    wait_seconds(0.05).await;
    with(|sum: &mut Sum| sum.beats += 1);
    Chapter::Next(beat())
}

impl Room for Sum {
    const NAME: &'static str = "sum";
    const FORMAT: Format = Format::Postcard;
    type Args = u64;
    type Input = u64;
    type View = Sum;

    fn registry() -> Registry {
        Registry::new().script(beat)
    }

    fn open(runtime: &Runtime, sum: u64) -> Self {
        runtime.spawn(beat()).detach();
        Sum { sum, beats: 0 }
    }

    fn input(&mut self, _: &Runtime, _: Player, by: u64) {
        self.sum += by;
    }

    fn view(&self) -> Sum {
        self.clone()
    }
}

/// Starts a node, and waits until it has joined.
async fn start(
    url: &str,
    name: &str,
) -> (oneshot::Sender<()>, JoinHandle<Result<(), ServerError>>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::at(url)
        .named(name)
        .build_id("1")
        .shards(2)
        .threads(1)
        .ticks_per_second(60)
        .inputs_per_second(1_000)
        .probe_frames(false)
        .room::<Sum>();
    let server = server.snapshot_interval(Duration::from_millis(300));
    let health = server.health();
    let ended = tokio::spawn(server.serve(async {
        let _ = stopped.await;
    }));
    let joined = async {
        while !health.is_ready() && !ended.is_finished() {
            tokio::task::yield_now().await;
        }
    };
    patient(joined).await.unwrap();
    (stop, ended)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_acknowledged_input_counts_once_while_nodes_and_the_server_are_replaced() {
    let Some(mut server) = support::NatsServer::start("rooms").await else {
        return;
    };
    let first = start(&server.url(), "a").await;
    let client = Client::at(&server.url(), "alice").await.unwrap();
    let mut rooms = Vec::new();
    for number in 0..4 {
        rooms.push(
            client
                .open::<Sum>(&format!("sum-{number}"), &1_000)
                .await
                .unwrap(),
        );
    }
    let mut expected = 1_000;
    let send = async |expected: &mut u64| {
        for by in 1..=20 {
            for room in &rooms {
                room.send(&by).await.unwrap();
            }
            *expected += by;
        }
    };
    send(&mut expected).await;
    // A second node, and the first one goes.
    let second = start(&server.url(), "b").await;
    send(&mut expected).await;
    first.0.send(()).unwrap();
    patient(first.1).await.unwrap().unwrap().unwrap();
    send(&mut expected).await;
    // The server of the log is killed.
    server.kill_and_restart().await;
    send(&mut expected).await;
    for room in &rooms {
        let sum = until(room, |sum| sum.sum >= expected).await;
        assert_eq!(sum.sum, expected);
        until(room, |later| later.beats > sum.beats + 2).await;
    }
    second.0.send(()).unwrap();
    patient(second.1).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn without_a_server_an_error_says_how_to_get_one() {
    let error = Server::at("nats://127.0.0.1:9")
        .run::<Sum>()
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Start one with `nats-server -js`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_wrong_password_is_said_as_such() {
    let users = "}\nauthorization { users: [ { user: node, password: right } ]";
    let Some(server) = support::NatsServer::start_with("password", users).await else {
        return;
    };
    let url = server.url().replace("//", "//node:wrong@");
    let error = Server::at(url).run::<Sum>().await.unwrap_err().to_string();
    assert!(
        error.contains("does not accept the user and password") && !error.contains("wrong"),
        "{error}"
    );
}

/// `alice` may subscribe to what is her own, and `bob` not even to that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_come_to_the_inbox_of_the_user_in_the_address() {
    let users = "}
authorization {
 users: [
  { user: node, password: right }
  { user: alice, password: right, permissions: { subscribe: [\"_INBOX_alice.>\", \"rooms.view.*.*\"] } }
  { user: bob, password: right, permissions: { subscribe: [\"_INBOX.>\", \"rooms.view.*.*\"] } }
 ]";
    let Some(server) = support::NatsServer::start_with("inbox", users).await else {
        return;
    };
    let of = |user: &str| server.url().replace("//", &format!("//{user}:right@"));
    let log = NatsLog::connect(&of("node")).await.unwrap();
    let node = Server::on(log).shards(1).probe_frames(false).room::<Sum>();
    let play = async {
        let alice = Client::at(&of("alice"), "alice").await.unwrap();
        let sum = alice.open::<Sum>("sum", &7).await.unwrap();
        until(&sum, |sum| sum.sum == 7).await;
        let log = NatsLog::connect(&of("bob")).await.unwrap();
        let error = log.shards().await.unwrap_err().to_string();
        assert!(error.contains("subscribe to `_INBOX_bob."), "{error}");
    };
    let serving = node.serve(async { patient(play).await.unwrap() });
    Box::pin(serving).await.unwrap();
}

/// A player floods a shard with inputs that no room would take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_takes_no_entry_that_is_too_large_and_no_more_bytes_than_it_may() {
    let Some(server) = support::NatsServer::start("quota").await else {
        return;
    };
    let log = NatsLog::connect(&server.url()).await.unwrap();
    let log = log.max_bytes(1 << 20);
    log.prepare(1, 4_096).await.unwrap();
    let topic = Topic::Input("room".into(), Player::new("eve").unwrap());
    let error = log.append(0, &topic, "a", &[0; 5_000]).await.unwrap_err();
    assert_eq!(
        error,
        LogError::TooLarge {
            size: 5_000,
            limit: 4_096
        }
    );
    let flood = async {
        for number in 0.. {
            let id = format!("b-{number}");
            if let Err(error) = log.append(0, &topic, &id, &[0; 4_000]).await {
                return (number, error);
            }
        }
        unreachable!("it is full at some time")
    };
    let (number, error) = patient(flood).await.unwrap();
    assert!(matches!(error, LogError::Full(_)), "{error}");
    assert!((200..300).contains(&number), "{number}");
    // A later server may take more.
    log.prepare(1, 8_192).await.unwrap();
    log.trim(0, 200).await.unwrap();
    log.append(0, &topic, "c", &[0; 5_000]).await.unwrap();
    log.prepare(1, 100).await.unwrap();
    log.append(0, &topic, "d", &[0; 5_000]).await.unwrap();
}

/// Shows more than a message may have.
#[derive(Serialize, Deserialize)]
struct Wide;

impl Room for Wide {
    const NAME: &'static str = "wide";
    type Args = ();
    type Input = ();
    type View = String;

    fn registry() -> Registry {
        Registry::new()
    }

    fn open(_: &Runtime, (): ()) -> Self {
        Wide
    }

    fn input(&mut self, _: &Runtime, _: Player, (): ()) {}

    fn view(&self) -> String {
        "x".repeat(2 << 20)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_is_larger_than_a_message_is_told_and_the_node_goes_on() {
    let Some(server) = support::NatsServer::start("large").await else {
        return;
    };
    let (told, mut notes) = tokio::sync::mpsc::unbounded_channel();
    let node = Server::at(server.url())
        .shards(1)
        .probe_frames(false)
        .on_note(move |note| drop(told.send(note.clone())))
        .room::<Wide>()
        .room::<Sum>();
    let play = async {
        let client = Client::at(&server.url(), "alice").await.unwrap();
        let wide = client.open::<Wide>("wide", &()).await.unwrap();
        let _watch = wide.watch().await.unwrap();
        let limit = loop {
            let note = notes.recv().await.expect("it says so");
            if let ServerEvent::ViewTooLarge { limit, .. } = note.event {
                break limit;
            }
        };
        assert_eq!(limit, 1 << 20);
        let sum = client.open::<Sum>("sum", &7).await.unwrap();
        until(&sum, |sum| sum.beats > 2).await;
    };
    let serving = node.serve(async { patient(play).await.unwrap() });
    Box::pin(serving).await.unwrap();
}

/// A player floods the log of a shard until it takes no tick any more. What no save needs is trimmed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_whose_log_is_full_says_so_and_goes_on_once_it_is_trimmed() {
    let Some(server) = support::NatsServer::start("flood").await else {
        return;
    };
    let log = NatsLog::connect(&server.url()).await.unwrap();
    let log = log.max_bytes(1 << 20);
    let (told, mut notes) = tokio::sync::mpsc::unbounded_channel();
    let node = Server::on(log.clone())
        .shards(1)
        .probe_frames(false)
        .snapshot_interval(Duration::from_millis(200))
        .on_note(move |note| drop(told.send(note.clone())))
        .room::<Sum>();
    let play = async {
        let client = Client::at(&server.url(), "alice").await.unwrap();
        let room = client.open::<Sum>("sum", &7).await.unwrap();
        let before = until(&room, |sum| sum.beats > 10).await;
        let topic = Topic::Input("sum".into(), Player::new("eve").unwrap());
        let flood = async {
            for number in 0.. {
                let id = format!("flood-{number}");
                // What is too much is refused.
                let _ = log.append(0, &topic, &id, &[0; 4_000]).await;
            }
        };
        let full = async {
            loop {
                let note = notes.recv().await.expect("it says so");
                if let ServerEvent::LogIsFull { .. } = note.event {
                    break;
                }
            }
        };
        tokio::select! {
            () = flood => unreachable!("it has no end"),
            () = full => {}
        }
        until(&room, |sum| sum.beats > before.beats + 20).await;
        room.send(&3).await.unwrap();
        until(&room, |sum| sum.sum == 10).await;
    };
    let serving = node.serve(async { patient(play).await.unwrap() });
    Box::pin(serving).await.unwrap();
}
