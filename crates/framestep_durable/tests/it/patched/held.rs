//! What a script holds: it is released if no statement of the later build holds it.

use framestep_durable::Restored;
use framestep_durable::prelude::*;

use super::{Builds, Story, builds, frame, loads};

/// Loads the save after a frame in the later build, and runs a frame.
fn loaded(builds: &Builds, at: usize) -> (Runtime, Restored) {
    let (mut runtime, mut story) = (Runtime::new((builds.before)()), Story::new());
    (builds.begin)(&runtime);
    (0..at).for_each(|number| frame(&mut runtime, &mut story, number));
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = Runtime::new((builds.after)());
    let restored = runtime.restore(&save, Policy::Fail).unwrap();
    (runtime, restored)
}

#[test]
fn a_pause_whose_statement_is_gone_ends() {
    let builds = builds!({
        say("letter");
        let _paused = clock().pause_guard();
        KEY.wait().await;
        say("closed");
    } => {
        say("letter");
        KEY.wait().await;
        say("closed");
    });
    let (runtime, restored) = loaded(&builds, 5);
    assert!(!runtime.enter(|| ClockId::GAME.clock()).is_paused());
    let said = restored.passed[0].to_string();
    assert!(
        said.contains("what the script held by it is released"),
        "{said}"
    );
    loads(&builds).are_right();
}

#[test]
fn a_pause_that_ends_earlier_now_ends() {
    let builds = builds!({
        let paused = clock().pause_guard();
        wait_seconds_realtime(1).await;
        say("one");
        wait_seconds_realtime(1).await;
        drop(paused);
        say("two");
    } => {
        let paused = clock().pause_guard();
        wait_seconds_realtime(1).await;
        say("one");
        drop(paused);
        wait_seconds_realtime(1).await;
        say("two");
    });
    let (runtime, _) = loaded(&builds, 5);
    assert!(runtime.enter(|| ClockId::GAME.clock()).is_paused());
    let (runtime, _) = loaded(&builds, 15);
    assert!(!runtime.enter(|| ClockId::GAME.clock()).is_paused());
}

#[test]
fn a_pause_that_lasts_longer_now_is_refused_where_it_was_over() {
    let builds = builds!({
        let paused = clock().pause_guard();
        wait_seconds_realtime(1).await;
        drop(paused);
        say("one");
        wait_seconds_realtime(1).await;
        say("two");
    } => {
        let paused = clock().pause_guard();
        wait_seconds_realtime(1).await;
        say("one");
        wait_seconds_realtime(1).await;
        drop(paused);
        say("two");
    });
    loads(&builds).are_refused(10..20, "given up the guard of a clock");
}

#[test]
fn permits_whose_statement_is_gone_are_returned() {
    const SEATS: Semaphore = semaphore("patched seats", 1);
    let builds = builds!({
        const SEATS: Semaphore = semaphore("patched seats", 1);
        let _seat = SEATS.acquire().await;
        KEY.wait().await;
        say("up");
    } => {
        KEY.wait().await;
        say("up");
    });
    let (runtime, _) = loaded(&builds, 5);
    assert_eq!(runtime.named(&SEATS).available(), 1);
    loads(&builds).are_right();
}

#[test]
fn a_subscription_whose_statement_is_gone_stores_nothing_more() {
    let builds = builds!({
        let hits = HIT.subscribe();
        KEY.wait().await;
        say("key");
        wait_seconds(4).await;
        drop(hits);
        say("end");
    } => {
        KEY.wait().await;
        say("key");
        wait_seconds(4).await;
        say("end");
    });
    let (runtime, _) = loaded(&builds, 15);
    let json = format!("{:?}", runtime.save().unwrap());
    assert!(json.contains("streams: []"), "{json}");
    loads(&builds).are_right();
}

#[test]
fn a_promise_whose_statement_is_gone_is_dropped() {
    let builds = builds!({
        let (resolver, promise) = promise::<u32>("patched answer");
        KEY.wait().await;
        say("key");
        wait_seconds(1).await;
        drop((resolver, promise));
        say("end");
    } => {
        KEY.wait().await;
        say("key");
        wait_seconds(1).await;
        say("end");
    });
    let (runtime, _) = loaded(&builds, 12);
    let text = format!("{:?}", runtime.save().unwrap());
    assert!(text.contains("promises: []"), "{text}");
    loads(&builds).are_right();
}
