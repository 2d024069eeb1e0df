//! Traces: which coroutine was spawned, resumed and ended, and in which phase.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{State, TraceEvent, TraceKind};
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, result_of, update};

/// Writes the events from now on to a log.
fn traced(executor: &Executor) -> Log {
    let log = Log::new();
    let write = log.clone();
    executor.on_trace(move |event| write.note(event));
    log
}

/// An executor without coroutines, whose events are logged.
fn tracing() -> (Executor, Log) {
    let executor = unclamped();
    let log = traced(&executor);
    (executor, log)
}

async fn door() {
    wait_seconds(0.5).await;
}

#[test]
fn events_tell_frame_and_phase_and_who() {
    let (mut executor, log) = tracing();
    executor.start(door()).named("door");
    executor.spawn(async { end_of_frame().await }).named("bell");
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&[
        "frame 0: 0v1 inspect::trace::door spawned",
        "frame 0: 0v1 inspect::trace::door resumed",
        "frame 0: 1v1 inspect::trace::events_tell_frame_and_phase_and_who spawned",
        "frame 1, Update: 1v1 bell resumed",
        "frame 1, EndOfFrame: 1v1 bell resumed",
        "frame 1, EndOfFrame: 1v1 bell finished",
        "frame 2, Update: 0v1 door resumed",
        "frame 2, Update: 0v1 door finished",
    ]);
}

#[test]
fn what_a_script_prints_stands_between_the_events_of_it() {
    let (mut executor, log) = tracing();
    let inner = log.clone();
    let outer = log.clone();
    executor
        .start(async move {
            next_frame().await;
            outer.note("outer begins");
            let child = async move {
                inner.note("inner");
            };
            start(child).await.unwrap();
            outer.note("outer ends");
        })
        .named("outer");
    log.take();
    update(&mut executor, 0.25);
    let lines = log.take();
    let what: Vec<&str> = lines
        .iter()
        .map(|line| line.strip_prefix("frame 1, Update: ").unwrap_or(line))
        .map(|line| line.split("inspect::").next().unwrap_or(line).trim_end())
        .collect();
    assert_eq!(
        what,
        [
            "0v1 outer resumed",
            "outer begins",
            "1v1",
            "1v1",
            "inner",
            "1v1",
            "outer ends",
            "0v1 outer finished",
        ],
        "{lines:?}"
    );
}

#[test]
fn each_end_is_traced_with_its_outcome() {
    let (mut executor, log) = tracing();
    executor.start(async {}).named("returns");
    let panics = executor.spawn(async { panic!("on purpose") });
    panics.named("panics");
    let stopped = executor.start(forever()).named("stopped");
    let child = executor.owner();
    child.start(forever()).named("owned");
    let stops_itself = executor.spawn(async {
        stop(current());
        forever().await;
    });
    stops_itself.named("stops itself");
    executor.start(wait_seconds(60)).named("left");
    stopped.stop();
    drop(child);
    update(&mut executor, 0.25);
    drop(executor);
    let ends = log.take().into_iter();
    let ends = ends.filter(|line| !line.ends_with("spawned") && !line.ends_with("resumed"));
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            // Before it was named.
            "frame 0: 0v1 inspect::trace::each_end_is_traced_with_its_outcome finished",
            "frame 0: 1v1 stopped stopped",
            "frame 0: 2v1 owned stopped",
            "frame 1, Update: 0v2 panics panicked",
            "frame 1, Update: 3v1 stops itself stopped",
            "frame 1: 4v1 left stopped",
        ]
    );
}

#[test]
fn ends_outside_of_a_run_are_traced_at_once() {
    let (executor, log) = tracing();
    let owner = executor.owner();
    let ids = [0, 1].map(|_| {
        let coroutine = owner.start(forever()).named("owned");
        coroutine.id()
    });
    log.take();
    executor.stop(ids[1]);
    log.check(&["frame 0: 1v1 owned stopped"]);
    drop(owner);
    log.check(&["frame 0: 0v1 owned stopped"]);
}

#[test]
fn so_is_the_end_of_a_coroutine_that_the_host_starts() {
    let (executor, log) = tracing();
    let ends_in = |start: &dyn Fn(&Executor)| {
        start(&executor);
        let lines = log.take();
        let ends: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.rsplit(' ').next())
            .collect();
        assert_eq!(ends[..2], ["spawned", "resumed"]);
        ends[2..].join(" ")
    };
    assert_eq!(
        ends_in(&|executor| drop(executor.start(async {}))),
        "finished"
    );
    assert_eq!(
        ends_in(&|executor| drop(executor.owner().start(async {}))),
        "finished"
    );
    assert_eq!(
        ends_in(&|executor| executor.enter(|| drop(start(async {})))),
        "finished"
    );
    assert_eq!(
        ends_in(&|executor| drop(executor.start(async { panic!("on purpose") }))),
        "panicked"
    );
    assert_eq!(
        ends_in(&|executor| drop(executor.start(async {
            stop(current());
            forever().await;
        }))),
        "stopped"
    );
    let in_it = |executor: &Executor| drop(executor.start(async { drop(start(async {})) }));
    assert_eq!(ends_in(&in_it), "spawned resumed finished finished");
}

#[test]
fn what_happens_before_the_executor_ends_is_traced_before_that() {
    let executor = unclamped();
    let log = Log::new();
    let write = log.clone();
    executor.on_full_trace(move |event| write.note(&event.kind));
    let signal = Signal::<()>::new().named("bell");
    executor.start(async {});
    let asleep = executor.start(forever());
    log.take();
    asleep.pause();
    log.check(&["paused"]);
    asleep.resume();
    log.check(&["unpaused"]);
    executor.enter(|| signal.emit(()));
    drop(executor);
    log.check(&["emitted bell", "stopped"]);
}

#[test]
fn a_panic_is_traced_and_so_is_what_comes_after_it() {
    let (mut executor, log) = tracing();
    let panics = executor
        .spawn(async { panic!("on purpose") })
        .named("panics");
    executor.start(async { drop(panics.await) }).named("joins");
    executor.spawn(async {}).named("other");
    log.take();
    update(&mut executor, 0.25);
    log.check(&[
        "frame 1, Update: 0v1 panics resumed",
        "frame 1, Update: 0v1 panics panicked",
        "frame 1, Update: 1v1 joins resumed",
        "frame 1, Update: 1v1 joins finished",
        "frame 1, Update: 2v1 other resumed",
        "frame 1, Update: 2v1 other finished",
    ]);
}

#[test]
fn every_way_to_resume_is_traced() {
    let (mut executor, log) = tracing();
    let (sender, receiver) = async_channel::bounded(1);
    let child = executor.start(next_frame()).named("frame");
    executor.start(child).named("join");
    executor.start(wait_seconds(0.25)).named("timer");
    executor.start(wait_frames(1)).named("record");
    executor
        .start(async move { receiver.recv().await })
        .named("woken");
    let paused = executor.start(next_frame()).named("paused");
    paused.pause();
    sender.try_send(()).unwrap();
    log.take();
    update(&mut executor, 0.25);
    paused.resume();
    update(&mut executor, 0.25);
    let resumed = log
        .take()
        .into_iter()
        .filter(|line| line.ends_with("resumed"));
    let who: Vec<String> = resumed
        .map(|line| line.split(' ').nth(4).unwrap().to_owned())
        .collect();
    assert_eq!(who, ["woken", "frame", "join", "record", "timer", "paused"]);
}

#[test]
fn a_hook_that_is_set_later_receives_events_of_earlier_coroutines() {
    let mut executor = unclamped();
    executor.start(door()).named("door");
    update(&mut executor, 0.25);
    let log = traced(&executor);
    update(&mut executor, 0.25);
    log.check(&[
        "frame 2, Update: 0v1 door resumed",
        "frame 2, Update: 0v1 door finished",
    ]);
}

/// Logs the events, and does `react` once, when `name` is resumed.
fn on_resume(executor: &Executor, name: &'static str, react: impl FnOnce() + 'static) -> Log {
    let log = Log::new();
    let write = log.clone();
    let mut react = Some(react);
    executor.on_trace(move |event| {
        write.note(event);
        if matches!(event.kind, TraceKind::Resumed { .. }) && event.name == name {
            if let Some(react) = react.take() {
                react();
            }
        }
    });
    log
}

#[test]
fn a_hook_may_stop_the_coroutine_of_its_event() {
    let mut executor = unclamped();
    let door = executor.start(door()).named("door");
    let (handle, id) = (executor.handle(), door.id());
    let log = on_resume(&executor, "door", move || assert!(handle.stop(id)));
    executor.start(async { drop(door.await) }).named("joins");
    log.take();
    update(&mut executor, 0.5);
    // It is not being polled yet, so it ends at once. A hook does not receive the
    // events that it causes.
    log.check(&[
        "frame 1, Update: 0v1 door resumed",
        "frame 1, Update: 1v1 joins resumed",
        "frame 1, Update: 1v1 joins finished",
    ]);
    executor.assert_empty();
}

#[test]
fn a_hook_may_stop_a_coroutine_that_is_about_to_begin() {
    let executor = unclamped();
    let handle = executor.handle();
    let hook = executor.on_trace(move |event| {
        if matches!(event.kind, TraceKind::Spawned { .. }) {
            assert!(handle.stop(event.id.unwrap()));
        }
    });
    let polled = Rc::new(Cell::new(false));
    let poll = polled.clone();
    let started = executor.start(async move { poll.set(true) });
    assert!(!polled.get());
    assert!(hook.remove());
    assert!(result_of(&executor, started).unwrap_err().is_stopped());
    executor.assert_empty();
}

#[test]
fn a_hook_may_spawn_and_start_and_receives_no_event_of_that() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let spawned = Rc::new(Cell::new(0));
    let count = spawned.clone();
    let log = on_resume(&executor, "door", move || {
        let (one, two) = (count.clone(), count);
        handle.start(async move { one.set(one.get() + 1) });
        spawn(async move { two.set(two.get() + 10) }).named("by the hook");
    });
    executor.spawn(async {}).named("door");
    log.take();
    update(&mut executor, 0.25);
    log.check(&[
        "frame 1, Update: 0v1 door resumed",
        "frame 1, Update: 0v1 door finished",
        "frame 1, Update: 1v2 by the hook resumed",
        "frame 1, Update: 1v2 by the hook finished",
    ]);
    assert_eq!(spawned.get(), 11);
}

#[test]
fn what_a_hook_spawns_has_no_parent_and_no_owner() {
    let executor = unclamped();
    let handle = executor.handle();
    let seen = Rc::new(RefCell::new(None));
    let see = seen.clone();
    let log = on_resume(&executor, "door", move || {
        let id = spawn(forever()).id();
        *see.borrow_mut() = Some((id, handle.snapshot().unwrap()));
    });
    let owner = executor.owner();
    let door = owner.spawn(async { next_frame().await }).named("door");
    let mut executor = executor;
    update(&mut executor, 0.25);
    let (id, during) = seen.borrow_mut().take().unwrap();
    let spawned = during.get(id).unwrap();
    assert_eq!((spawned.owner(), spawned.state()), (None, State::Ready));
    assert_eq!(during.get(door.id()).unwrap().state(), State::Running);
    log.take();
}

#[test]
fn a_hook_that_panics_breaks_nothing() {
    let mut executor = unclamped();
    let told = Rc::new(Cell::new(0));
    let count = told.clone();
    executor.on_trace(move |_| {
        count.set(count.get() + 1);
        panic!("on purpose");
    });
    let done = executor.start(async {
        next_frame().await;
        start(next_frame()).await.unwrap();
    });
    executor.run_until(done, 0.25).unwrap();
    assert_eq!(executor.time().frame, 2);
    // Spawned, resumed and ended, each of two resumed twice; then `run_until`'s.
    assert!(told.get() >= 8, "{}", told.get());
}

#[test]
fn a_hook_that_keeps_what_keeps_its_executor_is_let_go_with_it() {
    let executor = unclamped();
    let guard = Rc::new(());
    let (kept, coroutine) = (guard.clone(), executor.start(forever()));
    executor.on_trace(move |_| {
        let _ = (&kept, &coroutine);
    });
    drop(executor);
    assert_eq!(Rc::strong_count(&guard), 1);
}

#[test]
fn one_that_is_about_to_begin_is_ready() {
    let executor = unclamped();
    let handle = executor.handle();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    executor.on_trace(move |event| {
        let snapshot = handle.snapshot().unwrap();
        see.borrow_mut()
            .push(snapshot.get(event.id.unwrap()).unwrap().state());
    });
    executor.start(forever());
    assert_eq!(*seen.borrow(), [State::Ready, State::Running]);
}

#[test]
fn events_can_be_read_as_values() {
    let executor = unclamped();
    let events = Rc::new(RefCell::new(Vec::<TraceEvent>::new()));
    let write = events.clone();
    executor.on_trace(move |event| write.borrow_mut().push(event.clone()));
    let id = executor.start(async {}).id();
    let events = events.borrow();
    let what: Vec<TraceKind> = events.iter().map(|event| event.kind.clone()).collect();
    assert!(matches!(
        what[..],
        [
            TraceKind::Spawned { .. },
            TraceKind::Resumed { .. },
            TraceKind::Ended(_)
        ]
    ));
    assert!(
        events
            .iter()
            .all(|event| event.id == Some(id) && event.phase.is_none())
    );
    assert_eq!(TraceKind::Ended(Outcome::Stopped).to_string(), "stopped");
}

#[test]
fn a_hook_that_pauses_the_coroutine_of_a_resumed_event_prevents_the_poll() {
    let mut executor = unclamped();
    let handle = executor.handle();
    executor.on_trace(move |event| {
        if matches!(event.kind, TraceKind::Resumed { .. }) && event.frame == 1 {
            handle.pause(event.id.unwrap());
        }
    });
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    let script = executor.spawn(async move {
        count.set(1);
        next_frame().await;
        count.set(2);
    });
    executor.run_frame(0.25);
    assert!(script.is_paused());
    assert_eq!(polls.get(), 0);
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 0);
    script.resume();
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
}

#[test]
fn a_hook_that_resumes_an_owner_while_something_starts_on_it_loses_no_start() {
    let mut executor = unclamped();
    let owner = Rc::new(executor.owner());
    let resumes = owner.clone();
    executor.on_trace(move |event| {
        if matches!(event.kind, TraceKind::Spawned { .. }) {
            resumes.resume();
        }
    });
    owner.pause();
    executor.remote().spawn(|| async {});
    let script = owner.start(next_frame());
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert!(script.is_finished());
}

#[test]
fn messages_from_other_threads_are_taken_over_when_a_run_begins_and_not_by_a_start() {
    let mut executor = unclamped();
    let paused = executor.owner();
    paused.pause();
    let remote = executor.remote();
    let events = Rc::new(RefCell::new(Vec::new()));
    let log = events.clone();
    executor.on_trace(move |event| {
        if matches!(event.kind, TraceKind::Spawned { .. }) && event.name.contains("remote") {
            log.borrow_mut().push((event.frame, event.phase));
        }
    });
    executor.start(async move {
        end_of_frame().await;
        remote.spawn(|| async {});
        drop(paused.start(async {}));
    });
    executor.run_frame(0.25);
    assert!(events.borrow().is_empty());
    executor.run_frame(0.25);
    assert_eq!(*events.borrow(), [(2, None)]);
}
