//! The worked scenarios of the timing contract.

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};

fn frames(executor: &mut Executor, count: u32, dt: f64) {
    for _ in 0..count {
        executor.run_frame(dt);
    }
}

async fn three_waits(log: Log) {
    log.say("wait for 1s");
    wait_seconds(1).await;
    log.say("wait for 2s");
    wait_seconds(2).await;
    log.say("wait for 3s");
    wait_seconds(3).await;
    log.say("Final");
}

// docs/contract.md#scenario-1
#[test]
fn scenario_1_waits_one_after_another() {
    let mut executor = unclamped();
    let log = Log::new();
    executor.start(three_waits(log.clone()));
    frames(&mut executor, 12, 0.5);
    log.check(&[
        "F0: wait for 1s",
        "F2: wait for 2s",
        "F6: wait for 3s",
        "F12: Final",
    ]);
}

// docs/contract.md#scenario-1
#[test]
fn scenario_1_with_long_frames_takes_a_frame_for_each_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    executor.start(three_waits(log.clone()));
    frames(&mut executor, 3, 10.0);
    log.check(&[
        "F0: wait for 1s",
        "F1: wait for 2s",
        "F2: wait for 3s",
        "F3: Final",
    ]);
}

// docs/contract.md#scenario-2
#[test]
fn scenario_2_the_joiner_continues_in_the_frame_in_which_the_inner_one_ends() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        say.say("Logic out");
        let log = say.clone();
        start(async move {
            for i in 0..5 {
                wait_seconds(1).await;
                log.say(format_args!("Coroutine inner {i}"));
            }
        })
        .await
        .unwrap();
        wait_seconds(3).await;
        say.say("Logic out end");
    });
    frames(&mut executor, 8, 1.0);
    log.check(&[
        "F0: Logic out",
        "F1: Coroutine inner 0",
        "F2: Coroutine inner 1",
        "F3: Coroutine inner 2",
        "F4: Coroutine inner 3",
        "F5: Coroutine inner 4",
        "F8: Logic out end",
    ]);
}

// docs/contract.md#scenario-3
#[test]
fn scenario_3_two_coroutines_side_by_side_and_one_nested() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let log = say.clone();
        start(async move {
            for i in 0..5 {
                log.say(i);
                wait_seconds(1).await;
            }
            log.say("Foo2 Finished!");
        })
        .await
        .unwrap();
        say.say("Foo Finished!");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds(2).await;
        say.say("Bar Finished!");
    });
    frames(&mut executor, 10, 0.75);
    log.check(&[
        "F0: 0",
        "F2: 1",
        "F3: Bar Finished!",
        "F4: 2",
        "F6: 3",
        "F8: 4",
        "F10: Foo2 Finished!",
        "F10: Foo Finished!",
    ]);
}

// docs/contract.md#scenario-4
#[test]
fn scenario_4_a_frame_between_two_lines() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        say.say("Test 1");
        next_frame().await;
        say.say("Test 2");
        next_frame().await;
        say.say("Test 3");
        next_frame().await;
        say.say("Test 4");
    });
    frames(&mut executor, 4, 0.25);
    log.check(&["F0: Test 1", "F1: Test 2", "F2: Test 3", "F3: Test 4"]);
}

// docs/contract.md#scenario-5
#[test]
fn scenario_5_a_nested_coroutine_begins_and_ends_within_the_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        say.say("1a");
        next_frame().await;
        say.say("1b");
        let log = say.clone();
        start(async move {
            log.say("2a");
            next_frame().await;
            log.say("2b");
            next_frame().await;
            log.say("2c");
        })
        .await
        .unwrap();
        say.say("1c");
    });
    frames(&mut executor, 4, 0.25);
    log.check(&["F0: 1a", "F1: 1b", "F1: 2a", "F2: 2b", "F3: 2c", "F3: 1c"]);
}

// docs/contract.md#scenario-6
#[test]
fn scenario_6_a_nested_coroutine_without_a_wait_costs_no_frame() {
    let executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        say.say("p1");
        let log = say.clone();
        start(async move { log.say("Hello") }).await.unwrap();
        say.say("p2");
    });
    log.check(&["F0: p1", "F0: Hello", "F0: p2"]);
    assert!(parent.is_finished());
}

// docs/contract.md#scenario-7
#[test]
fn scenario_7_the_joiner_continues_in_the_phase_in_which_the_child_ends() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let log = say.clone();
        start(async move {
            log.say("c0");
            end_of_frame().await;
            log.say("c1");
        })
        .await
        .unwrap();
        say.say("p");
        next_frame().await;
        say.say("p2");
    });
    frames(&mut executor, 2, 0.25);
    log.check(&["F0: c0", "F1.EndOfFrame: c1", "F1.EndOfFrame: p", "F2: p2"]);
}

// docs/contract.md#scenario-9
#[test]
fn scenario_9_stopping_the_child_resumes_the_parent_with_an_error() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, child_log) = (log.clone(), log.clone());
    let child = executor.start(async move {
        child_log.say("c0");
        wait_seconds(1).await;
        child_log.say("c1");
    });
    let id = child.id();
    executor.start(async move {
        let error = child.await.unwrap_err();
        assert!(error.is_stopped());
        say.say("p: stopped");
    });
    executor.run_frame(0.5);
    assert!(executor.stop(id));
    log.check(&["F0: c0"]);
    frames(&mut executor, 3, 0.5);
    log.check(&["F2: p: stopped"]);
}

// docs/contract.md#scenario-9
#[test]
fn scenario_9_stopping_the_parent_leaves_the_child_alone() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, child_log) = (log.clone(), log.clone());
    let child = executor.start(async move {
        child_log.say("c0");
        wait_seconds(1).await;
        child_log.say("c1");
    });
    let parent = executor.start(async move {
        child.await.unwrap();
        say.say("p");
    });
    executor.run_frame(0.5);
    assert!(parent.stop());
    frames(&mut executor, 3, 0.5);
    log.check(&["F0: c0", "F2: c1"]);
}
