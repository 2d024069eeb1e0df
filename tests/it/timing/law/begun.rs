//! `in_phase` belongs before the first poll: on a wait that has begun it panics.

use futures::future::{join, pending};

use super::*;
use crate::support::place_of_panic;

/// Makes a wait, polls it once, calls `in_phase` on it in a coroutine, and checks
/// that this panics at the line of the call and disturbs nothing else.
macro_rules! check {
    ($name:literal, $make:expr) => {{
        let mut executor = crate::support::timeline::in_quarters();
        let handle = executor.handle();
        let log = Log::new();
        let say = log.clone();
        let bystander = executor.start(async {
            loop {
                next_frame().await;
            }
        });
        let script = executor.start(async move {
            let clock = handle.clock().expect("it is there");
            let make = $make;
            let mut wait = make(&clock);
            let mut beside = wait_seconds(0.5);
            assert!(poll_once(&mut wait).await.is_pending());
            assert!(poll_once(&mut beside).await.is_pending());
            let place = place_of_panic(|| wait.in_phase(Phase::LateUpdate));
            assert_eq!(place, format!("{}:{}", file!(), line!()), "{}", $name);
            assert_eq!(handle.time().expect("it is there"), time());
            join(beside, next_frame()).await;
            say.say("goes on");
        });
        assert!(!script.is_finished(), "{}", $name);
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        assert_eq!(log.take(), ["F2: goes on"], "{}", $name);
        assert!(bystander.stop());
        // The wait went with the panic, and its timer with it.
        assert!(executor.is_empty() && !executor.has_ready());
        assert_eq!(executor.next_deadline(), None, "{}", $name);
    }};
}

// docs/contract.md#decided-moved-waits
#[test]
fn one_that_never_ends_has_begun_like_any_other() {
    check!("seconds", |_: &Clock| wait_seconds(f64::INFINITY));
    check!("frames", |_: &Clock| wait_frames(u64::MAX));
    check!("timeout", |_: &Clock| timeout(
        f64::INFINITY,
        pending::<()>()
    ));
    check!("animate", |_: &Clock| animate(f64::INFINITY, |_| ()));
}

#[test]
fn an_interval_whose_first_tick_was_awaited_has_begun() {
    let mut executor = unclamped();
    let script = executor.start(async {
        for period in [0.5, f64::INFINITY] {
            let mut begun = interval(period);
            assert!(poll_once(&mut begun.tick()).await.is_pending());
            let place = place_of_panic(|| begun.in_phase(Phase::LateUpdate));
            assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
        }
        let mut ticked = interval(0.5);
        ticked.tick().await;
        let place = place_of_panic(|| ticked.in_phase(Phase::LateUpdate));
        assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
        next_frame().await;
    });
    executor.run_frames(4, 0.25);
    script.take().unwrap().unwrap();
}

#[test]
fn before_the_first_poll_in_phase_may_be_called_as_often_as_one_likes() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("frame", |mark| async move {
        let wait = next_frame().in_phase(Phase::EarlyUpdate);
        wait.in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.row("frames", |mark| async move {
        let wait = wait_frames(2).in_phase(Phase::EarlyUpdate);
        wait.in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.row("seconds", |mark| async move {
        let wait = wait_seconds(0.5).in_phase(Phase::EarlyUpdate);
        wait.in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.row("until", |mark| async move {
        let wait = wait_until(|| true).in_phase(Phase::EarlyUpdate);
        wait.in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3
        frame   - L
        frames  - - L
        seconds - - L
        until   - L
        ",
    );
}

#[test]
fn a_coroutine_that_does_not_catch_the_panic_ends_with_it_and_no_other_does() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("another");
    });
    let broken = executor.start(async {
        let mut wait = wait_seconds(9);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.in_phase(Phase::LateUpdate).await;
    });
    assert!(broken.is_finished());
    executor.run_frame(0.25);
    log.check(&["F1: another"]);
    let error = crate::support::result_of(&executor, broken).unwrap_err();
    assert!(error.is_panic());
    assert_eq!(executor.next_deadline(), None);
}
