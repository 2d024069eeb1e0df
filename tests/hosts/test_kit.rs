//! The tools for tests: `run_to_next_deadline`, `assert_empty`, `assert_idle` and
//! `at_frame_rates`.

use std::future::pending;
use std::time::Duration;

use framestep::Executor;
use framestep::prelude::*;
use framestep::testing::{FRAME_RATES, at_frame_rates};

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{panic_of, place_of_panic};

type Check = fn(&Executor);

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn one_frame_reaches_the_next_timer() {
    let mut executor = unclamped();
    let log = Log::new();
    for seconds in [3, 1, 3, 7] {
        let log = log.clone();
        executor.start(async move {
            wait_seconds(seconds).await;
            log.note(format!("{seconds} s, frame {}", time().frame));
        });
    }
    let mut frames = Vec::new();
    while let Some(took) = executor.run_to_next_deadline() {
        frames.push(took);
    }
    assert_eq!(frames, [s(1), s(2), s(4)]);
    log.check(&[
        "1 s, frame 1",
        "3 s, frame 2",
        "3 s, frame 2",
        "7 s, frame 3",
    ]);
}

#[test]
fn no_frame_is_longer_than_max_delta() {
    let mut executor = Executor::builder().max_delta(0.25).build();
    let script = executor.start(async {
        wait_seconds(1.125).await;
        time().frame
    });
    let took = executor.run_to_next_deadline();
    assert_eq!(took, Some(Duration::from_millis(1125)));
    assert_eq!(executor.time().elapsed, Duration::from_millis(1125));
    assert_eq!(script.take_output().unwrap().unwrap(), 5);
}

#[test]
fn it_follows_scales_pauses_and_other_clocks() {
    let mut executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let clock = slow.clone();
    let script = executor.start(async move { clock.wait_seconds(2).await });
    let paused = executor.start(wait_seconds(1));
    paused.pause();
    let took = executor.run_to_next_deadline();
    assert_eq!(took, Some(Duration::from_secs(4)));
    assert!(script.is_finished());
    assert_eq!(executor.run_to_next_deadline(), None);
}

#[test]
fn a_script_that_wants_a_frame_gets_one_of_zero_length() {
    let mut executor = unclamped();
    executor.start(async {
        for _ in 0..2 {
            next_frame().await;
        }
    });
    let zero = Some(Duration::ZERO);
    let frames: Vec<_> = (0..3).map(|_| executor.run_to_next_deadline()).collect();
    assert_eq!(frames, [zero, zero, None]);
    assert_eq!(executor.time().elapsed, Duration::ZERO);
}

#[test]
fn timers_on_fixed_steps_are_reached_too() {
    let mut executor = Executor::builder().fixed_delta(0.25).build();
    let script = executor.start(async {
        wait_seconds(2).in_phase(Phase::FixedUpdate).await;
        time().frame
    });
    while executor.run_to_next_deadline().is_some() {}
    assert!(script.is_finished());
}

#[test]
fn a_script_may_skip_the_waiting_of_another_executor() {
    let executor = unclamped();
    let mut inner = Some(unclamped());
    executor.start(async move {
        let mut executor = inner.take().unwrap();
        assert_eq!(executor.run_to_next_deadline(), None); // another executor
    });
    executor.assert_empty();
}

#[test]
fn the_message_of_what_is_left_has_the_snapshot_and_the_callers_line() {
    let executor = unclamped();
    executor.assert_empty();
    executor.assert_idle();
    executor.start(wait_seconds(3)).named("late");
    let checks: [(Check, &str); 2] = [
        (
            |executor| executor.assert_empty(),
            "not all coroutines have ended",
        ),
        (|executor| executor.assert_idle(), "something is due in 3s"),
    ];
    for (check, what) in checks {
        let message = panic_of(|| check(&executor));
        assert!(message.contains(what), "{message}");
        assert!(message.contains("late  3s, until 3s"), "{message}");
    }
    let place = place_of_panic(|| executor.assert_empty());
    assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
    let place = place_of_panic(|| executor.assert_idle());
    assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
}

#[test]
fn scripts_that_wait_for_an_event_are_idle() {
    let executor = unclamped();
    executor.start(pending::<()>());
    executor.assert_idle();
    let awake = executor.start(async { next_frame().await });
    let message = panic_of(|| executor.assert_idle());
    assert!(
        message.contains("something is due in the next frame"),
        "{message}"
    );
    awake.stop();
    executor.assert_idle();
}

#[test]
fn each_frame_rate_is_tried_in_order() {
    let tried = at_frame_rates(|dt| (1.0 / dt).round());
    assert_eq!(tried, FRAME_RATES.map(f64::from));
}

#[test]
fn a_failure_at_one_frame_rate_fails_the_test() {
    let mut tried = 0;
    let message = panic_of(|| {
        at_frame_rates(|dt| {
            tried += 1;
            assert!(dt > 0.045, "on purpose");
        });
    });
    assert_eq!(message, "on purpose");
    assert_eq!(tried, 3); // 10, 20, 24 frames a second
}

#[test]
fn the_time_to_the_next_timer_is_a_length_that_people_expect_at_any_scale() {
    for (scale, waits, takes) in [
        (0.5, 1_000, 2_000),
        (0.25, 500, 2_000),
        (0.3, 300, 1_000),
        (0.1, 1_000, 10_000),
        (2.0, 1_000, 500),
        (1.5, 1_500, 1_000),
    ] {
        for is_stepped in [false, true] {
            let mut executor = Executor::builder()
                .max_delta(f32::INFINITY)
                .fixed_delta(0.1)
                .build();
            executor.clock().set_scale(scale);
            let length = Duration::from_millis(waits);
            let script = executor.start(async move {
                let phase = if is_stepped {
                    Phase::FixedUpdate
                } else {
                    Phase::Update
                };
                wait_seconds(length).in_phase(phase).await;
            });
            let took = executor.run_to_next_deadline();
            assert_eq!(
                took,
                Some(Duration::from_millis(takes)),
                "{scale}, {is_stepped}"
            );
            assert!(script.is_finished(), "{scale}, {is_stepped}");
        }
    }
}

#[test]
fn a_timer_too_far_away_for_the_frames_that_are_allowed_is_a_mistake_that_names_the_fix() {
    let mut executor = Executor::builder()
        .max_delta(0.25)
        .max_frames(1_000)
        .build();
    drop(executor.start(wait_seconds(251)));
    let text = panic_of(|| executor.run_to_next_deadline());
    for part in [
        "the next deadline is in 251s, after 1004 frames of at most 250ms (`Builder::max_delta`)",
        "`Builder::max_frames`",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(executor.time().frame, 0, "no frame was run");
}
