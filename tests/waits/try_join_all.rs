//! `try_join_all`: all values, or the first error.

use futures::FutureExt;
use futures::future::{FusedFuture, ready};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, panic_of};

/// Waits so many frames, records its end, and returns `result`.
async fn child<T>(
    log: Log,
    frames: u64,
    result: Result<T, &'static str>,
) -> Result<T, &'static str> {
    let _gone = log.on_drop(format!("{frames} goes"));
    wait_frames(frames).await;
    result
}

#[test]
fn it_continues_when_the_last_has_returned_or_the_first_has_failed() {
    let mut timeline = Timeline::with_dt(0.25);
    let log = Log::new();
    for (name, fails) in [("all", 0), ("early", 1), ("late", 3)] {
        let log = log.clone();
        timeline.row(name, move |mark| async move {
            let children = [2, 3, 1].map(|frames| {
                let result = if frames == fails {
                    Err("bad")
                } else {
                    Ok(frames)
                };
                child(log.clone(), frames, result)
            });
            let joined = try_join_all(children).await;
            let expected = if fails == 0 {
                Ok(vec![2, 3, 1])
            } else {
                Err("bad")
            };
            assert_eq!(joined, expected);
            mark.hit();
        });
    }
    timeline.row("none", |mark| async move {
        let none: Vec<std::future::Ready<Result<u32, ()>>> = Vec::new();
        assert_eq!(try_join_all(none).await, Ok(vec![]));
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        all   - - - *
        early - *
        late  - - - *
        none  *
        ",
    );
}

#[test]
fn at_an_error_the_others_are_dropped_in_order_before_it_continues() {
    let mut executor = unclamped();
    let log = Log::new();
    let joined = executor.start({
        let log = log.clone();
        async move {
            let children = [(3, Ok(())), (1, Err("bad")), (2, Ok(()))];
            let children = children.map(|(frames, result)| child(log.clone(), frames, result));
            let joined = try_join_all(children).await;
            log.note("continues");
            joined
        }
    });
    assert_eq!(executor.run_until(joined, 0.25).unwrap(), Err("bad"));
    log.check(&["1 goes", "3 goes", "2 goes", "continues"]);
}

#[test]
fn of_several_errors_in_one_poll_the_first_in_order_counts() {
    let results = [Ok(1), Err("first"), Err("second")].map(ready);
    assert_eq!(try_join_all(results).now_or_never(), Some(Err("first")));
}

#[test]
fn a_stopped_coroutine_is_an_error_and_the_others_run_on() {
    let mut executor = unclamped();
    let (stopped, other) = (executor.start(next_frame()), executor.start(wait_frames(2)));
    let (id, other_id) = (stopped.id(), other.id());
    let joined = executor.start(try_join_all([
        stopped.map(|result| result).left_future(),
        other.right_future(),
    ]));
    executor.stop(id);
    let error = executor.run_until(joined, 0.25).unwrap().unwrap_err();
    assert!(error.is_stopped());
    assert!(executor.is_alive(other_id));
}

#[test]
fn a_future_that_has_returned_is_not_polled_again() {
    let mut executor = unclamped();
    let polls = std::rc::Rc::new(std::cell::Cell::new(0));
    let quick = counted(polls.clone(), ready(Ok::<_, ()>(1))).left_future();
    let slow = wait_frames(3).map(|()| Ok(2)).right_future();
    let joined = executor.start(try_join_all([quick, slow]));
    assert_eq!(executor.run_until(joined, 0.25).unwrap(), Ok(vec![1, 2]));
    assert_eq!(polls.get(), 1);
}

#[test]
fn it_is_fused_and_says_what_is_pending() {
    let mut joined = try_join_all([ready(Ok::<_, ()>(1)), ready(Ok(2))]);
    assert!(!joined.is_terminated());
    assert_eq!(format!("{joined:?}"), "TryJoinAll { pending: 2, .. }");
    assert_eq!((&mut joined).now_or_never(), Some(Ok(vec![1, 2])));
    assert!(joined.is_terminated());
    let text = panic_of(|| joined.now_or_never());
    assert!(text.contains("polled again"), "{text}");
}
