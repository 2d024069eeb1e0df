//! Five planted faults, each found with the timeline alone. (The example `hunt` shows
//! them in pictures.)

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{FindingKind, Recorder};

use crate::support::recorded;

fn guards(executor: &Executor) {
    for number in 0..30 {
        executor
            .script(format!("guard {number}"))
            .start(async move {
                loop {
                    wait_frames(1 + number % 5).await;
                }
            });
    }
}

/// The only finding: its kind and text.
fn only(recorder: &Recorder) -> (FindingKind, String) {
    let findings = recorder.film().findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(recorder.film().svg().to_string().contains("Look here"));
    (findings[0].kind, findings[0].to_string())
}

#[test]
fn a_healthy_game_has_no_findings() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    executor.run_frames(60, 0.25);
    assert_eq!(recorder.film().findings(), []);
    assert!(!recorder.film().svg().to_string().contains("Look here"));
}

#[test]
fn a_signal_that_never_comes_is_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let open = Signal::<()>::new().named("gate.open");
    executor.script("gate").start(async move {
        wait_frames(3).await;
        open.wait().await;
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::NoSignal);
    let expected =
        "gate (30v1) waits for signal gate.open since frame 3, and nobody has emitted it since (";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("findings.rs:49:"), "{text}");
}

#[test]
fn a_pause_that_nobody_lifts_is_found_with_the_one_who_paused() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let boat = executor.script("boat").start(wait_seconds(50)).id();
    let handle = executor.handle();
    executor.script("menu").start(async move {
        wait_frames(7).await;
        handle.pause(boat);
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::Paused);
    assert!(
        text.starts_with("boat (30v1) is paused since frame 7, by menu (31v1)"),
        "{text}"
    );
}

#[test]
fn two_scripts_that_wait_for_each_other_are_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let slot = Rc::new(RefCell::new(None::<Coroutine<()>>));
    let other = slot.clone();
    let smith = executor.script("smith").spawn(async move {
        wait_frames(2).await;
        let miner = other.borrow_mut().take();
        drop(miner.unwrap().await);
    });
    *slot.borrow_mut() = Some(
        executor
            .script("miner")
            .spawn(async move { drop(smith.await) }),
    );
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::Cycle);
    assert!(
        text.starts_with("smith (30v1) waits for the end of miner (31v1)"),
        "{text}"
    );
    assert!(text.contains("a cycle since frame 3"), "{text}");
}

#[test]
fn a_script_that_eats_the_frame_is_found() {
    let now = Rc::new(Cell::new(Duration::ZERO));
    let stopwatch = now.clone();
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch(move || stopwatch.get());
    recorder.watch(&executor);
    guards(&executor);
    executor.script("path finder").start(async move {
        loop {
            wait_frames(10).await;
            now.set(now.get() + Duration::from_millis(9));
        }
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::LongPoll);
    assert!(
        text.starts_with("path finder (30v1) took 9.00 ms in one poll"),
        "{text}"
    );
}

#[test]
fn a_script_that_is_woken_again_and_again_is_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    executor.script("spinner").start(async {
        wait_frames(5).await;
        for _ in 0..200 {
            yield_now().await;
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::ManyPolls);
    assert!(
        text.starts_with("spinner (30v1) was polled 201 times in frame 5"),
        "{text}"
    );
}

#[test]
fn many_findings_of_a_kind_are_counted() {
    let (mut executor, recorder) = recorded();
    let owner = executor.owner();
    for _ in 0..100 {
        owner.script("sheep").start(wait_seconds(100));
    }
    executor.run_frame(0.25);
    owner.pause();
    executor.run_frames(60, 0.25);
    let findings = recorder.film().findings();
    assert_eq!(findings.len(), 3);
    assert!(findings[2].to_string().ends_with("(and 97 more like this)"));
}

#[test]
fn a_script_that_nothing_can_resume_is_found() {
    let (mut executor, recorder) = recorded();
    executor.script("lost").start(wait_seconds(f64::INFINITY));
    executor.run_frames(3, 0.25);
    assert_eq!(only(&recorder).0, FindingKind::Never);
}
