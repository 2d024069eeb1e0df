//! A right that the user of a connection lacks: NATS says so at once, without an answer to the request.

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log as _, LogError, NatsLog};
use framestep_rooms::{Client, ClientError, Player, Room, Server, ServerError, Topic};

use crate::empty::empty_room;
use crate::patience::patient;
use crate::support::NatsServer;

empty_room!(Lamp, "lamp");

/// A server of NATS with a log of one shard, and a user who lacks some rights: those to publish, and those to
/// subscribe.
struct Nats(NatsServer);

impl Nats {
    async fn start(test: &str, publish: &[&str], subscribe: &[&str]) -> Option<Self> {
        let users = format!(
            "}}
authorization {{
users: [
  {{ user: node, password: right }}
  {{ user: alice, password: right, permissions: {{
    publish: {{ deny: {publish:?} }}, subscribe: {{ deny: {subscribe:?} }}
  }} }}
 ]"
        );
        let nats = Nats(NatsServer::start_with(test, &users).await?);
        nats.log("node").await.prepare(1, 4_096).await.unwrap();
        Some(nats)
    }

    fn url(&self, user: &str) -> String {
        self.0.url().replace("//", &format!("//{user}:right@"))
    }

    async fn log(&self, user: &str) -> NatsLog {
        NatsLog::connect(&self.url(user)).await.unwrap()
    }

    async fn client(&self) -> Result<Client, ClientError> {
        Client::at(&self.url("alice"), "alice").await
    }
}

/// What the user may not do, of a request that has failed for that.
fn what<T>(answer: Result<T, LogError>) -> String {
    match answer {
        Err(LogError::NotAllowed(what)) => what,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was allowed"),
    }
}

/// The same of a client.
async fn refused<T>(request: impl Future<Output = Result<T, ClientError>>) -> String {
    match patient(request).await.expect("it ends") {
        Err(ClientError::Log(error)) => what(Err::<T, _>(error)),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was allowed"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_who_may_not_open_or_send_is_told_instead_of_waiting() {
    let denied = ["log.*.open.*", "log.*.room.*.*"];
    let Some(nats) = Nats::start("rights-send", &denied, &[]).await else {
        return;
    };
    let client = nats.client().await.unwrap();
    let opened = refused(client.open::<Lamp>("hall", &())).await;
    assert_eq!(opened, "publish on `log.0.open.hall`");
    let room = client.room::<Lamp>("hall").unwrap();
    assert_eq!(
        refused(room.send(&())).await,
        "publish on `log.0.room.hall.alice`"
    );
    // Again: each request is told.
    assert_eq!(
        refused(room.send(&())).await,
        "publish on `log.0.room.hall.alice`"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_who_may_not_say_that_it_watches_is_told() {
    let denied = ["rooms.watch.>"];
    let Some(nats) = Nats::start("rights-watch", &denied, &[]).await else {
        return;
    };
    let room = nats.client().await.unwrap().room::<Lamp>("hall").unwrap();
    assert_eq!(
        refused(room.view()).await,
        "publish on `rooms.watch.0.hall.alice`"
    );
    let mut watch = room.spectate().await.unwrap();
    assert_eq!(
        refused(watch.next()).await,
        "publish on `rooms.watch.0.hall`"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_who_may_not_see_a_room_is_told() {
    let denied = ["rooms.view.>"];
    let Some(nats) = Nats::start("rights-view", &[], &denied).await else {
        return;
    };
    let room = nats.client().await.unwrap().room::<Lamp>("hall").unwrap();
    assert_eq!(
        refused(room.view()).await,
        "subscribe to `rooms.view.0.hall`"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_may_not_read_the_number_of_shards_or_hear_answers_is_told() {
    let Some(nats) = Nats::start("rights-shards", &["$JS.API.>"], &[]).await else {
        return;
    };
    let what = refused(nats.client()).await;
    assert_eq!(what, "publish on `$JS.API.DIRECT.GET.ROOMS.kept.shards`");
    let Some(nats) = Nats::start("rights-inbox", &[], &["_INBOX_alice.>"]).await else {
        return;
    };
    let what = refused(nats.client()).await;
    assert!(what.starts_with("subscribe to `_INBOX_alice."), "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_may_not_make_streams_does_not_start() {
    let Some(nats) = Nats::start("rights-node", &["$JS.API.STREAM.>"], &[]).await else {
        return;
    };
    let ran = Server::at(nats.url("alice")).shards(1).run::<Lamp>();
    let error = patient(ran).await.expect("it ends").unwrap_err();
    let ServerError::Log(LogError::NotAllowed(what)) = error else {
        panic!("{error}");
    };
    assert_eq!(what, "publish on `$JS.API.STREAM.INFO.ROOMS`");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_of_a_log_is_told_of_the_right_that_it_needs() {
    let denied = ["$JS.API.>", "log.>", "kept.>"];
    let Some(nats) = Nats::start("rights-log", &denied, &[]).await else {
        return;
    };
    let log = nats.log("alice").await;
    let topic = Topic::Input("hall".into(), Player::new("alice").unwrap());
    let requests = async {
        let appended = log.append(0, &topic, "a", b"input").await;
        assert_eq!(what(appended), "publish on `log.0.room.hall.alice`");
        let ticked = log.tick(0, 0, "b", b"tick").await;
        assert_eq!(what(ticked), "publish on `log.0.tick`");
        let kept = log.keep("key", 0, b"value").await;
        assert_eq!(what(kept), "publish on `kept.key`");
        let read = log.kept("key").await;
        assert_eq!(what(read), "publish on `$JS.API.STREAM.MSG.GET.ROOMS`");
        let ends = log.ends(0).await;
        assert_eq!(what(ends), "publish on `$JS.API.STREAM.INFO.LOG_0`");
        let trimmed = log.trim(0, 1).await;
        assert_eq!(what(trimmed), "publish on `$JS.API.STREAM.PURGE.LOG_0`");
        let read = what(log.read(0, 1).await);
        assert!(read.starts_with("publish on `$JS.API.CONSUMER."), "{read}");
    };
    patient(requests).await.expect("they end");
}
