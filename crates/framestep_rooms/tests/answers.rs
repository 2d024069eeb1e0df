//! What is trusted of NATS, against a server that answers wrongly.
#![cfg(feature = "nats")]

#[path = "support/empty.rs"]
mod empty;
#[path = "support/fake.rs"]
mod fake;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log, LogError, NatsLog};
use framestep_rooms::{Client, Player, Room, RoomClient, Topic};
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use empty::empty_room;

empty_room!(Nothing, "nothing");

/// An answer without headers.
fn json(body: &str) -> (String, String) {
    (String::new(), body.to_owned())
}

const WITHOUT_NUMBER: &str = r#"{"stream":"LOG_0","seq":0,"duplicate":true}"#;

/// A leader that is cut off from its cluster answers so the second time that it is asked.
#[tokio::test]
async fn an_acknowledgement_without_a_number_is_none() {
    let url = fake::nats("2.15.1", |_| Some(json(WITHOUT_NUMBER))).await;
    let log = NatsLog::connect(&url).await.unwrap();
    let topic = Topic::Input("arena".into(), Player::new("alice").unwrap());
    let no_number = LogError::Unreachable("an acknowledgement without a number".to_owned());
    assert_eq!(
        log.append(0, &topic, "a", b"input").await.unwrap_err(),
        no_number
    );
    assert_eq!(log.tick(0, 0, "b", b"tick").await.unwrap_err(), no_number);
    assert_eq!(log.keep("key", 0, b"value").await.unwrap_err(), no_number);
    // In parts.
    assert_eq!(
        log.keep("key", 0, &vec![0; 2 << 20]).await.unwrap_err(),
        no_number
    );
}

/// A room of a server that acknowledges entries with these numbers.
async fn room(numbers: &'static [u64]) -> RoomClient<Nothing> {
    let asked = AtomicUsize::new(0);
    let url = fake::nats("2.15.1", move |subject| {
        if subject.starts_with("$JS.API.DIRECT.GET") {
            let headers = "Nats-Stream: ROOMS\r\nNats-Subject: kept.shards\r\nNats-Sequence: 1\r\n\
                           Nats-Time-Stamp: 2026-01-01T00:00:00Z\r\n";
            return Some((headers.to_owned(), "1".to_owned()));
        }
        Some(json(&match numbers[asked.fetch_add(1, Ordering::SeqCst)] {
            0 => WITHOUT_NUMBER.to_owned(),
            number => format!(r#"{{"stream":"LOG_0","seq":{number}}}"#),
        }))
    })
    .await;
    let client = Client::at(&url, "alice").await.unwrap();
    client.room::<Nothing>("room").unwrap()
}

#[tokio::test]
async fn an_input_is_sent_again_until_its_acknowledgement_has_a_number() {
    // The first entry asks for a place in the log, which the input names.
    let room = room(&[0, 0, 6, 0, 0, 7, 8]).await;
    assert_eq!(room.send(&()).await.unwrap(), 7);
    assert_eq!(room.send(&()).await.unwrap(), 8);
}

#[tokio::test]
async fn an_input_that_names_an_entry_which_the_log_has_lost_is_sent_once_more() {
    let room = room(&[40, 41, 12, 13, 14, 9, 9]).await;
    assert_eq!(room.send(&()).await.unwrap(), 41);
    assert_eq!(room.send(&()).await.unwrap(), 13);
    assert_eq!(room.send(&()).await.unwrap(), 14);
    // A log that does not count.
    let error = room.send(&()).await.unwrap_err();
    assert!(
        error.to_string().contains("has acknowledged entry 9"),
        "{error}"
    );
}

#[tokio::test]
async fn a_log_with_replicas_needs_a_server_that_compares_and_appends_in_one_step() {
    for version in ["2.9.10", "2.10.26", "2.15.0"] {
        let url = fake::nats(version, |_| None).await;
        let log = NatsLog::connect(&url).await.unwrap().replicas(3);
        let LogError::Failed(why) = log.prepare(1, 4_096).await.unwrap_err() else {
            panic!("{version}");
        };
        let expected = format!("needs nats-server 2.15.1 or later, and this one is {version}");
        assert!(why.contains(&expected), "{why}");
    }
}

/// Servers since 2.12 compare while earlier entries are under way, and say so by other codes.
#[tokio::test]
async fn each_code_of_a_refusal_is_one_and_a_full_log_is_told() {
    for (code, text, expected) in [
        (10071, "wrong last sequence: 7", LogError::Refused),
        (10164, "wrong last sequence", LogError::Refused),
        (
            10158,
            "duplicate message id is in process",
            LogError::Refused,
        ),
        (
            10077,
            "maximum bytes exceeded",
            LogError::Full(String::new()),
        ),
        (
            10054,
            "message size exceeds maximum allowed",
            LogError::TooLarge { size: 0, limit: 0 },
        ),
    ] {
        let answer = format!(
            r#"{{"error":{{"code":400,"err_code":{code},"description":"{text}"}},"stream":"LOG_0","seq":0}}"#
        );
        let url = fake::nats("2.15.1", move |_| Some(json(&answer))).await;
        let log = NatsLog::connect(&url).await.unwrap();
        let error = log.tick(0, 0, "a", b"tick").await.unwrap_err();
        let is_it = std::mem::discriminant(&error) == std::mem::discriminant(&expected);
        assert!(is_it, "{code}: {error}");
    }
}

/// Runs a future on the paused clock, which goes on by 20 ms after messages have had time to arrive.
async fn in_steps<T>(future: impl Future<Output = T>) -> T {
    let steps = async {
        loop {
            for _ in 0..500 {
                yield_now().await;
            }
            advance(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        biased;
        value = future => value,
        () = steps => unreachable!("it has no end"),
    }
}

/// One of two servers of a cluster accepts what is sent, and does nothing with it: a machine that hangs.
#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_left_for_another_one_after_two_pings_without_an_answer() {
    let hang: [Arc<AtomicBool>; 2] = Default::default();
    let mut urls = Vec::new();
    for (server, hangs) in hang.iter().enumerate() {
        let answer = format!(r#"{{"stream":"LOG_0","seq":{}}}"#, server + 1);
        let answer = move |_: &str| Some(json(&answer));
        urls.push(fake::nats_that_hangs("2.15.1", hangs.clone(), answer).await);
    }
    let log = in_steps(NatsLog::connect(&urls.join(","))).await.unwrap();
    let topic = Topic::Input("arena".into(), Player::new("alice").unwrap());
    let append = async || in_steps(log.append(0, &topic, "a", b"input")).await;
    // An answer says which server it is of.
    let server = append().await.unwrap();
    let other = 3 - server;
    hang[usize::try_from(server).unwrap() - 1].store(true, Ordering::SeqCst);
    let began = Instant::now();
    let answer = loop {
        match append().await {
            Ok(answer) => break answer,
            Err(error) => assert!(matches!(error, LogError::Unreachable(_)), "{error}"),
        }
    };
    assert_eq!(answer, other);
    let seconds = began.elapsed().as_secs();
    assert!((2..10).contains(&seconds), "{seconds}");
}
