//! Full traces: all events, in their order.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{TraceEvent, TraceKind};
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;

/// The events, as text without file and column.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn of(executor: &Executor) -> Self {
        let log = Log::default();
        let lines = log.0.clone();
        executor.on_full_trace(move |event| lines.borrow_mut().push(text(event)));
        log
    }

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        assert_eq!(self.0.take(), expected);
    }
}

fn text(event: &TraceEvent) -> String {
    let text = event.to_string();
    let waits = text.split(" | ");
    let waits = waits.map(|wait| wait.split(", at ").next().expect("the first part"));
    let waits: Vec<_> = waits.collect();
    if event.id.is_some() {
        waits.join(" | ")
    } else {
        text
    }
}

#[test]
fn a_wait_from_begin_to_end() {
    let mut executor = unclamped();
    let log = Log::of(&executor);
    let door = executor.start(async { wait_seconds(0.5).await });
    let door = door.named("door");
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert!(door.is_finished());
    let lines = log.0.take();
    let short: Vec<_> = lines
        .iter()
        .map(|line| line.replace("inspect::full_trace::a_wait_from_begin_to_end", "_"))
        .collect();
    assert_eq!(
        short,
        [
            "frame 0: 0v1 _ spawned",
            "frame 0: 0v1 _ resumed",
            "frame 0: 0v1 _ suspended, waits for 500ms, until 500ms",
            "frame 1: begins, at 250ms",
            "frame 2: begins, at 500ms",
            "frame 2, Update: begins",
            "frame 2, Update: 0v1 door resumed",
            "frame 2, Update: 0v1 door finished",
            "frame 2, Update: ends",
        ]
    );
}

#[test]
fn a_wait_that_began_before_is_seen_once_it_is_polled() {
    let mut executor = unclamped();
    executor
        .start(async {
            select! { _ = wait_frames(9) => {}, _ = next_frame() => {} }
            wait_frames(9).await;
        })
        .named("racer");
    let log = Log::of(&executor);
    executor.run_frame(0.25);
    log.check(&[
        "frame 1: begins, at 250ms",
        "frame 1, Update: begins",
        "frame 1, Update: 0v1 racer resumed",
        "frame 1, Update: 0v1 racer suspended, waits for 9 frames",
        "frame 1, Update: ends",
    ]);
}

#[test]
fn both_waits_of_a_race_are_listed() {
    let mut executor = unclamped();
    let log = Log::of(&executor);
    let racer = async {
        select! { _ = wait_frames(9) => {}, _ = next_frame() => {} }
    };
    executor.spawn(racer).named("racer");
    log.0.take();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&[
        "frame 1: begins, at 250ms",
        "frame 1, Update: begins",
        "frame 1, Update: 0v1 racer resumed",
        "frame 1, Update: 0v1 racer suspended, waits for 9 frames | the next frame",
        "frame 1, Update: ends",
        "frame 2: begins, at 500ms",
        "frame 2, Update: begins",
        "frame 2, Update: 0v1 racer resumed",
        "frame 2, Update: 0v1 racer finished",
        "frame 2, Update: ends",
    ]);
}

#[test]
fn a_condition_that_does_not_hold_is_listed_again() {
    let mut executor = unclamped();
    let log = Log::of(&executor);
    let asked = Cell::new(0);
    let waits = async move {
        wait_until(|| {
            asked.set(asked.get() + 1);
            asked.get() == 2
        })
        .await;
    };
    executor.spawn(waits).named("waits");
    log.0.take();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "frame 1: begins, at 250ms",
        "frame 1, Update: begins",
        "frame 1, Update: 0v1 waits resumed",
        "frame 1, Update: 0v1 waits suspended, waits for a condition",
        "frame 1, Update: ends",
        "frame 2: begins, at 500ms",
        "frame 2, Update: begins",
        "frame 2, Update: 0v1 waits resumed",
        "frame 2, Update: 0v1 waits suspended, waits for a condition",
        "frame 2, Update: ends",
        "frame 3: begins, at 750ms",
        "frame 3, Update: begins",
        "frame 3, Update: 0v1 waits resumed",
        "frame 3, Update: 0v1 waits finished",
        "frame 3, Update: ends",
    ]);
}

#[test]
fn a_signal_says_who_emits_it_and_whom_it_wakes() {
    let mut executor = unclamped();
    let bell = Signal::new().named("bell");
    let ring = bell.clone();
    executor
        .start(async move { bell.wait().await })
        .named("guard");
    executor
        .start(async move {
            next_frame().await;
            ring.emit(1);
        })
        .named("ringer");
    let log = Log::of(&executor);
    executor.run_frame(0.25);
    log.check(&[
        "frame 1: begins, at 250ms",
        "frame 1, Update: begins",
        "frame 1, Update: 1v1 ringer resumed",
        "frame 1, Update: 1v1 ringer emitted bell",
        "frame 1, Update: 0v1 guard woken through bell by 1v1",
        "frame 1, Update: 1v1 ringer finished",
        "frame 1, Update: 0v1 guard resumed by bell",
        "frame 1, Update: 0v1 guard finished",
        "frame 1, Update: ends",
    ]);
}

#[test]
fn pauses_and_wakes_by_the_host() {
    let mut executor = unclamped();
    let (sender, receiver) = futures::channel::oneshot::channel::<()>();
    let waits = executor.start(receiver).named("waits");
    let log = Log::of(&executor);
    waits.pause();
    sender.send(()).unwrap();
    executor.run_frame(0.25);
    waits.resume();
    executor.run_frame(0.25);
    log.check(&[
        "frame 0: 0v1 waits paused",
        "frame 0: 0v1 waits woken",
        "frame 1: begins, at 250ms",
        "frame 1: 0v1 waits unpaused",
        "frame 2: begins, at 500ms",
        "frame 2, Update: begins",
        "frame 2, Update: 0v1 waits resumed",
        "frame 2, Update: 0v1 waits finished",
        "frame 2, Update: ends",
    ]);
}

#[test]
fn a_spawn_says_where_by_whom_and_on_which_owner() {
    let executor = unclamped();
    let spawned = Rc::new(RefCell::new(Vec::new()));
    let log = spawned.clone();
    executor.on_full_trace(move |event| {
        if let TraceKind::Spawned { at, parent, owner } = &event.kind {
            log.borrow_mut()
                .push((at.map(Location::line), *parent, owner.clone()));
        }
    });
    let hall = executor.owner().named("hall");
    let line = line!() + 1;
    let outer = hall.start(async { start(wait_seconds(1)).await });
    let expected = [
        (Some(line), None, Some("hall".into())),
        (Some(line), Some(outer.id()), Some("hall".into())),
    ];
    assert_eq!(*spawned.borrow(), expected);
}

#[test]
fn a_coroutine_that_waits_for_nothing_says_so() {
    let mut executor = unclamped();
    let log = Log::of(&executor);
    executor.spawn(std::future::pending::<()>()).named("never");
    executor.spawn(wait_seconds(f32::INFINITY)).named("forever");
    log.0.take();
    executor.run_frame(0.25);
    log.check(&[
        "frame 1: begins, at 250ms",
        "frame 1, Update: begins",
        "frame 1, Update: 0v1 never resumed",
        "frame 1, Update: 0v1 never suspended, waits for nothing (never resumes)",
        "frame 1, Update: 1v1 forever resumed",
        "frame 1, Update: 1v1 forever suspended, waits for nothing (never resumes)",
        "frame 1, Update: ends",
    ]);
}

#[test]
fn a_wait_is_new_in_the_poll_in_which_it_begins() {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    executor.on_full_trace(move |event| {
        if let TraceKind::Suspended { waits } = &event.kind {
            let new = |wait: &framestep::inspect::Waiting| (wait.wait.to_string(), wait.is_new);
            log.borrow_mut()
                .push(waits.iter().map(new).collect::<Vec<_>>());
        }
    });
    executor.start(async {
        let frames = async {
            next_frame().await;
            next_frame().await;
        };
        join!(wait_frames(9), frames)
    });
    executor.run_frame(0.25);
    let (nine, next) = ("9 frames".to_owned(), "the next frame".to_owned());
    assert_eq!(
        *seen.borrow(),
        [
            [(nine.clone(), true), (next.clone(), true)],
            [(nine, false), (next, true)],
        ]
    );
}

#[test]
fn a_resume_says_from_which_line() {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    executor.on_full_trace(move |event| {
        if let TraceKind::Resumed { from, .. } = event.kind {
            log.borrow_mut().push(from.map(Location::line));
        }
    });
    let line = line!();
    executor.start(async {
        next_frame().await;
        wait_frames(2).await;
        wait_until(|| time().frame == 5).await;
        next_frame().await;
    });
    executor.run_frames(6, 0.25);
    let lines = [2, 3, 4, 4, 5].map(|after| Some(line + after));
    assert_eq!(seen.borrow()[0], None);
    assert_eq!(seen.borrow()[1..], lines);
}

/// A full trace changes no order: the same program makes the same polls.
#[test]
fn a_full_trace_changes_nothing() {
    let run = |is_traced: bool| {
        let mut executor = unclamped();
        if is_traced {
            executor.on_full_trace(|_| ());
        }
        let polls = Rc::new(RefCell::new(Vec::new()));
        for number in 0..20_u32 {
            let log = polls.clone();
            executor.spawn(async move {
                for round in 0..5 {
                    log.borrow_mut().push((number, round, time().frame));
                    match (number + round) % 4 {
                        0 => next_frame().await,
                        1 => wait_seconds(0.3).await,
                        2 => {
                            select! { _ = wait_frames(2) => {}, _ = wait_seconds(0.1) => {} }
                        }
                        _ => {
                            let children = (0..3).map(|_| start(async { end_of_frame().await }));
                            join_all(children.collect::<Vec<_>>()).await;
                        }
                    }
                }
            });
        }
        for _ in 0..12 {
            executor.run_frame(0.1);
        }
        polls.take()
    };
    assert_eq!(run(true), run(false));
}
