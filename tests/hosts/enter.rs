//! Inside `enter` the free functions work; outside, the panic message says what
//! to do.

use std::time::Duration;

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of};

#[test]
fn the_free_functions_work_inside_enter() {
    let mut executor = unclamped();
    let log = Log::new();
    executor.run_frame(0.5);
    let id = executor.enter(|| {
        assert_eq!(time().frame, 1);
        assert_eq!(time().elapsed, Duration::from_millis(500));
        assert_eq!(delta_seconds().to_bits(), 0.5_f32.to_bits());
        let say = log.clone();
        start(async move { say.say("started") });
        let say = log.clone();
        spawn(async move { say.say("spawned") });
        let say = log.clone();
        script("")
            .in_phase(Phase::LateUpdate)
            .spawn(async move { say.say("spawned late") });
        let stopped = start(forever());
        assert!(stop(stopped.id()));
        stopped.id()
    });
    assert!(!executor.is_alive(id));
    executor.run_frame(0.25);
    log.check(&[
        "F1.host: started",
        "F2: spawned",
        "F2.LateUpdate: spawned late",
    ]);
}

#[test]
fn enter_returns_what_the_closure_returns() {
    let executor = unclamped();
    assert_eq!(executor.enter(|| "result"), "result");
    assert_eq!(executor.handle().enter(|| "result"), Some("result"));
}

#[test]
fn the_innermost_executor_is_the_one_that_is_entered() {
    let (mut outer, mut inner) = (unclamped(), unclamped());
    outer.run_frame(0.25);
    inner.run_frame(0.25);
    inner.run_frame(0.25);
    outer.enter(|| {
        assert_eq!(time().frame, 1);
        inner.enter(|| {
            assert_eq!(time().frame, 2);
            start(forever());
            outer.enter(|| assert_eq!(time().frame, 1));
            assert_eq!(time().frame, 2);
        });
        assert_eq!(time().frame, 1);
    });
    assert!(outer.is_empty());
    assert_eq!(inner.len(), 1);
}

// docs/contract.md#rule-4-enter
#[test]
fn inside_a_coroutine_of_the_executor_it_changes_nothing() {
    let mut executor = unclamped();
    let (handle, slow) = (executor.handle(), executor.clock().child());
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow).named("owner");
    let script = owner
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            next_frame().await;
            let seen = || (current(), framestep::task::home(), time());
            let outside = seen();
            let started = handle.enter(|| {
                assert_eq!(seen(), outside);
                handle.enter(|| assert_eq!(seen(), outside));
                [start(forever()), spawn(forever())].map(|script| (script.id(), script.home()))
            });
            (started.unwrap(), outside)
        });
    executor.run_frame(0.5);
    let (started, outside) = script.take_output().unwrap().unwrap();
    assert_eq!(outside.2.elapsed, Duration::from_millis(250));
    let snapshot = executor.snapshot();
    for (id, home) in started {
        assert_eq!(home, Some(Phase::LateUpdate));
        assert_eq!(snapshot.get(id).unwrap().owner(), Some("owner"));
    }
    drop(owner);
    executor.assert_empty();
}

// docs/contract.md#rule-4-enter
#[test]
fn inside_a_coroutine_of_another_executor_it_is_a_call_by_the_host() {
    let (mut outer, inner) = (unclamped(), unclamped());
    let handle = inner.handle();
    let home = outer.run_until(late(move || handle.enter(|| spawn(forever()).home())), 0.25);
    assert_eq!(home, Some(Some(Phase::Update)));
    assert_eq!(inner.len(), 1);
}

/// What `f` returns in a coroutine whose home is `LateUpdate`.
async fn late<T: 'static>(f: impl FnOnce() -> T + 'static) -> T {
    script("")
        .in_phase(Phase::LateUpdate)
        .start(async { f() })
        .await
        .unwrap()
}

#[test]
fn a_panic_inside_enter_leaves_it() {
    let executor = unclamped();
    let other = unclamped();
    assert_eq!(
        panic_of(|| executor.enter(|| panic!("on purpose"))),
        "on purpose"
    );
    panic_of(|| spawn(async {}));
    other.enter(|| {
        panic_of(|| executor.enter(|| panic!("on purpose")));
        start(forever());
    });
    assert_eq!(other.len(), 1);
}

#[test]
fn enter_is_not_a_run() {
    let executor = unclamped();
    executor.enter(|| assert_eq!(time().phase, None));
}

/// Checks that a panic message says what to do.
#[track_caller]
fn says_what_to_do(text: &str) {
    let lower = text.to_lowercase();
    assert!(
        lower.contains("executor"),
        "does not name what is missing: {text}"
    );
    assert!(
        ["enter", "spawn", "start"]
            .iter()
            .any(|advice| lower.contains(advice)),
        "does not say what to do: {text}"
    );
    assert!(
        text.split_whitespace().count() > 5,
        "is no sentence: {text}"
    );
}

#[test]
fn a_wait_polled_outside_says_what_to_do() {
    says_what_to_do(&panic_of(|| next_frame().now_or_never()));
    says_what_to_do(&panic_of(|| wait_frames(1).now_or_never()));
    says_what_to_do(&panic_of(|| wait_seconds(1).now_or_never()));
    says_what_to_do(&panic_of(|| wait_seconds_realtime(1).now_or_never()));
    says_what_to_do(&panic_of(|| wait_until(|| true).now_or_never()));
    says_what_to_do(&panic_of(|| wait_while(|| true).now_or_never()));
    says_what_to_do(&panic_of(|| fixed_update().now_or_never()));
    says_what_to_do(&panic_of(|| end_of_frame().now_or_never()));
    says_what_to_do(&panic_of(|| in_phase(Phase::Update).now_or_never()));
}

#[test]
fn a_wait_polled_by_another_runtime_says_what_to_do() {
    says_what_to_do(&panic_of(|| futures::executor::block_on(wait_seconds(1))));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    says_what_to_do(&panic_of(|| runtime.block_on(async { next_frame().await })));
}

#[test]
fn spawning_outside_says_what_to_do() {
    says_what_to_do(&panic_of(|| spawn(async {})));
    says_what_to_do(&panic_of(|| start(async {})));
    says_what_to_do(&panic_of(|| {
        script("").in_phase(Phase::Update).spawn(async {})
    }));
}

#[test]
fn asking_outside_says_what_to_do() {
    says_what_to_do(&panic_of(time));
    says_what_to_do(&panic_of(delta_seconds));
    says_what_to_do(&panic_of(current));
}

#[test]
fn making_a_wait_outside_is_no_misuse() {
    drop(next_frame());
    drop(wait_seconds(1).in_phase(Phase::LateUpdate));
    drop(wait_until(|| true));
}

#[test]
fn an_executor_does_not_stay_entered_after_a_frame() {
    let mut executor = unclamped();
    executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    executor.run_frame(0.25);
    says_what_to_do(&panic_of(time));
}
