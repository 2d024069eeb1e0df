//! `promise`: one value that is sent once.

use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep::prelude::*;
use futures::FutureExt;
use futures::future::FusedFuture;

use framestep_testkit::timeline::{Timeline, unclamped};

#[test]
fn a_promise_kept_by_a_script_continues_another_later_in_the_same_run() {
    let mut timeline = Timeline::with_dt(0.25);
    let (answer, answered) = promise();
    timeline.row("asks", |mark| async move {
        assert_eq!(answered.await, Ok("yes"));
        mark.hit();
    });
    timeline.row("answers", |mark| async move {
        wait_frames(2).await;
        answer.send("yes").unwrap();
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3
        asks    - - *
        answers - - *
        ",
    );
}

#[test]
fn one_that_is_kept_already_takes_no_wait() {
    let executor = unclamped();
    let (answer, answered) = promise();
    answer.send(1).unwrap();
    let script = executor.start(answered);
    assert_eq!(script.take_output().unwrap().unwrap(), Ok(1));
}

#[test]
fn one_that_nobody_can_keep_any_more_ends_with_an_error() {
    let mut executor = unclamped();
    let (answer, answered) = promise::<u32>();
    let asks = executor.start(answered);
    let answers = executor.start(async move {
        wait_seconds(60).await;
        answer.send(1)
    });
    answers.stop();
    assert_eq!(executor.run_until(asks, 0.25).unwrap(), Err(Canceled));
    assert_eq!(executor.time().frame, 1);
}

#[test]
fn the_value_of_one_that_nobody_awaits_comes_back() {
    let (answer, answered) = promise();
    assert!(!answer.is_canceled());
    drop(answered);
    assert!(answer.is_canceled());
    assert_eq!(answer.send("yes"), Err("yes"));
}

#[test]
fn a_script_that_computes_an_answer_resumes_when_nobody_awaits_it_any_more() {
    let mut timeline = Timeline::with_dt(0.25);
    let (mut answer, answered) = promise::<u32>();
    timeline.row("asks", |mark| async move {
        assert!(timeout(0.5, answered).await.is_err());
        mark.hit();
    });
    timeline.row("computes", |mark| async move {
        poll_fn(|cx| answer.poll_canceled(cx)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame    0 1 2 3
        asks     - - *
        computes - - *
        ",
    );
}

#[test]
fn a_host_may_look_whether_it_is_kept() {
    let (answer, mut answered) = promise();
    assert_eq!(answered.try_take(), Ok(None));
    assert!(!answered.is_terminated());
    answer.send(1).unwrap();
    assert_eq!(answered.try_take(), Ok(Some(1)));
    assert!(answered.is_terminated());
    assert_eq!(answered.try_take(), Err(Canceled));
    let (answer, mut answered) = promise::<u32>();
    drop(answer);
    assert_eq!(answered.try_take(), Err(Canceled));
}

#[test]
fn the_error_is_a_sentence() {
    let canceled: Box<dyn Error + Send + Sync> = Box::new(Canceled);
    let sentence = "the promise was cancelled: its resolver will send no value";
    assert_eq!(canceled.to_string(), sentence);
}

#[test]
fn a_select_of_futures_returns_the_error_of_one_that_was_cancelled_before_its_first_poll() {
    let (answer, mut answered) = promise::<u32>();
    drop(answer);
    assert!(!answered.is_terminated());
    let executor = unclamped();
    let script = executor.start(async move {
        futures::select_biased! {
            answer = answered => answer,
            () = wait_seconds(1) => Ok(1),
        }
    });
    assert_eq!(script.take_output().unwrap().unwrap(), Err(Canceled));
}

#[test]
fn one_that_has_returned_its_value_refuses_another_poll() {
    let (answer, mut answered) = promise();
    answer.send(1).unwrap();
    assert_eq!((&mut answered).now_or_never(), Some(Ok(1)));
    assert!(answered.is_terminated());
    let again = catch_unwind(AssertUnwindSafe(|| (&mut answered).now_or_never())).unwrap_err();
    let text = again.downcast_ref::<String>().unwrap();
    assert_eq!(text, "`promise()` was polled again after it had finished");
}

#[test]
fn another_thread_may_keep_it() {
    let mut executor = unclamped();
    let (answer, answered): (Resolver<u32>, Promise<u32>) = promise();
    let script = executor.start(answered);
    std::thread::spawn(move || answer.send(7))
        .join()
        .unwrap()
        .unwrap();
    assert_eq!(executor.run_until(script, 0.25).unwrap(), Ok(7));
}
