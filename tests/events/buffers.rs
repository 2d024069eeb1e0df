//! The table of docs/guide/buffers.md: what is stored, what happens at the limit, and who hears
//! of it. Each row of the page has a row here.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use futures::FutureExt;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

type Heard = Rc<RefCell<Vec<Report>>>;

/// An executor, and what it reports.
fn reporting(executor: Executor) -> (Executor, Heard) {
    let heard = Heard::default();
    let log = heard.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.clone()));
    (executor, heard)
}

/// The first column of the page, without what is not a letter or a word of code, and what shows
/// the row to be true.
const ROWS: &[(&str, fn())] = &[
    (
        "events for `subscribe()` and `wait_for(cond)`",
        events_beyond_the_limit_are_reported_and_counted,
    ),
    ("the event of a `wait()`", the_first_event_of_a_wait_stays),
    (
        "an event of `emit_one`",
        an_event_that_nobody_waits_for_is_returned,
    ),
    (
        "an event of `emit_one` that is refused, or whose coroutine is stopped",
        an_event_that_nobody_takes_is_reported,
    ),
    ("the value of a `Watch`", a_watch_has_its_latest_value),
    ("the answer of a `promise()`", a_promise_has_one_answer),
    (
        "the result of a job of `offload`",
        a_job_has_one_result_or_an_error,
    ),
    ("permits that are granted", a_permit_goes_to_the_next),
    ("the wakes of a coroutine", wakes_are_merged_and_bounded),
    (
        "ticks of an `interval` with `Burst`",
        ticks_that_are_owed_are_reported,
    ),
    (
        "ticks of an `interval` with `Skip` or `Delay`",
        ticks_that_are_skipped_are_counted,
    ),
    (
        "fixed steps that are due",
        steps_and_time_that_are_dropped_are_reported,
    ),
    (
        "messages of a `RemoteHandle`, wakes by other threads",
        messages_after_the_end_are_refused,
    ),
    (
        "spawns, starts and ends in a run",
        spawns_beyond_the_limit_follow,
    ),
    (
        "closures of `with_deferred`, `defer` and `defer_call`",
        closures_wait_for_their_state,
    ),
    (
        "outputs and panics that nobody has read",
        unobserved_outputs_and_panics_go_to_their_hooks,
    ),
    (
        "reports without a hook",
        the_last_report_that_is_printed_says_so,
    ),
];

fn events_beyond_the_limit_are_reported_and_counted() {
    let (executor, heard) = reporting(unclamped());
    let signal = Signal::new();
    let mut events = signal.subscribe();
    for event in 0..1_030 {
        signal.emit(event);
    }
    assert_eq!(events.missed(), 6);
    let first = executor.start(async move { events.next().await });
    assert_eq!(first.take_output().unwrap().unwrap(), Some(6));
    assert!(matches!(
        heard.borrow()[..],
        [Report::EventsMissed {
            missed: 6,
            limit: 1_024,
            ..
        }]
    ));
}

fn the_first_event_of_a_wait_stays() {
    let (mut executor, heard) = reporting(unclamped());
    let signal = Signal::with_limit(1);
    let script = executor.start(signal.wait());
    script.pause();
    for event in 0..1_030 {
        signal.emit(event);
    }
    script.resume();
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), 0);
    assert_eq!(*heard.borrow(), []);
}

fn an_event_that_nobody_waits_for_is_returned() {
    assert_eq!(Signal::new().emit_one(7), Some(7));
}

fn an_event_that_nobody_takes_is_reported() {
    let (executor, heard) = reporting(unclamped());
    let signal = Signal::new();
    let scripts = [0, 1].map(|_| executor.start(signal.wait()));
    assert_eq!(signal.emit_one(7), None);
    for script in scripts {
        assert_eq!(*heard.borrow(), []);
        script.stop();
    }
    assert!(matches!(heard.borrow()[..], [Report::EventUntaken { .. }]));
}

fn a_watch_has_its_latest_value() {
    let watch = Watch::new(0);
    let mut changes = watch.subscribe();
    (1..=9).for_each(|value| watch.set(value));
    assert_eq!(changes.next().now_or_never(), Some(Some(9)));
    assert_eq!(changes.next().now_or_never(), None);
}

fn a_promise_has_one_answer() {
    let (resolver, gone) = promise();
    drop(gone);
    assert_eq!(resolver.send(7), Err(7));
    let (resolver, answer) = promise::<u32>();
    drop(resolver);
    assert_eq!(answer.now_or_never(), Some(Err(framestep::sync::Canceled)));
}

fn a_job_has_one_result_or_an_error() {
    let mut executor = Executor::builder().offload(drop).build();
    let dropped = executor.run_until(async { offload(|| 7).await }, 0.25);
    assert!(dropped.unwrap_err().is_dropped());
    let mut executor = Executor::builder().offload(|job| job()).build();
    executor.start(async { offload(|| 7).await }).stop();
    assert_eq!(
        executor
            .run_until(async { offload(|| 8).await }, 0.25)
            .unwrap(),
        8
    );
}

fn a_permit_goes_to_the_next() {
    let mut executor = unclamped();
    let permits = Semaphore::new(0);
    let [first, second] = [0, 1].map(|_| executor.start(permits.acquire()));
    permits.add(1);
    first.stop();
    executor.run_frame(0.25);
    assert!(second.is_finished());
}

fn wakes_are_merged_and_bounded() {
    let (mut executor, heard) = reporting(unclamped());
    let waker = Rc::new(RefCell::new(None::<Waker>));
    let (put, polls) = (waker.clone(), Rc::new(RefCell::new(0)));
    let count = polls.clone();
    executor.start(std::future::poll_fn(move |cx| {
        *count.borrow_mut() += 1;
        *put.borrow_mut() = Some(cx.waker().clone());
        std::task::Poll::<()>::Pending
    }));
    let waker = waker.take().unwrap();
    for _ in 0..5_000 {
        waker.wake_by_ref();
    }
    executor.run_frame(0.25);
    assert_eq!(*polls.borrow(), 2);
    assert_eq!(*heard.borrow(), []);
    executor.start(async {
        loop {
            yield_now().await;
        }
    });
    executor.run_frame(0.25);
    assert!(matches!(
        heard.borrow()[..],
        [Report::PollLimitReached { polls: 1_000, .. }]
    ));
}

fn ticks_that_are_owed_are_reported() {
    let (mut executor, heard) = reporting(unclamped());
    executor.start(async {
        let mut ticks = interval(0.001);
        loop {
            ticks.tick().await;
        }
    });
    executor.run_frames(10, 0.25);
    assert!(matches!(
        heard.borrow()[..],
        [Report::TicksOwed { owed: 249, .. }]
    ));
}

fn ticks_that_are_skipped_are_counted() {
    let mut executor = unclamped();
    let tick = executor.start(async {
        let mut ticks = interval(0.1).missed_ticks(MissedTicks::Skip);
        ticks.tick().await
    });
    executor.run_frame(1);
    assert_eq!(tick.take_output().unwrap().unwrap().skipped, 9);
}

fn steps_and_time_that_are_dropped_are_reported() {
    let (mut executor, heard) = reporting(Executor::builder().max_delta(0.1).build());
    executor.run_frame(1);
    assert!(matches!(
        heard.borrow()[..],
        [Report::TimeDropped { dropped, .. }] if dropped == Duration::from_millis(900)
    ));
    // At ten times the speed, more steps are due than in `max_delta`.
    heard.borrow_mut().clear();
    executor.clock().set_scale(10);
    executor.run_frame(0.1);
    executor.run_frame(0.1);
    let heard = heard.borrow();
    assert!(
        heard
            .iter()
            .all(|report| matches!(report, Report::StepsDropped { .. })),
        "{heard:?}"
    );
    assert!(!heard.is_empty());
}

fn messages_after_the_end_are_refused() {
    let mut executor = unclamped();
    let remote = executor.remote();
    for _ in 0..5_000 {
        assert!(remote.spawn(forever));
    }
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 5_000);
    drop(executor);
    assert!(!remote.spawn(forever) && !remote.call(|| ()));
}

fn spawns_beyond_the_limit_follow() {
    let (mut executor, heard) = reporting(unclamped());
    let spawned = Rc::new(RefCell::new(0));
    let count = spawned.clone();
    executor.spawn(async move {
        for _ in 0..100_010 {
            let count = count.clone();
            spawn(async move { *count.borrow_mut() += 1 });
        }
    });
    executor.run_frame(0.25);
    assert!(matches!(heard.borrow()[..], [Report::Runaway { .. }]));
    executor.run_frame(0.25);
    assert_eq!(*spawned.borrow(), 100_010);
}

fn closures_wait_for_their_state() {
    let (mut executor, heard) = reporting(unclamped());
    let mut calls = 0_u32;
    executor.enter(|| {
        for _ in 0..1_000 {
            assert!(with_deferred(|calls: &mut u32| *calls += 1));
            drop(defer(|calls: &mut u32| *calls += 1));
        }
    });
    executor.lend(&mut calls, |_| ());
    assert_eq!(calls, 2_000);
    assert!(!with_deferred(|calls: &mut u32| *calls += 1));
    assert_eq!(*heard.borrow(), []);
}

fn unobserved_outputs_and_panics_go_to_their_hooks() {
    let (executor, heard) = reporting(unclamped());
    let unobserved = Rc::new(RefCell::new(Vec::new()));
    let log = unobserved.clone();
    executor.on_unobserved(move |output: u32, _| log.borrow_mut().push(output));
    drop(executor.start(async { 7_u32 }));
    drop(executor.start(async { panic!("unobserved") }));
    assert_eq!(*unobserved.borrow(), [7]);
    assert!(matches!(
        heard.borrow()[..],
        [Report::CoroutinePanicked { .. }]
    ));
}

/// `hostile::stderr` and `errors::spawn_errors` read what is printed.
fn the_last_report_that_is_printed_says_so() {
    let mut executor = Executor::new();
    executor.run_frame(f32::NAN);
}

#[test]
fn each_row_of_the_page_about_buffers_is_true() {
    let page = include_str!("../../docs/guide/buffers.md");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let named: Vec<&str> = rows
        .skip(1)
        .map(|row| row.split(" | ").next().unwrap().trim_start_matches("| "))
        .collect();
    let tested: Vec<&str> = ROWS.iter().map(|(row, _)| *row).collect();
    assert_eq!(named, tested);
    for (row, is_true) in ROWS {
        println!("{row}");
        is_true();
    }
}
