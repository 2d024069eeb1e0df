//! `join!`: several futures of different types, until all are ready.

use std::cell::Cell;
use std::future::{pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, noted, panic_text, result_of, swallow};

/// A future that is neither `Unpin` nor fused.
async fn after<T>(frames: u64, value: T) -> T {
    wait_frames(frames).await;
    value
}

#[test]
fn join_continues_as_soon_as_the_last_is_ready() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("plain", |mark| async move {
        let joined = join!(after(2, "a"), after(3, 7), after(1, 'c'));
        assert_eq!(joined, ("a", 7, 'c'));
        mark.hit();
    });
    timeline.row("handles", |mark| async move {
        let (a, b) = (start(after(2, 1)), start(after(1, "b")));
        let (a, b, frames) = join!(a, b, after(1, 3));
        assert_eq!((a.unwrap(), b.unwrap(), frames), (1, "b", 3));
        mark.hit();
    });
    timeline.row("phase", |mark| async move {
        join!(next_frame(), wait_frames(1).in_phase(Phase::LateUpdate));
        mark.hit();
    });
    timeline.row("at_once", |mark| async move {
        assert_eq!(join!(ready(1), async { 2 }), (1, 2));
        assert_eq!(join!(ready(1)), (1,));
        join!();
        mark.hit();
    });
    timeline.row("swallow", |mark| async move {
        swallow(async { join!(wait_frames(1), wait_frames(2)) }).await;
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3
        plain   - - - *
        handles - - *
        phase   - L
        at_once *
        swallow - - *
        ",
    );
}

/// `join!` of three.
async fn join_of<F: Future>([a, b, c]: [F; 3]) -> (F::Output, F::Output, F::Output) {
    join!(a, b, c)
}

#[test]
fn futures_are_polled_in_order_and_those_that_are_ready_no_more() {
    let log = Log::new();
    let mut executor = unclamped();
    let names = executor.run_until(
        join_of([("a", 2), ("b", 1), ("c", 3)].map(|(name, polls)| noted(&log, name, polls))),
        0.25,
    );
    assert_eq!(names, ("a", "b", "c"));
    log.check(&["a", "b", "drop b", "c", "a", "drop a", "c", "c", "drop c"]);
}

#[test]
fn all_that_is_due_in_a_run_is_one_poll() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let script = executor.start(counted(polls.clone(), async {
        join!(wait_frames(2), wait_seconds(0.5), wait_frames(4));
    }));
    executor.run_until(script, 0.25).unwrap();
    assert_eq!(polls.get(), 3);
}

#[test]
fn an_err_does_not_end_the_wait_for_the_others() {
    let mut executor = unclamped();
    let (stopped, fine) = executor.run_until(
        async {
            let stopped = start(after(9, ()));
            stopped.stop();
            join!(stopped, start(after(2, "fine")))
        },
        0.25,
    );
    assert!(stopped.unwrap_err().is_stopped());
    assert_eq!(fine.unwrap(), "fine");
    assert_eq!(executor.time().frame, 2);
}

#[test]
fn futures_borrow_local_variables() {
    let mut executor = unclamped();
    let lists = executor.run_until(
        async {
            async fn count(numbers: &mut Vec<u64>, to: u64) -> &mut Vec<u64> {
                for number in 0..to {
                    next_frame().await;
                    numbers.push(number);
                }
                numbers
            }
            let (mut a, mut b) = (vec![], vec![]);
            let (first, ()) = join!(count(&mut a, 2), async { b.push(9) },);
            first.push(8);
            (a, b)
        },
        0.25,
    );
    assert_eq!(lists, (vec![0, 1, 8], vec![9]));
}

#[test]
fn a_future_is_dropped_as_soon_as_it_is_ready_the_others_in_order() {
    let mut executor = unclamped();
    let log = Log::new();
    let futures = [("a", 9), ("b", 2), ("c", 9)].map(|(name, polls)| noted(&log, name, polls));
    let script = executor.start(join_of(futures));
    log.check(&["a", "b", "c"]);
    executor.run_frame(0.25);
    log.check(&["a", "b", "drop b", "c"]);
    script.stop();
    log.check(&["drop a", "drop c"]);
}

#[test]
fn handles_that_are_dropped_with_it_detach() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        let child = |name: &'static str| {
            let say = say.clone();
            start(async move {
                next_frame().await;
                say.say(name);
            })
        };
        let stops = child("stops").stop_on_drop();
        let _ = join!(child("runs on"), stops, pending::<()>());
    });
    parent.stop();
    executor.run_frame(0.25);
    log.check(&["F1: runs on"]);
}

#[test]
fn a_panic_ends_all_of_them() {
    let executor = unclamped();
    let log = Log::new();
    let guard = log.on_drop("dropped");
    let script = executor.start(async move {
        join!(
            async move {
                let _guard = guard;
                pending::<()>().await;
            },
            async { panic!("on purpose") },
        )
    });
    log.check(&["dropped"]);
    let payload = result_of(&executor, script).unwrap_err().into_panic();
    assert_eq!(panic_text(&*payload), "on purpose");
}

#[test]
fn joins_without_waits_need_no_executor() {
    let joined = pin!(async {
        let (future, outputs, all_ready) = (1, 2, 3);
        join!(
            ready(future),
            ready(outputs),
            async { join!(ready(all_ready), ready("nested")) },
            &mut ready(4),
        )
    });
    let poll = joined.poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(poll, Poll::Ready((1, 2, (3, "nested"), 4)));
}

#[test]
fn question_marks_in_the_expressions_leave_the_function() {
    async fn script(input: Result<u64, &'static str>) -> Result<u64, &'static str> {
        let (frames, one) = join!(after(1, input?), ready(1));
        Ok(frames + one)
    }
    let mut executor = unclamped();
    assert_eq!(executor.run_until(script(Ok(2)), 0.25), Ok(3));
    assert_eq!(executor.run_until(script(Err("no")), 0.25), Err("no"));
}

#[test]
fn the_function_and_the_macro_have_one_name() {
    let mut executor = unclamped();
    let sum = executor.run_until(
        async {
            let (a, b) = join!(join(start(after(1, 1))), join(start(after(2, 2))));
            a.unwrap() + b.unwrap()
        },
        0.25,
    );
    assert_eq!(sum, 3);
}

#[test]
fn there_may_be_64_futures() {
    macro_rules! of_64 {
        ($($n:literal)*) => { join!($( after(64 - $n, $n) ),*) };
    }
    let mut executor = unclamped();
    let (first, .., last) = executor.run_until(
        async {
            of_64!(
                0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
                32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
                60 61 62 63
            )
        },
        0.25,
    );
    assert_eq!((first, last), (0, 63));
    assert_eq!(executor.time().frame, 64);
}
