//! Invalid times: survived, counted and reported. docs/contract.md#time-bad-dt

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{panic_text, result_of, update};

/// Counts what `executor` reports.
fn reports(executor: &Executor) -> Rc<Cell<u32>> {
    let count = Rc::new(Cell::new(0));
    let counts = count.clone();
    executor.on_report(move |_| counts.set(counts.get() + 1));
    count
}

/// A frame with a bad `dt` moves no clock, still counts as a frame, and is
/// reported.
#[track_caller]
fn counts_as_zero(dt: impl Seconds) {
    let mut executor = unclamped();
    let reports = reports(&executor);
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("next_frame");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds(Duration::from_nanos(1)).await;
        say.say("wait_seconds");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds_realtime(Duration::from_nanos(1)).await;
        say.say("wait_seconds_realtime");
    });
    executor.run_frame(dt);
    assert_eq!(executor.time().frame, 1);
    assert_eq!(executor.time().delta, Duration::ZERO);
    assert_eq!(executor.time().elapsed, Duration::ZERO);
    log.check(&["F1: next_frame"]);
    assert_eq!(reports.get(), 1);
    executor.run_frame(0.25);
    log.check(&["F2: wait_seconds", "F2: wait_seconds_realtime"]);
    assert_eq!(reports.get(), 1);
}

#[test]
fn a_dt_of_nan_counts_as_zero_and_is_reported() {
    counts_as_zero(f64::NAN);
    counts_as_zero(f32::NAN);
    counts_as_zero(-f64::NAN);
}

#[test]
fn a_negative_dt_counts_as_zero_and_is_reported() {
    counts_as_zero(-0.25_f64);
    counts_as_zero(-0.25_f32);
    counts_as_zero(-1_i32);
    counts_as_zero(-1_i64);
    counts_as_zero(f64::MIN);
    counts_as_zero(-f32::MIN_POSITIVE);
}

#[test]
fn a_dt_of_minus_infinity_counts_as_zero_and_is_reported() {
    counts_as_zero(f64::NEG_INFINITY);
    counts_as_zero(f32::NEG_INFINITY);
}

#[test]
fn an_infinite_dt_is_the_largest_step_and_is_reported() {
    fn check(dt: impl Seconds) {
        let mut executor = Executor::builder().max_delta(1).build();
        let reports = reports(&executor);
        let century = Duration::from_secs(100 * 365 * 86_400);
        let real = executor.start(wait_seconds_realtime(century).map(drop));
        let never = executor.start(wait_seconds_realtime(f64::INFINITY).map(drop));
        executor.run_frame(dt);
        assert!(real.is_finished());
        assert!(!never.is_finished());
        assert_eq!(executor.time().elapsed, Duration::from_secs(1));
        assert!(reports.get() > 0);
        // The next frame is like any other.
        let next = executor.start(next_frame().map(drop));
        executor.run_frame(0.25);
        assert!(next.is_finished());
        assert_eq!(executor.time().elapsed, Duration::from_millis(1_250));
    }
    check(f64::INFINITY);
    check(f32::INFINITY);
}

#[test]
fn huge_steps_are_survived() {
    let mut executor = Executor::builder().max_delta(1).build();
    let frames = executor.start(wait_frames(8).map(drop));
    executor.run_frame(f32::MAX);
    executor.run_frame(f64::MAX);
    executor.run_frame(u64::MAX);
    executor.run_frame(i64::MAX);
    executor.run_frame(usize::MAX);
    executor.run_frame(Duration::MAX);
    executor.run_frame(f64::INFINITY);
    executor.run_frame(f32::MAX);
    assert!(frames.is_finished());
    assert_eq!(executor.time().elapsed, Duration::from_secs(8));
}

#[test]
fn the_time_that_max_delta_drops_is_reported() {
    let mut executor = Executor::builder().max_delta(0.5).build();
    let reports = reports(&executor);
    executor.run_frame(0.25);
    executor.run_frame(0.5);
    assert_eq!(reports.get(), 0);
    executor.run_frame(0.75);
    assert_eq!(reports.get(), 1);
    assert_eq!(executor.time().elapsed, Duration::from_millis(1_250));
}

#[test]
fn an_ordinary_dt_is_not_reported() {
    let mut executor = Executor::new();
    let reports = reports(&executor);
    executor.run_frame(0);
    executor.run_frame(0.0);
    executor.run_frame(1.0_f32 / 144.0);
    executor.run_frame(f32::MIN_POSITIVE);
    executor.run_frame(Duration::from_millis(16));
    assert_eq!(reports.get(), 0);
}

// docs/contract.md#time-infinity
#[test]
fn a_nan_length_panics_in_the_coroutine_and_names_the_call_site() {
    fn check(executor: &mut Executor, wait: impl Future<Output = ()> + 'static) {
        let log = Log::new();
        let say = log.clone();
        let sibling = executor.start(async move {
            next_frame().await;
            say.say("sibling");
        });
        let waits = executor.spawn(async move {
            next_frame().await;
            wait.await;
        });
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        assert!(sibling.is_finished());
        let error = result_of(executor, waits).expect_err("a panic");
        assert!(error.is_panic());
        let text = panic_text(&*error.into_panic());
        assert!(text.contains("bad_time.rs"), "names no call site: {text}");
        assert!(text.contains("NaN"), "names no reason: {text}");
    }
    let mut executor = unclamped();
    check(&mut executor, async {
        wait_seconds(f64::NAN).await;
    });
    check(&mut executor, async {
        wait_seconds(f32::NAN).await;
    });
    check(&mut executor, async {
        wait_seconds_realtime(f64::NAN).await;
    });
    check(&mut executor, async {
        wait_seconds(-f64::NAN).in_phase(Phase::LateUpdate).await;
    });
}

#[test]
fn a_nan_length_in_a_started_coroutine_does_not_reach_the_host() {
    let executor = unclamped();
    let waits = executor.start(wait_seconds(f64::NAN).map(drop));
    assert!(waits.is_finished());
    assert!(result_of(&executor, waits).unwrap_err().is_panic());
}

// docs/contract.md#rule-3-one-resume
#[test]
fn a_frame_of_an_hour_resumes_every_timer_once() {
    let mut executor = unclamped();
    let resumed = Rc::new(Cell::new(0));
    for i in 0..10_000_u64 {
        let resumed = resumed.clone();
        executor.start(async move {
            loop {
                wait_seconds(Duration::from_millis(i % 1_000)).await;
                resumed.set(resumed.get() + 1);
            }
        });
    }
    update(&mut executor, 3_600);
    assert_eq!(resumed.get(), 10_000);
    update(&mut executor, 3_600);
    assert_eq!(resumed.get(), 20_000);
}
