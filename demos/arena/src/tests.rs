//! The configuration of NATS, tested from outside; the cable; the view.

#[path = "../../../crates/framestep_rooms/tests/support/patience.rs"]
mod patience;
mod replies;

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use framestep_rooms::log::{LogError, NatsLog};
use framestep_rooms::{ClientError, Server};

use crate::cluster::Health;
use crate::game::{self, Act, Input};
use crate::nats::Nats;
use crate::proxy::Proxy;
use crate::round::{Board, NodeLine};
use crate::state::Arena;
use crate::view;
use patience::patient;

/// How long nothing is waited for. The answers that must come are there before.
const SILENCE: Duration = Duration::from_millis(300);

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("arena-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server, unless it is not installed.
async fn nats(folder: &Folder) -> Option<Nats> {
    match Nats::start(&folder.0).await {
        Ok(nats) => Some(nats),
        Err(why) if why.contains("not installed") => {
            eprintln!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

fn options(name: &str) -> ConnectOptions {
    ConnectOptions::with_user_and_password(name.to_owned(), format!("{name}-secret"))
        .request_timeout(None)
}

async fn user(nats: &Nats, name: &str) -> Client {
    let options = options(name).custom_inbox_prefix(format!("_INBOX_{name}"));
    options.connect(nats.url(name)).await.unwrap()
}

/// Sends a message that the log must acknowledge.
async fn acknowledged(client: &Client, subject: &str) {
    let answer = client.request(subject.to_owned(), "{}".into());
    let answer = patient(answer).await.expect("it is answered").unwrap();
    assert!(is_entry(&answer), "{subject}");
}

/// Whether the log acknowledges a message at once, which it must not.
async fn is_acknowledged(client: &Client, subject: &str) -> bool {
    let answer = timeout(
        Duration::from_secs(1),
        client.request(subject.to_owned(), "{}".into()),
    )
    .await;
    answer.is_ok_and(|it| it.is_ok_and(|it| is_entry(&it)))
}

/// Whether an answer names an entry.
fn is_entry(answer: &async_nats::Message) -> bool {
    let answer = serde_json::from_slice::<serde_json::Value>(&answer.payload);
    answer.is_ok_and(|it| it["seq"].as_u64().is_some_and(|seq| seq > 0))
}

#[tokio::test]
async fn a_player_sends_only_as_itself_and_reads_only_its_own_room() {
    let folder = Folder::new("permissions");
    let Some(nats) = nats(&folder).await else {
        return;
    };
    let raw = options("node").connect(nats.url("node")).await.unwrap();
    let node = jetstream::new(raw.clone());
    let config = stream::Config {
        name: "LOG_0".to_owned(),
        subjects: vec!["log.0.>".to_owned()],
        ..stream::Config::default()
    };
    node.create_stream(config).await.unwrap();
    let alice = user(&nats, "alice").await;

    acknowledged(&alice, "log.0.room.arena-0.alice").await;
    for subject in [
        "log.0.room.arena-0.bob",
        "log.0.room.arena-1.alice",
        "log.0.open.arena-0",
        "log.0.answer.arena-0",
        "log.0.tick",
        "kept.shards",
    ] {
        assert!(!is_acknowledged(&alice, subject).await, "{subject}");
    }
    for subject in [
        "$JS.API.STREAM.MSG.GET.LOG_0",
        "$JS.API.STREAM.MSG.GET.ROOMS",
        "$JS.API.DIRECT.GET.ROOMS",
        "$JS.API.DIRECT.GET.ROOMS.kept.0.save.0",
        "$JS.API.STREAM.PURGE.LOG_0",
        "$JS.API.STREAM.DELETE.LOG_0",
    ] {
        let answer = timeout(SILENCE, alice.request(subject, r#"{"seq":1}"#.into())).await;
        assert!(!answer.is_ok_and(|answer| answer.is_ok()), "{subject}");
    }
    acknowledged(&raw, "log.0.tick").await;
    let state = node
        .get_stream("LOG_0")
        .await
        .unwrap()
        .cached_info()
        .state
        .clone();
    assert_eq!(state.messages, 2, "one of alice, and the tick of the node");

    let mut own = alice.subscribe("rooms.view.*.arena-0").await.unwrap();
    let mut others = Vec::new();
    for subject in [
        "rooms.view.*.arena-1",
        "rooms.view.>",
        "rooms.>",
        "log.>",
        "_INBOX_bob.>",
        "_INBOX.>",
        "kept.>",
        ">",
    ] {
        others.push((subject, alice.subscribe(subject).await.unwrap()));
    }
    // The server reads a connection in order: after this answer, it knows the subscriptions.
    acknowledged(&alice, "log.0.room.arena-0.alice").await;
    for subject in [
        "rooms.view.0.arena-1",
        "rooms.view.0.arena-0",
        "log.0.tick",
        "_INBOX_bob.x",
        "_INBOX.x",
        "kept.x",
    ] {
        raw.publish(subject, "secret".into()).await.unwrap();
    }
    raw.flush().await.unwrap();
    let view = patient(own.next()).await.unwrap().unwrap();
    assert_eq!(view.subject.as_str(), "rooms.view.0.arena-0");
    for (subject, heard) in &mut others {
        let heard = timeout(SILENCE, heard.next()).await;
        assert!(!matches!(heard, Ok(Some(_))), "alice reads {subject}");
    }
    let wrong = options("mallory").connect(nats.url("mallory")).await;
    assert!(wrong.is_err());
    nats.end().await;
}

/// A client with the rights of a user.
async fn client(nats: &Nats, name: &str) -> framestep_rooms::Client {
    let options = options(name).custom_inbox_prefix(format!("_INBOX_{name}"));
    let log = NatsLog::connect_with(&nats.url(name), options)
        .await
        .unwrap();
    framestep_rooms::Client::on(log, name).await.unwrap()
}

#[tokio::test]
async fn a_client_in_rust_needs_no_more_rights_than_its_own_room() {
    let folder = Folder::new("client");
    let Some(nats) = nats(&folder).await else {
        return;
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = Server::at(nats.url("node"))
        .shards(2)
        .threads(1)
        .probe_frames(false)
        .room::<Arena>();
    let server = tokio::spawn(server.serve(async {
        let _ = stopped.await;
    }));
    let gateway = NatsLog::connect(&nats.url("gateway")).await.unwrap();
    let gateway = framestep_rooms::Client::on(gateway, "gateway")
        .await
        .unwrap();
    for room in ["arena-0", "arena-1"] {
        gateway.open::<Arena>(room, &1).await.unwrap();
    }
    let alice = client(&nats, "alice").await;
    let room = alice.room::<Arena>("arena-0").unwrap();
    let input = Input {
        id: 1,
        act: Act::Hit,
    };
    room.send(&input).await.unwrap();
    let mut views = room.watch().await.unwrap();
    let has_alice = |view: &game::View| view.heroes.iter().any(|hero| hero.0.name() == "alice");
    loop {
        let view = patient(views.next()).await.unwrap().unwrap();
        let view = view.expect("the room is not over");
        if has_alice(&view.view) {
            break;
        }
    }
    // Another room: nothing is seen, nothing is sent, and she is told.
    let other = alice.room::<Arena>("arena-1").unwrap();
    let mut views = other.watch().await.unwrap();
    let is_refused = |error: &ClientError| matches!(error, ClientError::Log(LogError::NotAllowed(what)) if what.contains("arena-1"));
    let seen = patient(views.next()).await.unwrap();
    assert!(is_refused(&seen.unwrap_err()));
    let sent = patient(other.send(&input)).await.unwrap();
    assert!(is_refused(&sent.unwrap_err()));
    let bob = client(&nats, "bob").await.room::<Arena>("arena-1").unwrap();
    let mut views = bob.watch().await.unwrap();
    let view = patient(views.next()).await.unwrap().unwrap();
    let view = view.expect("the room is not over");
    assert!(!has_alice(&view.view));
    let _ = stop.send(());
    patient(server).await.unwrap().unwrap().unwrap();
    nats.end().await;
}

#[tokio::test]
async fn a_gateway_sends_for_players_and_does_not_tick_or_read_logs() {
    let folder = Folder::new("gateway");
    let Some(nats) = nats(&folder).await else {
        return;
    };
    let node = jetstream::new(options("node").connect(nats.url("node")).await.unwrap());
    let config = stream::Config {
        name: "LOG_0".to_owned(),
        subjects: vec!["log.0.>".to_owned()],
        ..stream::Config::default()
    };
    node.create_stream(config).await.unwrap();
    let gateway = options("gateway")
        .custom_inbox_prefix("_INBOX_gateway")
        .connect(nats.url("gateway"))
        .await
        .unwrap();
    acknowledged(&gateway, "log.0.room.arena-7.alice").await;
    acknowledged(&gateway, "log.0.open.arena-7").await;
    assert!(!is_acknowledged(&gateway, "log.0.tick").await);
    assert!(!is_acknowledged(&gateway, "log.0.answer.arena-7").await);
    for subject in [
        "$JS.API.STREAM.MSG.GET.LOG_0",
        "$JS.API.STREAM.MSG.GET.ROOMS",
        "$JS.API.DIRECT.GET.ROOMS.kept.0.save.0",
    ] {
        let answer = gateway.request(subject, r#"{"seq":1}"#.into());
        assert!(
            !timeout(SILENCE, answer)
                .await
                .is_ok_and(|answer| answer.is_ok()),
            "{subject}"
        );
    }
    nats.end().await;
}

#[tokio::test]
async fn nothing_passes_a_cut_cable_and_its_connections_end_when_it_is_mended() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::to(listener.local_addr().unwrap().port())
        .await
        .unwrap();
    let mut near = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    let mut bytes = [0; 5];
    near.write_all(b"hello").await.unwrap();
    far.read_exact(&mut bytes).await.unwrap();
    far.write_all(b"world").await.unwrap();
    near.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"world");

    proxy.cut();
    near.write_all(b"lost!").await.unwrap();
    assert!(timeout(SILENCE, far.read(&mut bytes)).await.is_err());
    proxy.mend();
    assert_eq!(patient(far.read(&mut bytes)).await.unwrap().unwrap_or(0), 0);
    assert_eq!(
        patient(near.read(&mut bytes)).await.unwrap().unwrap_or(0),
        0
    );

    let mut near = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    near.write_all(b"again").await.unwrap();
    far.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"again");
}

#[test]
fn the_view_shows_each_room_on_the_node_that_ticks_it() {
    let board = Board::new(false);
    {
        let mut state = board.lock();
        state.beat.owners = vec!["node-a".to_owned(), "node-b".to_owned()];
        state.beat.rooms = vec![
            vec!["arena-11".to_owned()],
            vec!["arena-22".to_owned(), "arena-33".to_owned()],
        ];
        state.beat.gaps = vec![1_000, 0, 1];
        state.beat.room_frames = 12_345;
        let node = |name: &str, health| NodeLine {
            name: name.to_owned(),
            pid: 1,
            build: 1,
            health,
        };
        state.nodes = vec![node("node-a", Health::Killed), node("node-b", Health::Runs)];
    }
    let svg = view::picture(&board.lock()).unwrap();
    let place = |text: &str| {
        let line = svg
            .lines()
            .find(|line| line.ends_with(&format!(">{text}</text>")));
        let line = line.unwrap_or_else(|| panic!("no {text} in {svg}"));
        line.split('"').nth(1).unwrap().parse::<u32>().unwrap()
    };
    assert!(place("11") < 430 && place("22") > 430 && place("33") > 430);
    assert!(svg.contains("12,345 frames of rooms") && svg.contains("killed"));
}
