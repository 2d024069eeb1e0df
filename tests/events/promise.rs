//! `promise`: one value that is sent once.

use framestep::prelude::*;

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
