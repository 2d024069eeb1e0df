//! `or_closed`: a wait whose signal or watch may be gone.

use std::cell::RefCell;

use framestep::prelude::*;
use framestep::sync::Closed;
use futures::FutureExt;
use futures::future::FusedFuture;

use framestep_testkit::poll_once;
use framestep_testkit::timeline::{Timeline, unclamped};

#[test]
fn the_end_of_a_signal_is_read_at_home_like_an_event() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    let bell = Signal::<()>::new();
    for phase in [Phase::FixedUpdate, Phase::Update, Phase::LateUpdate] {
        let wait = bell.wait().or_closed();
        timeline.row(&format!("{phase:?}"), |mark| async move {
            let guard = script("").in_phase(phase).start(async move {
                assert_eq!(wait.await, Err(Closed));
                mark.hit();
            });
            guard.await.unwrap();
        });
    }
    timeline.row("drops", |mark| async move {
        wait_frames(2).await;
        drop(bell);
        mark.hit();
    });
    timeline.check(
        "
        frame       0 1 2 3
        FixedUpdate - - - F
        Update      - - *
        LateUpdate  - - L
        drops       - - *
        ",
    );
}

#[test]
fn a_wait_that_begins_after_the_end_is_an_error_at_once() {
    let executor = unclamped();
    let (signal, watch) = (Signal::<u32>::new(), Watch::new(1));
    let reader = watch.reader();
    let of_signal = (
        signal.wait().or_closed(),
        signal.wait_for(|_| true).or_closed(),
    );
    drop((signal, watch));
    let script = executor.start(async move {
        assert_eq!(of_signal.0.await, Err(Closed));
        assert_eq!(of_signal.1.await, Err(Closed));
        assert_eq!(reader.changed().or_closed().await, Err(Closed));
        assert_eq!(
            reader.wait_for(|&value| value == 2).or_closed().await,
            Err(Closed)
        );
        // The last value stays.
        assert_eq!(
            reader.wait_for(|&value| value == 1).or_closed().await,
            Ok(1)
        );
    });
    assert!(script.take_output().unwrap().is_ok());
}

#[test]
fn what_came_before_the_end_counts() {
    let mut executor = unclamped();
    let (signal, watch) = (Signal::new(), Watch::new(0));
    let first = executor.start(signal.wait().or_closed());
    let even = executor.start(signal.wait_for(|event| event % 2 == 0).or_closed());
    let none = executor.start(signal.wait_for(|&event| event > 9).or_closed());
    let changed = executor.start(watch.changed().or_closed());
    let three = executor.start(watch.wait_for(|&value| value == 3).or_closed());
    (1..=3).for_each(|event| signal.emit(event));
    watch.set(2);
    let given = executor.start(signal.wait().or_closed());
    let refused = executor.start(signal.wait_for(|_| false).or_closed());
    assert_eq!(signal.emit_one(7), None);
    drop((signal, watch));
    executor.run_frame(0.25);
    let results =
        [first, even, none, given, refused].map(|script| script.take_output().unwrap().unwrap());
    assert_eq!(results[..3], [Ok(1), Ok(2), Err(Closed)]);
    assert!(results[3..].contains(&Err(Closed)));
    assert_eq!(changed.take_output().unwrap().unwrap(), Ok(2));
    assert_eq!(three.take_output().unwrap().unwrap(), Err(Closed));
}

#[test]
fn a_clone_keeps_the_signal() {
    let mut executor = unclamped();
    let bell = Signal::<()>::new();
    let clone = bell.clone();
    let guard = executor.start(bell.wait().or_closed());
    drop(bell);
    executor.run_frames(3, 0.25);
    assert!(!guard.is_finished());
    drop(clone);
    executor.run_frame(0.25);
    assert_eq!(guard.take_output().unwrap().unwrap(), Err(Closed));
}

#[test]
fn a_condition_that_emits_what_it_waits_for_is_not_cut_by_the_end() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let inner = RefCell::new(Some(signal.clone()));
    let wait = signal.wait_for(move |&event| {
        if let Some(signal) = inner.take() {
            signal.emit(event + 1);
        }
        event == 2
    });
    signal.emit(1);
    drop(signal);
    let script = executor.start(wait.or_closed());
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), Ok(2));
}

#[test]
fn it_is_fused_and_not_polled_again() {
    let executor = unclamped();
    let signal = Signal::<()>::new();
    let mut wait = signal.wait().or_closed();
    let script = executor.start(async move {
        assert!(poll_once(&mut wait).await.is_pending() && !wait.is_terminated());
        drop(signal);
        assert_eq!((&mut wait).now_or_never(), Some(Err(Closed)));
        assert!(wait.is_terminated());
        wait.await
    });
    let error = script.take_output().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("`or_closed()` was polled again"),
        "{error}"
    );
}
