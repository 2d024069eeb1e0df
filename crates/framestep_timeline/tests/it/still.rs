//! What each script was waiting for at a frame.

use framestep::prelude::*;
use framestep_timeline::Doing;

use crate::support::{recorded, scene};

#[test]
fn a_still_says_what_each_script_waits_for_since_when_and_where() {
    let film = scene();
    let still = film.at(1).unwrap();
    let hero = still.get("hero").unwrap();
    assert_eq!(hero.owner.as_deref(), Some("heroes"));
    assert_eq!(hero.doing, Doing::Waiting);
    assert!(
        hero.waits[0].what.starts_with("the end of line (1v1)"),
        "{hero:?}"
    );
    assert!(
        hero.waits[0]
            .place
            .as_ref()
            .unwrap()
            .contains("support.rs:"),
        "{hero:?}"
    );
    assert_eq!(
        still.get("line").unwrap().waits[0].what,
        "250ms, until 500ms"
    );
    assert_eq!(still.get("gate").unwrap().waits[0].what, "signal lever");
    assert_eq!(
        film.at(4).unwrap().get("archer").unwrap().doing,
        Doing::Paused
    );
    let text = still.to_string();
    assert!(
        text.starts_with(
            "frame 1, 250ms: 6 scripts\n  0v1  hero    the end of line (1v1), since frame 0, at "
        ),
        "{text}"
    );
    assert!(text.contains("[level]"), "{text}");
}

#[test]
fn a_script_that_has_not_been_polled_is_new_and_one_that_was_woken_is_ready() {
    let (mut executor, recorder) = recorded();
    let bell = Signal::<()>::new().named("bell");
    let waits = bell.clone();
    executor
        .script("sleeper")
        .in_phase(Phase::EarlyUpdate)
        .start(async move { waits.wait().await });
    executor.script("bell").start(async move {
        next_frame().await;
        script("child")
            .in_phase(Phase::EarlyUpdate)
            .spawn(next_frame());
        bell.emit(());
    });
    executor.run_frame(0.25);
    let still = recorder.film().at(1).unwrap();
    assert_eq!(still.get("sleeper").unwrap().doing, Doing::Ready);
    assert_eq!(still.get("child").unwrap().doing, Doing::New);
    assert_eq!(still.get("child").unwrap().state(), "not polled yet");
    assert_eq!(still.scripts().len(), 2);
    assert_eq!(still.frame(), 1);
    assert!(recorder.film().at(2).is_none());
}

#[test]
fn a_wait_lasts_from_the_poll_in_which_it_begins_to_that_in_which_it_is_missing() {
    let (mut executor, recorder) = recorded();
    executor.script("waits").start(async {
        let looks = async {
            loop {
                next_frame().await;
            }
        };
        let asks = wait_until(|| time().frame == 3);
        let both = async { join!(asks, wait_frames(6)) };
        select! { _ = looks => {}, _ = both => {} }
        wait_frames(2).await;
    });
    executor.run_frames(8, 0.25);
    let film = recorder.film();
    let waits = |frame| {
        let still = film.at(frame).unwrap();
        let script = still.get("waits").unwrap().clone();
        let waits = script.waits.into_iter();
        let mut waits: Vec<_> = waits.map(|wait| (wait.since, wait.what)).collect();
        waits.sort();
        waits
    };
    let wait = |since, what: &str| (since, what.to_owned());
    // The condition is asked in each frame, and is one wait until it holds.
    assert_eq!(
        waits(2),
        [
            wait(0, "6 frames"),
            wait(0, "a condition"),
            wait(2, "the next frame")
        ]
    );
    assert_eq!(waits(4), [wait(0, "6 frames"), wait(4, "the next frame")]);
    assert_eq!(waits(7), [wait(6, "2 frames")]);
}

async fn breathe() {
    wait_seconds(1).await;
}

async fn sleep() {
    breathe().await;
}

#[test]
fn a_still_has_the_call_chains_of_a_snapshot_of_its_frame() {
    let mut executor = Executor::builder().call_chains(true).build();
    let recorder = framestep_timeline::Recorder::new();
    recorder.watch(&executor);
    executor.script("lamp").start(wait_seconds(9));
    executor.script("dragon").start(sleep());
    executor.run_frames(2, 0.25);
    let still = recorder.film().at(2).unwrap();
    assert!(still.get("dragon").unwrap().call_chains.is_empty());
    let still = still.with_call_chains(&executor.snapshot());
    let [chain] = &still.get("dragon").unwrap().call_chains[..] else {
        panic!("{still}");
    };
    // With line tables only, the name of a function is `{async_fn#0}`.
    let calls: Vec<String> = chain.calls().iter().map(ToString::to_string).collect();
    assert_eq!(calls.len(), 2, "{still}");
    let text = still.to_string();
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert!(lines[0].contains("dragon"), "{text}");
    assert_eq!(lines[1].trim_start(), format!("in {}", calls[0]));
    assert_eq!(lines[2].trim_start(), format!("in {}", calls[1]));
}

#[test]
#[should_panic(expected = "the snapshot is of frame 3, and the still of frame 2")]
fn the_call_chains_of_another_frame_are_refused() {
    let (mut executor, recorder) = recorded();
    executor.script("lamp").start(wait_seconds(9));
    executor.run_frames(3, 0.25);
    let still = recorder.film().at(2).unwrap();
    _ = still.with_call_chains(&executor.snapshot());
}
