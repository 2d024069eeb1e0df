//! What players do with the subject that a message names for its answer. `JetStream` publishes there,
//! with its own rights: from the account of players, no subject of the protocol must be reached.

use std::path::{Path, PathBuf};

use async_nats::jetstream::stream::State;
use async_nats::jetstream::{self, Context, stream};
use async_nats::{Client, Subscriber};
use framestep_rooms::log::NatsLog;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::{Folder, SILENCE, acknowledged, client, options, patient, user};
use crate::nats::{Nats, version};
use crate::state::Arena;

/// The subjects of the protocol. Alice is in shard 0; shard 1 has the room of bob.
const SUBJECTS: [&str; 31] = [
    "$JS.API.STREAM.PURGE.LOG_1",
    "$JS.API.STREAM.PURGE.LOG_0",
    "$JS.API.STREAM.PURGE.ROOMS",
    "$JS.API.STREAM.DELETE.LOG_1",
    "$JS.API.STREAM.DELETE.ROOMS",
    "$JS.API.STREAM.UPDATE.LOG_1",
    "$JS.API.STREAM.CREATE.LOG_9",
    "$JS.API.STREAM.MSG.DELETE.LOG_1",
    "$JS.API.STREAM.MSG.GET.LOG_1",
    "$JS.API.STREAM.LEADER.STEPDOWN.LOG_1",
    "$JS.API.CONSUMER.CREATE.LOG_1",
    "$JS.API.CONSUMER.DELETE.LOG_1.c",
    "log.0.tick",
    "log.1.tick",
    "log.0.open.arena-9",
    "log.1.open.arena-9",
    "log.0.answer.arena-0",
    "log.1.answer.arena-1",
    "log.0.room.arena-0.bob",
    "log.1.room.arena-1.bob",
    "kept.shards",
    "kept.builds",
    "kept.0.save.0",
    "kept.0.tries",
    "kept.0.out",
    "rooms.nodes",
    "rooms.status.1",
    "rooms.watch.1.arena-1",
    "rooms.view.1.arena-1",
    "_INBOX.node.1",
    "$SYS.REQ.SERVER.PING",
];

/// Each executable of `nats-server`: that of the system, and those that `scripts/lib/nats-server` has
/// put into `target/nats-servers`.
fn programs() -> Vec<PathBuf> {
    let mut programs = vec![PathBuf::from("nats-server")];
    let executable = std::env::current_exe().unwrap();
    // In target/release/deps.
    let target = executable.ancestors().nth(3).unwrap();
    let versions = std::fs::read_dir(target.join("nats-servers"));
    programs.extend(
        versions
            .into_iter()
            .flatten()
            .map(|it| it.unwrap().path().join("nats-server")),
    );
    programs.retain(|program| version(program).is_some());
    programs
}

async fn state(context: &Context, name: &str) -> (u64, u64, u64, u64) {
    let stream = context.get_stream(name).await.unwrap();
    let State {
        messages,
        first_sequence,
        last_sequence,
        deleted_count,
        ..
    } = stream.cached_info().state.clone();
    (
        messages,
        first_sequence,
        last_sequence,
        deleted_count.unwrap_or(0),
    )
}

/// Sends messages that name each subject for their answers, as somebody may who publishes on these.
async fn attack(attacker: &Client, may_publish: &[&'static str]) {
    for reply in SUBJECTS {
        for (number, subject) in may_publish.iter().enumerate() {
            let body = format!("{{\"s\":1,\"n\":{},\"a\":1,\"i\":0}}", number + 1);
            attacker
                .publish_with_reply(*subject, reply, body.into())
                .await
                .unwrap();
        }
    }
}

/// What was heard that is an answer of `JetStream`.
async fn answers(heard: &mut Subscriber) -> Vec<String> {
    let mut answers = Vec::new();
    while let Ok(Some(message)) = timeout(SILENCE, heard.next()).await {
        // The subjects on which NATS passes an answer to another account: nobody can guess them.
        let is_passed_on = message.subject.starts_with("_R_.");
        if message.payload.starts_with(b"{\"stream\"") && !is_passed_on {
            answers.push(message.subject.to_string());
        }
    }
    answers
}

async fn nothing_is_reached(program: &Path, name: &str) {
    let folder = Folder::new(name);
    let nats = Nats::start_program(program, &folder.0).await.unwrap();
    let raw = options("node").connect(nats.url("node")).await.unwrap();
    let node = jetstream::new(raw.clone());
    for (stream, subject, last) in [
        ("LOG_0", "log.0.>", -1),
        ("LOG_1", "log.1.>", -1),
        ("ROOMS", "kept.>", 1),
    ] {
        let config = stream::Config {
            name: stream.to_owned(),
            subjects: vec![subject.to_owned()],
            max_messages_per_subject: last,
            allow_direct: true,
            ..stream::Config::default()
        };
        node.create_stream(config).await.unwrap();
    }
    for subject in [
        "log.1.tick",
        "log.1.room.arena-1.bob",
        "log.1.tick",
        "kept.shards",
        "kept.builds",
        "kept.0.save.0",
    ] {
        acknowledged(&raw, subject).await;
    }
    let before = (state(&node, "LOG_1").await, state(&node, "ROOMS").await);
    let mut heard = raw.subscribe(">").await.unwrap();
    raw.flush().await.unwrap();

    let alice = user(&nats, "alice").await;
    let of_alice = [
        "log.0.room.arena-0.alice",
        "rooms.watch.0.arena-0",
        "$JS.API.DIRECT.GET.ROOMS.kept.shards",
    ];
    attack(&alice, &of_alice).await;
    acknowledged(&alice, of_alice[0]).await;
    let gateway = options("gateway")
        .custom_inbox_prefix("_INBOX_gateway")
        .connect(nats.url("gateway"))
        .await
        .unwrap();
    attack(&gateway, &["log.0.open.arena-0"]).await;
    acknowledged(&gateway, "log.0.open.arena-0").await;

    let after = (state(&node, "LOG_1").await, state(&node, "ROOMS").await);
    assert_eq!(
        before, after,
        "{name}: (messages, first, last, deleted) of LOG_1 and ROOMS"
    );
    let sent = 2 * (SUBJECTS.len() as u64 + 1);
    assert_eq!(
        state(&node, "LOG_0").await,
        (sent, 1, sent, 0),
        "{name}: what they may send, and nothing else"
    );
    assert_eq!(
        answers(&mut heard).await,
        [""; 0],
        "{name}: answers in the account of the nodes"
    );
    nats.end().await;
}

#[tokio::test]
async fn no_subject_that_a_player_names_for_an_answer_reaches_the_nodes_on_any_version() {
    let programs = programs();
    for program in &programs {
        let version = version(program).unwrap();
        println!("{version}");
        let name = version.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        nothing_is_reached(program, &name).await;
    }
    println!("{} versions of nats-server", programs.len());
}

#[tokio::test]
async fn a_watch_goes_on_when_another_player_names_its_views_for_an_answer() {
    let folder = Folder::new("views");
    let Some(nats) = super::nats(&folder).await else {
        return;
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = framestep_rooms::Server::at(nats.url("node"))
        .shards(1)
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
    gateway.open::<Arena>("arena-1", &1).await.unwrap();
    let bob = client(&nats, "bob").await.room::<Arena>("arena-1").unwrap();
    let mut views = bob.watch().await.unwrap();
    let alice = user(&nats, "alice").await;
    while views.skipped() == 0 {
        let reply = "rooms.view.0.arena-1";
        alice
            .publish_with_reply("log.0.room.arena-0.alice", reply, "{}".into())
            .await
            .unwrap();
        let view = patient(views.next()).await.unwrap().unwrap();
        view.expect("the room is not over");
    }
    let frame = patient(views.next()).await.unwrap().unwrap().unwrap().frame;
    let later = patient(views.next()).await.unwrap().unwrap().unwrap().frame;
    assert!(later > frame);
    let _ = stop.send(());
    patient(server).await.unwrap().unwrap().unwrap();
    nats.end().await;
}
