//! The lines of waits: a snapshot shows the line of the `.await`, in the user's code.

#![expect(
    clippy::redundant_async_block,
    reason = "the line of the `.await` is what is tested"
)]

use std::cell::RefCell;
use std::future::{poll_fn, ready};
use std::panic::Location;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{CoroutineInfo, Report};
use framestep::prelude::*;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;

use framestep_testkit::combinators::{COMBINATORS, Combinator};
use framestep_testkit::timeline::UNLIMITED;
use framestep_testkit::waits::{Given, Row, WAITS};

type Local = LocalBoxFuture<'static, ()>;

fn inspecting() -> Executor {
    let builder = Executor::builder().max_delta(UNLIMITED).inspect(true);
    builder.build()
}

/// What it waits for, each with its line in this file.
fn waits(coroutine: &CoroutineInfo) -> Vec<(String, Option<u32>)> {
    let waits = coroutine.waits_at().map(|(wait, at)| {
        let at = at.inspect(|at| assert_eq!(at.file(), file!()));
        (wait.to_string(), at.map(Location::line))
    });
    waits.collect()
}

/// Starts a script, and checks that it waits for these, all at `line`.
#[track_caller]
fn expect(line: u32, script: impl Future + 'static, expected: &[&str]) {
    let executor = inspecting();
    let script = executor.start(async move {
        script.await;
    });
    let snapshot = executor.snapshot();
    let expected: Vec<_> = expected
        .iter()
        .map(|&wait| (wait.to_owned(), Some(line)))
        .collect();
    assert_eq!(waits(snapshot.get(script.id()).unwrap()), expected);
}

/// What a script waits for that is awaited in a line of a table, with file and line.
fn shown(executor: &Executor, script: Local) -> Vec<(String, Option<String>)> {
    let script = executor.start(script);
    let snapshot = executor.snapshot();
    let waits = snapshot.get(script.id()).unwrap().waits_at();
    let place = |at: &Location<'_>| format!("{}:{}", at.file(), at.line());
    let waits = waits.map(|(wait, at)| (wait.to_string(), at.map(place)));
    waits.collect()
}

#[test]
fn of_each_wait_is_that_of_its_await() {
    for row in WAITS {
        let executor = inspecting();
        let given = Given::new(&executor.handle()).named();
        let shown = shown(&executor, (row.awaited)(given));
        let texts: Vec<&String> = shown.iter().map(|(text, _)| text).collect();
        assert_eq!(texts, row.shown, "{} of {}", row.call, row.of);
        let Some(line) = row.line else { continue };
        let line = Some(format!("{}:{line}", Row::FILE));
        // Something that has the waker has no line.
        let mut with_lines = shown.iter().filter(|(text, _)| text != "a wake");
        assert!(
            with_lines.all(|(_, at)| *at == line),
            "{} of {}: {shown:?}",
            row.call,
            row.of
        );
    }
}

#[test]
#[rustfmt::skip]
fn of_waits_for_sources_without_a_name() {
    let (bell, health) = (Signal::<u8>::new(), Watch::new(9));
    let wait = bell.wait();
    expect(line!(), async { wait.await }, &["a wake"]);
    let wait = health.changed();
    expect(line!(), async { wait.await }, &["a wake"]);
}

#[test]
fn of_waits_inside_combinators_is_that_of_the_combinator() {
    for row in COMBINATORS {
        let Some(ours) = &row.ours else { continue };
        let line = format!("{}:{}", Combinator::FILE, ours.line);
        let expected = ours.shown.map(|wait| (wait.to_owned(), Some(line.clone())));
        let mut shown = shown(&inspecting(), (ours.seconds)());
        // It has the waker, too.
        shown.retain(|(text, _)| !(row.waits_for_wakes && text == "a wake"));
        assert_eq!(shown, expected, "{}", row.name);
    }
}

async fn opens() -> u32 {
    let line = line!() + 1;
    wait_seconds(1).await;
    line
}

#[test]
fn in_an_async_fn_is_the_line_in_that_function() {
    let mut executor = inspecting();
    let script = executor.start(async { opens().await });
    let snapshot = executor.snapshot();
    let waits = waits(snapshot.get(script.id()).unwrap());
    let line = executor.run_until(script, 0.25).unwrap();
    assert_eq!(waits, [("1s, until 1s".to_owned(), Some(line))]);
}

#[test]
fn a_wait_of_another_crate_has_none() {
    let executor = inspecting();
    let (_sender, receiver) = oneshot::channel::<()>();
    let script = executor.start(receiver);
    let snapshot = executor.snapshot();
    let waits = waits(snapshot.get(script.id()).unwrap());
    assert_eq!(waits, [("a wake".to_owned(), None)]);
}

#[test]
fn of_a_wait_that_is_a_coroutine_itself_is_that_of_the_start() {
    let executor = inspecting();
    let (script, line) = (executor.start(wait_seconds(1)), line!());
    let snapshot = executor.snapshot();
    let waits = waits(snapshot.get(script.id()).unwrap());
    assert_eq!(waits, [("1s, until 1s".to_owned(), Some(line))]);
}

#[test]
fn without_inspection_there_is_none() {
    let executor = Executor::new();
    let script = executor.start(async { wait_seconds(1).await });
    let snapshot = executor.snapshot();
    let waits = waits(snapshot.get(script.id()).unwrap());
    assert_eq!(waits, [("1s, until 1s".to_owned(), None)]);
}

/// A wait that goes on keeps its line while others beside it come and go, and while its
/// coroutine is paused.
#[test]
fn a_wait_keeps_its_line() {
    let mut executor = inspecting();
    let line = line!() + 7;
    let script = executor.start(async {
        let frames = async {
            loop {
                next_frame().await;
            }
        };
        select! { _ = wait_seconds(10) => {}, _ = frames => {} }
    });
    for frame in 0..4 {
        if frame == 2 {
            script.pause();
        }
        let snapshot = executor.snapshot();
        let waits = waits(snapshot.get(script.id()).unwrap());
        let timer = waits.iter().find(|(wait, _)| wait.contains("until"));
        assert_eq!(timer.unwrap().1, Some(line), "frame {frame}: {waits:?}");
        executor.run_frame(0.25);
    }
}

#[test]
#[rustfmt::skip]
fn a_loop_around_a_condition_is_one_wait() {
    let mut executor = inspecting();
    let (script, line) = (executor.start(async { wait_until(|| false).await }), line!());
    for _ in 0..3 {
        executor.run_frame(0.25);
        let snapshot = executor.snapshot();
        let waits = waits(snapshot.get(script.id()).unwrap());
        assert_eq!(waits, [("a condition".to_owned(), Some(line))]);
    }
}

/// Between the lines that a slow poll names is the code that was slow.
#[test]
fn a_slow_poll_is_reported_with_the_lines_around_it() {
    let mut executor = Executor::builder().slow_poll(0).build();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = reports.clone();
    executor.on_report(move |report| {
        if let Report::SlowPoll { from, to, .. } = report {
            let lines = [from, to].map(|at| at.map(Location::line));
            log.borrow_mut().push(lines);
        }
    });
    let first = line!() + 2;
    executor.spawn(async {
        next_frame().await;
        wait_frames(2).await;
        ready(()).await;
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    let expected = [
        [None, Some(first)],
        [Some(first), Some(first + 1)],
        [Some(first + 1), None],
    ];
    assert_eq!(*reports.borrow(), expected);
}

#[test]
fn a_panic_is_reported_with_the_line_from_which_the_script_continued() {
    let mut executor = inspecting();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = reports.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
    let line = line!() + 2;
    drop(executor.spawn(async {
        next_frame().await;
        panic!("on purpose");
    }));
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    let report = &reports.borrow()[0];
    assert!(
        report.contains(&format!("(after the .await at {}:{line}:", file!())),
        "{report}"
    );
}

/// A future that is polled by hand has the line of that poll.
#[test]
fn a_poll_by_hand_has_its_own_line() {
    let executor = inspecting();
    let mut wait = next_frame();
    let line = line!() + 1;
    let script = executor.start(poll_fn(move |cx| wait.poll_unpin(cx)));
    let snapshot = executor.snapshot();
    let at = snapshot
        .get(script.id())
        .unwrap()
        .waits_at()
        .next()
        .unwrap()
        .1;
    // `poll_unpin` is that of futures, and hides it.
    assert!(at.is_none_or(|at| at.line() == line || !at.file().starts_with("tests")));
}
