//! Subscriptions without an engine: the tests connect, call and free the callables.

use std::panic::Location;

use framestep::prelude::*;

use super::super::SignalArguments;
use super::{Relay, Subscriber};

/// Of a signal without arguments.
fn subscriber(name: &str) -> Subscriber {
    Subscriber {
        name: name.to_owned(),
        caller: Location::caller(),
        convert: <()>::to_emission,
    }
}

#[test]
fn a_script_reads_all_that_was_emitted_and_notices_the_end() {
    let mut executor = Executor::new();
    let (relay, mut emitted) = Relay::with(subscriber("target.hit"), None);
    let connection = relay.connection();
    let read = executor.start(async move {
        let mut count = 0;
        while emitted.next().await.is_some() {
            count += 1;
            wait_seconds(1).await;
        }
        (count, time().frame)
    });
    assert!(
        executor
            .snapshot()
            .to_string()
            .contains("signal target.hit")
    );
    for _ in 0..3 {
        relay.route.emit(&[]);
    }
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    assert!(!read.is_finished());
    // As when Godot frees the object, and its callables with it.
    drop(connection);
    // Read in frames 1, 5 and 9; the end is read in frame 13.
    assert_eq!(executor.run_until(read, 0.25).unwrap(), (3, 13));
}

#[test]
fn only_the_end_of_the_connection_ends_the_subscription() {
    let mut executor = Executor::new();
    let (relay, mut emitted) = Relay::with(subscriber("target.hit"), None);
    let connection = relay.connection();
    let end = executor.start(async move { emitted.next().await.is_none() });
    // As when the subscriber looks whether it is connected.
    drop(relay.clone());
    assert!(relay == connection);
    executor.run_frame(0.25);
    assert!(!end.is_finished());
    drop(connection);
    executor.run_frame(0.25);
    assert!(end.take_output().unwrap().unwrap());
}

#[test]
fn another_thread_emits_and_frees() {
    let mut executor = Executor::new();
    let (relay, mut emitted) = Relay::with(subscriber("loader.done"), Some(executor.remote()));
    let connection = relay.connection();
    let read = executor.start(async move {
        let first = emitted.next().await.is_some();
        (first, emitted.next().await.is_some())
    });
    let loader = std::thread::spawn(move || {
        connection.pass_on(&[]);
        // The callable is freed here.
    });
    loader.join().unwrap();
    executor.run_frame(0.25);
    assert_eq!(read.take_output().unwrap().unwrap(), (true, false));
}
