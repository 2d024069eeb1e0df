//! Subscribers of a watch remember the version that they have seen.

use futures::FutureExt;
use futures::stream::FusedStream;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};

#[test]
fn no_change_is_lost_between_two_items_and_the_latest_value_counts() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(10));
    let (say, mut changes) = (log.clone(), health.subscribe());
    executor.start(async move {
        while let Some(health) = changes.next().await {
            say.say(health);
            wait_frames(3).await;
        }
        say.say("ended");
    });
    // After each frame: received at once, received later, merged.
    health.set(9);
    executor.run_frame(0.25);
    health.set(8);
    executor.run_frame(0.25);
    health.set(7);
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: 9", "F4: 7"]);
    health.set(6);
    drop(health);
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F8: 6", "F11: ended"]);
}

#[test]
fn each_has_seen_the_value_that_was_there_when_it_subscribed() {
    let health = Watch::new(10);
    let mut early = health.subscribe();
    health.set(9);
    let mut late = health.subscribe();
    assert_eq!(early.next().now_or_never(), Some(Some(9)));
    assert_eq!(early.next().now_or_never(), None);
    assert_eq!(late.next().now_or_never(), None);
    health.set(8);
    assert_eq!(early.next().now_or_never(), Some(Some(8)));
    assert_eq!(late.next().now_or_never(), Some(Some(8)));
}

#[test]
fn a_wait_for_the_next_item_may_be_dropped() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let mut changes = health.subscribe();
    let heard = executor.start(async move {
        loop {
            select! {
                Some(health) = changes.next() => return (time().frame, health),
                () = next_frame() => {}
            }
        }
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    health.set(1);
    assert_eq!(executor.run_until(heard, 0.25).unwrap(), (4, 1));
}

#[test]
fn the_stream_ends_once_with_the_last_watch() {
    let health = Watch::new(10);
    let clone = health.clone();
    let mut changes = health.subscribe();
    drop(health);
    assert_eq!(changes.next().now_or_never(), None);
    clone.set(9);
    drop(clone);
    assert_eq!(changes.next().now_or_never(), Some(Some(9)));
    assert!(!changes.is_terminated());
    assert_eq!(changes.next().now_or_never(), Some(None));
    assert!(changes.is_terminated());
    assert_eq!(changes.next().now_or_never(), Some(None));
}
