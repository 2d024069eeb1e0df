//! Start runs now, spawn runs soon: docs/contract.md#rule-9-start-and-spawn

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{PHASES, result_of};

#[test]
fn start_runs_up_to_the_first_wait_before_it_returns() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.start(async move {
        say.say("begins");
        next_frame().await;
        say.say("goes on");
    });
    log.note("start has returned");
    assert!(!coroutine.is_finished());
    executor.run_frame(0.25);
    log.check(&["F0: begins", "start has returned", "F1: goes on"]);
    assert!(coroutine.is_finished());
}

#[test]
fn start_of_a_coroutine_without_a_wait_returns_a_finished_handle() {
    let executor = unclamped();
    let coroutine = executor.start(async { 5 });
    assert!(coroutine.is_finished());
    assert!(!executor.is_alive(coroutine.id()));
    executor.assert_empty();
    assert_eq!(result_of(&executor, coroutine).unwrap(), 5);
}

#[test]
fn spawn_outside_a_run_takes_the_next_update_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.spawn(async move { say.say("runs") });
    assert!(executor.is_alive(coroutine.id()));
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F1: runs"]);

    executor.begin_frame(0.25);
    let say = log.clone();
    executor.spawn(async move { say.say("runs") });
    for phase in [Phase::LateUpdate, Phase::EndOfFrame, Phase::EarlyUpdate] {
        executor.run_phase(phase);
    }
    log.check(&[]);
    executor.run_phase(Phase::Update);
    log.check(&["F2: runs"]);
}

#[test]
fn spawn_in_outside_a_run_takes_the_next_run_of_that_phase() {
    for phase in PHASES {
        let mut executor = framestep::Executor::builder()
            .fixed_delta(0.25)
            .max_delta(1)
            .build();
        let seen = Rc::new(Cell::new(None));
        let see = seen.clone();
        executor
            .script("")
            .in_phase(phase)
            .spawn(async move { see.set(Some((time().frame, time().phase))) });
        assert_eq!(seen.get(), None);
        executor.run_frame(0.25);
        assert_eq!(seen.get(), Some((1, Some(phase))));
    }
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor
        .script("")
        .in_phase(Phase::Custom(9))
        .spawn(async move { say.say("runs") });
    executor.run_frame(0.25);
    log.check(&[]);
    executor.run_phase(Phase::Custom(9));
    log.check(&["F1.Custom(9): runs"]);
}

#[test]
fn spawn_in_a_run_takes_effect_later_in_that_run() {
    for phase in PHASES {
        let mut executor = framestep::Executor::builder()
            .fixed_delta(0.25)
            .max_delta(1)
            .build();
        let log = Log::new();
        let say = log.clone();
        executor.start(async move {
            in_phase(phase).await;
            let log = say.clone();
            spawn(async move {
                assert_eq!(time().phase, Some(phase));
                log.note("spawned");
            });
            say.note("has spawned");
        });
        let say = log.clone();
        executor.start(async move {
            in_phase(phase).await;
            say.note("queued before");
        });
        executor.run_phase(phase);
        log.check(&["has spawned", "queued before", "spawned"]);
    }
}

#[test]
fn spawn_in_another_phase_of_a_run_takes_the_next_run_of_that_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        for phase in [Phase::EarlyUpdate, Phase::LateUpdate] {
            let log = say.clone();
            script("")
                .in_phase(phase)
                .spawn(async move { log.say("spawned") });
        }
        say.say("has spawned");
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: has spawned",
        "F1.LateUpdate: spawned",
        "F2.EarlyUpdate: spawned",
    ]);
}

#[test]
fn spawn_in_the_phase_of_the_run_takes_the_next_run_of_that_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        let log = say.clone();
        script("")
            .in_phase(Phase::Update)
            .spawn(async move { log.say("spawned") });
        say.say("has spawned");
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: has spawned", "F2: spawned"]);
}

#[test]
fn start_within_a_coroutine_runs_at_once_and_nests() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("outer begins");
        let log = say.clone();
        start(async move {
            log.say("inner begins");
            let say = log.clone();
            start(async move { say.say("innermost") });
            log.say("inner waits");
            next_frame().await;
            log.say("inner ends");
        });
        say.say("outer waits");
        next_frame().await;
        say.say("outer ends");
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: outer begins",
        "F1: inner begins",
        "F1: innermost",
        "F1: inner waits",
        "F1: outer waits",
        "F2: inner ends",
        "F2: outer ends",
    ]);
}

#[test]
fn the_methods_of_a_handle_do_the_same_within_a_coroutine() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, handle) = (log.clone(), executor.handle());
    executor.start(async move {
        next_frame().await;
        let log = say.clone();
        handle.spawn(async move { log.say("spawned") });
        let log = say.clone();
        handle.start(async move { log.say("started") });
        let log = say.clone();
        handle
            .script("")
            .in_phase(Phase::LateUpdate)
            .spawn(async move { log.say("spawned in a phase") });
        say.say("has done all");
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1: started",
        "F1: has done all",
        "F1: spawned",
        "F1.LateUpdate: spawned in a phase",
    ]);
}

#[test]
fn what_is_spawned_in_a_run_may_spawn_in_the_same_run() {
    fn generation(log: Log, n: u32) {
        if n < 4 {
            spawn(async move {
                log.say(n);
                generation(log.clone(), n + 1);
            });
        }
    }
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        generation(say, 0);
    });
    executor.run_frame(0.25);
    log.check(&["F1: 0", "F1: 1", "F1: 2", "F1: 3"]);
}

#[test]
fn current_is_the_innermost_coroutine() {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    let outer = executor.spawn(async move {
        see.borrow_mut().push(current());
        let inner_see = see.clone();
        let inner = start(async move { inner_see.borrow_mut().push(current()) });
        see.borrow_mut().push(inner.id());
        see.borrow_mut().push(current());
        next_frame().await;
        see.borrow_mut().push(current());
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    let seen = seen.borrow();
    assert_eq!(seen.len(), 5);
    assert_eq!(seen[0], outer.id());
    assert_eq!(seen[1], seen[2]);
    assert_ne!(seen[1], seen[0]);
    assert_eq!(seen[3], outer.id());
    assert_eq!(seen[4], outer.id());
}

#[test]
fn dropping_a_handle_detaches_its_coroutine() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    drop(executor.start(async move {
        next_frame().await;
        say.say("runs");
    }));
    let say = log.clone();
    drop(executor.spawn(async move { say.say("runs as well") }));
    assert_eq!(executor.len(), 2);
    executor.run_frame(0.25);
    log.check(&["F1: runs as well", "F1: runs"]);
}

#[test]
fn forgetting_a_handle_is_detaching_it() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    std::mem::forget(executor.start(async move {
        next_frame().await;
        say.say("runs");
    }));
    executor.run_frame(0.25);
    log.check(&["F1: runs"]);
}

#[test]
fn the_output_of_a_detached_coroutine_is_dropped() {
    let mut executor = unclamped();
    let log = Log::new();
    let output = log.on_drop("output");
    drop(executor.start(async move {
        next_frame().await;
        output
    }));
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["output"]);
}

#[test]
fn the_output_waits_in_the_handle_until_it_is_joined_or_dropped() {
    let mut executor = unclamped();
    let log = Log::new();
    let (a, b) = (log.on_drop("a"), log.on_drop("b"));
    let a = executor.start(async move { a });
    let b = executor.start(async move { b });
    executor.run_frame(0.25);
    log.check(&[]);
    drop(a);
    log.check(&["a"]);
    let b = result_of(&executor, b).unwrap();
    log.check(&[]);
    drop(b);
    log.check(&["b"]);
}
