//! Names of signals and watches, in snapshots and traces.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Wait;
use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

/// What the coroutine of that name waits for, as a snapshot prints it.
fn waits_of(executor: &Executor, name: &str) -> Vec<String> {
    let snapshot = executor.snapshot();
    let coroutine = snapshot.iter().find(|c| c.name() == name).unwrap();
    coroutine.waits().map(Wait::to_string).collect()
}

#[test]
fn a_snapshot_shows_which_signal_or_watch_each_waits_for() {
    let mut executor = unclamped();
    let opened = Signal::<()>::new().named("opened");
    let health = Watch::new(10).named(String::from("health"));
    let mut events = opened.subscribe();
    executor.start(opened.wait()).named("waits");
    executor.start(health.wait_for(|&h| h < 0)).named("holds");
    executor.start(health.changed()).named("changed");
    executor
        .start(async move { futures::StreamExt::next(&mut events).await })
        .named("subscribed");
    let late = opened.clone();
    executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            select! {
                () = late.wait() => (),
                () = wait_seconds(60) => (),
            }
        })
        .named("late");
    let nameless = Signal::<()>::new();
    executor.start(nameless.wait()).named("nameless");
    executor
        .start(Signal::<()>::new().wait())
        .named("without a signal");
    executor.run_frame(0.25);

    assert_eq!(waits_of(&executor, "waits"), ["signal opened"]);
    assert_eq!(waits_of(&executor, "holds"), ["watch health"]);
    assert_eq!(waits_of(&executor, "changed"), ["watch health"]);
    assert_eq!(waits_of(&executor, "subscribed"), ["signal opened"]);
    assert_eq!(
        waits_of(&executor, "late"),
        [
            "59.75s, until 60s, in LateUpdate",
            "signal opened, in LateUpdate"
        ]
    );
    assert_eq!(waits_of(&executor, "nameless"), ["a wake"]);
    assert_eq!(
        waits_of(&executor, "without a signal"),
        ["nothing (never resumes)"]
    );
    assert_eq!(
        format!("{opened:?} {health:?}"),
        "Signal { name: \"opened\", subscribers: 3, stored: 0, .. } \
         Watch { name: \"health\", value: 10, .. }"
    );
}

#[test]
fn a_wait_that_is_over_or_dropped_is_not_shown() {
    let mut executor = unclamped();
    let opened = Signal::new().named("opened");
    let waits = opened.clone();
    executor
        .start(async move {
            waits.wait().await;
            select! {
                () = waits.wait() => (),
                () = next_frame() => (),
            }
            forever().await;
        })
        .named("hero");
    assert_eq!(waits_of(&executor, "hero"), ["signal opened"]);
    opened.emit(());
    assert!(waits_of(&executor, "hero").is_empty(), "it is ready");
    executor.run_frame(0.25);
    assert_eq!(
        waits_of(&executor, "hero"),
        ["the next frame", "signal opened"]
    );
    executor.run_frame(0.25);
    assert_eq!(waits_of(&executor, "hero"), ["nothing (never resumes)"]);
}

#[test]
fn a_wait_that_outlives_its_executor_is_not_shown() {
    let opened = Signal::<()>::new().named("opened");
    let kept = Rc::new(RefCell::new(opened.wait()));
    let executor = unclamped();
    let polled = kept.clone();
    executor.start(std::future::poll_fn(move |cx| {
        std::pin::Pin::new(&mut *polled.borrow_mut()).poll(cx)
    }));
    drop(executor);
    opened.emit(());
    drop(kept);
    assert!(format!("{opened:?}").contains("subscribers: 0"));
}

#[test]
fn a_trace_shows_which_signal_or_watch_has_woken() {
    let mut executor = unclamped();
    let opened = Signal::new().named("opened");
    let health = Watch::new(10).named("health");
    let trace = Rc::new(RefCell::new(Vec::new()));
    let log = trace.clone();
    executor.on_trace(move |event| log.borrow_mut().push(event.to_string()));

    let (open, watch) = (opened.clone(), health.clone());
    executor
        .start(async move {
            open.wait().await;
            watch.changed().await;
            next_frame().await;
        })
        .named("hero");
    trace.borrow_mut().clear();
    opened.emit(());
    executor.run_frame(0.25);
    health.set(9);
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(
        *trace.borrow(),
        [
            "frame 1, Update: 0v1 hero resumed by opened",
            "frame 2, Update: 0v1 hero resumed by health",
            "frame 3, Update: 0v1 hero resumed",
            "frame 3, Update: 0v1 hero finished",
        ]
    );
}
