//! `timeout`: the future or the deadline, whichever comes first.

use std::cell::Cell;
use std::future::{pending, ready};
use std::rc::Rc;

use futures::future::FusedFuture;
use futures::{FutureExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;
use framestep::wait::Elapsed;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, panic_text, result_of, swallow, update};

/// A row that draws a mark when its timeout ends, and checks the result.
fn row<F: Future<Output = ()> + 'static>(
    timeline: &mut Timeline,
    name: &str,
    seconds: f64,
    future: F,
    in_time: bool,
) {
    timeline.row(name, |mark| async move {
        let result = timeout(seconds, future).await;
        assert_eq!(result.is_ok(), in_time);
        mark.hit();
    });
}

#[test]
fn whatever_comes_first_ends_it() {
    let mut timeline = Timeline::with_dt(0.25);
    let rows = &mut timeline;
    row(rows, "future", 0.75, wait_seconds(0.5).map(drop), true);
    row(rows, "late", 0.50, wait_seconds(0.75).map(drop), false);
    row(rows, "between", 0.60, pending(), false);
    row(rows, "instant", 0.50, ready(()), true);
    timeline.check(
        "
        frame   0    1    2    3    4
        time    0.00 0.25 0.50 0.75 1.00
        future  -    -    *
        late    -    -    *
        between -    -    -    *
        instant *
        ",
    );
}

#[test]
fn the_future_wins_a_tie() {
    let mut timeline = Timeline::with_dt(0.25);
    let rows = &mut timeline;
    row(rows, "seconds", 0.5, wait_seconds(0.5).map(drop), true);
    row(rows, "frames", 0.5, wait_frames(2).map(drop), true);
    // The child's timer is made before that of the timeout.
    let child = async { start(wait_seconds(0.5).map(drop)).await.unwrap() };
    row(rows, "child", 0.5, child, true);
    timeline.check(
        "
        frame   0 1 2 3
        seconds - - *
        frames  - - *
        child   - - *
        ",
    );
}

#[test]
fn zero_and_negative_lengths_give_the_future_until_the_next_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    let rows = &mut timeline;
    row(rows, "next", 0.0, next_frame().map(drop), true);
    row(rows, "zero", 0.0, wait_frames(2).map(drop), false);
    row(rows, "negative", -1.0, wait_frames(2).map(drop), false);
    row(rows, "-inf", f64::NEG_INFINITY, pending(), false);
    timeline.check(
        "
        frame    0 1 2
        next     - *
        zero     - *
        negative - *
        -inf     - *
        ",
    );
}

#[test]
fn infinity_is_no_limit() {
    let mut executor = unclamped();
    let waits = executor.start(timeout(f64::INFINITY, wait_frames(1_000)).map(|r| r.is_ok()));
    let never = executor.start(timeout(f64::INFINITY, pending::<()>()));
    for _ in 0..1_000 {
        update(&mut executor, 1_000_000);
    }
    assert!(result_of(&executor, waits).unwrap());
    assert!(never.stop());
}

#[test]
fn in_phase_looks_at_the_time_there() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for (name, phase) in [
        ("early", Phase::EarlyUpdate),
        ("fixed", Phase::FixedUpdate),
        ("late", Phase::LateUpdate),
    ] {
        timeline.row(name, |mark| async move {
            let result = timeout(0.5, pending::<()>()).in_phase(phase).await;
            assert!(result.is_err());
            mark.hit();
        });
    }
    timeline.row("before", |mark| async move {
        // Due in the same frame, before the deadline is checked.
        let update = timeout(0.5, next_frame().then(|()| next_frame()));
        assert!(update.in_phase(Phase::LateUpdate).await.is_ok());
        mark.hit();
    });
    timeline.row("after", |mark| async move {
        let late = wait_frames(2).in_phase(Phase::LateUpdate);
        assert!(timeout(0.5, late).await.is_err());
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3
        early  - - E
        fixed  - - F
        late   - - L
        before - - *
        after  - - *
        ",
    );
}

#[test]
fn it_is_polled_when_something_is_due_and_no_oftener() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), timeout(10, pending::<()>())).map(drop));
    for _ in 0..39 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2);
    executor.assert_empty();
}

#[test]
fn dropping_it_drops_the_future_and_the_timer() {
    let mut executor = unclamped();
    let log = Log::new();
    let guard = log.on_drop("future dropped");
    let waits = executor.start(timeout(1, async move {
        let _guard = guard;
        pending::<()>().await;
    }));
    assert!(executor.next_deadline().is_some());
    executor.run_frame(0.25);
    assert!(waits.stop());
    log.check(&["future dropped"]);
    assert!(executor.next_deadline().is_none());
}

#[test]
fn a_future_passed_by_reference_continues_afterwards() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut walk = start(wait_seconds(1).map(|()| "there"));
        assert!(timeout(0.5, &mut walk).await.is_err());
        say.say("impatient");
        say.say(walk.await.unwrap());
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F2: impatient", "F4: there"]);
}

#[test]
fn it_works_inside_combinators() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("select", |mark| async move {
        let mut short = timeout(0.5, pending::<()>());
        let mut long = timeout(5, pending::<()>());
        select_biased! {
            result = long => unreachable!("{result:?}"),
            result = short => assert!(result.is_err()),
        }
        assert!(short.is_terminated());
        assert!(!long.is_terminated());
        mark.hit();
    });
    timeline.row("join", |mark| async move {
        let (a, b) = futures::join!(timeout(0.5, wait_frames(1)), timeout(0.75, pending::<()>()));
        assert!(a.is_ok() && b.is_err());
        mark.hit();
    });
    timeline.row("nested", |mark| async move {
        let inner = timeout(0.5, pending::<()>());
        assert!(timeout(0.75, inner).await.unwrap().is_err());
        mark.hit();
    });
    timeline.row("swallow", |mark| async move {
        assert!(swallow(timeout(0.5, pending::<()>())).await.is_err());
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3 4
        select  - - *
        join    - - - *
        nested  - - *
        swallow - - *
        ",
    );
}

#[test]
fn a_length_of_nan_panics_and_names_the_call_site() {
    fn check(executor: &Executor, wait: impl Future<Output = Result<(), Elapsed>> + 'static) {
        let waits = executor.start(wait);
        let error = result_of(executor, waits).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(text.contains("timeout.rs"), "names no call site: {text}");
        assert!(text.contains("NaN"), "names no reason: {text}");
    }
    let executor = unclamped();
    check(&executor, timeout(f64::NAN, pending()));
    check(&executor, timeout(f32::NAN, ready(())));
    check(
        &executor,
        timeout(-f64::NAN, pending()).in_phase(Phase::LateUpdate),
    );
}

#[test]
fn a_panic_of_the_future_is_one_of_the_coroutine() {
    let mut executor = unclamped();
    let waits = executor.start(timeout(1, async {
        next_frame().await;
        panic!("on purpose");
    }));
    executor.run_frame(0.25);
    let error = result_of::<Result<(), _>>(&executor, waits).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "on purpose");
    assert!(executor.next_deadline().is_none(), "the timer is gone");
}

#[test]
fn elapsed_is_an_error() {
    fn fails() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err(unclamped()
            .run_until(timeout(1, pending::<()>()), 0.25)
            .unwrap_err())?
    }
    assert_eq!(fails().unwrap_err().to_string(), "timed out");
}

#[test]
fn a_handle_that_times_out_detaches_unless_it_stops_on_drop() {
    let mut executor = unclamped();
    let (goes_on, stops) = (
        executor.start(wait_seconds(9)),
        executor.start(wait_seconds(9)),
    );
    let ids = [goes_on.id(), stops.id()];
    let waits = [
        executor.start(async { timeout(0.5, goes_on).await.is_err() }),
        executor.start(async { timeout(0.5, stops.stop_on_drop()).await.is_err() }),
    ];
    executor.run_frame(0.25);
    assert!(ids.iter().all(|&id| executor.is_alive(id)));
    executor.run_frame(0.25);
    assert_eq!(ids.map(|id| executor.is_alive(id)), [true, false]);
    for wait in waits {
        assert!(result_of(&executor, wait).unwrap());
    }
}
