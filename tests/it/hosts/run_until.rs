//! Headless: frames of equal length until a future ends.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;

use framestep::prelude::*;

use crate::support::timeline::{Log, unclamped};
use crate::support::{count_frames, panic_of};

#[test]
fn run_until_returns_the_output_of_the_future() {
    let mut executor = unclamped();
    let text = executor.run_until(
        async {
            wait_frames(3).await;
            String::from("result")
        },
        0.25,
    );
    assert_eq!(text, "result");
}

#[test]
fn run_until_runs_frames_of_the_given_length() {
    let mut executor = unclamped();
    let (from, to) = executor.run_until(
        async {
            let from = time();
            wait_seconds(10).await;
            (from, time())
        },
        0.5,
    );
    assert_eq!(
        to.elapsed.checked_sub(from.elapsed),
        Some(Duration::from_secs(10))
    );
    assert_eq!(to.frame - from.frame, 20);
    assert_eq!(to.delta, Duration::from_millis(500));
    assert_eq!(executor.time().frame, to.frame, "not a frame more");
}

#[test]
fn run_until_runs_every_phase_of_a_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.run_until(
        async move {
            next_frame().await;
            let frame = time().frame;
            in_phase(Phase::LateUpdate).await;
            say.note(time().frame - frame);
            end_of_frame().await;
            say.note(time().frame - frame);
            in_phase(Phase::EarlyUpdate).await;
            say.note(time().frame - frame);
            fixed_update().await;
            say.note(time().frame - frame);
        },
        0.25,
    );
    log.check(&["0", "0", "1", "1"]);
}

#[test]
fn run_until_steps_the_other_coroutines_as_well() {
    let mut executor = unclamped();
    let ticks = Rc::new(Cell::new(0));
    let ticker = executor.start(count_frames(ticks.clone()));
    executor.run_until(wait_frames(5).map(drop), 0.25);
    assert_eq!(ticks.get(), executor.time().frame);
    assert!(!ticker.is_finished());
    let before = ticks.get();
    executor.run_frame(0.25);
    assert_eq!(ticks.get(), before + 1);
}

#[test]
fn run_until_may_be_called_again() {
    let mut executor = unclamped();
    for i in 0..5 {
        let result = executor.run_until(
            async move {
                next_frame().await;
                i
            },
            Duration::from_millis(16),
        );
        assert_eq!(result, i);
    }
    assert!(executor.is_empty());
}

#[test]
fn run_until_may_wait_for_a_handle() {
    let mut executor = unclamped();
    let child = executor.start(async {
        wait_seconds(1).await;
        5
    });
    let result = executor.run_until(child, 0.25);
    assert_eq!(result.unwrap(), 5);
    assert_eq!(executor.time().elapsed, Duration::from_secs(1));
}

#[test]
fn run_until_lets_the_panic_of_its_future_through() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            say.note("sibling");
        }
    });
    let text = panic_of(|| {
        executor.run_until(
            async {
                wait_frames(2).await;
                panic!("on purpose");
            },
            0.25,
        )
    });
    assert_eq!(text, "on purpose");
    log.take();
    executor.run_frame(0.25);
    log.check(&["sibling"]);
}

#[test]
fn run_until_does_not_mind_the_panics_of_others() {
    let mut executor = unclamped();
    executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    let result = executor.run_until(
        async {
            wait_frames(2).await;
            5
        },
        0.25,
    );
    assert_eq!(result, 5);
}
