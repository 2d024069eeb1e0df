//! Names of any characters, hooks that do anything, and thousands of scripts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;
use framestep_timeline::{Film, Recorder};

use crate::support::recorded;

const NAMES: [&str; 8] = [
    "<script>alert(\"&'\")</script>]]>",
    "\u{0}\u{1}\u{8}\t\r\n\u{1f}\u{7f}\u{85}",
    "\u{202e}\u{2066}right to left\u{200f}",
    "\u{fffe}\u{ffff}\u{feff}\u{200b}",
    "勇者のドラゴン 🐉👨‍👩‍👧",
    "",
    "   ",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
];

fn film_of(names: &[String]) -> Film {
    let (mut executor, recorder) = recorded();
    let mut owners = Vec::new();
    for name in names {
        let owner = executor.owner().named(name.clone());
        let signal = Signal::<()>::new().named(name.clone());
        let waits = signal.clone();
        owner
            .script(name.clone())
            .start(async move { waits.wait().await });
        owner.script(name.clone()).start(async move {
            next_frame().await;
            signal.emit(());
        });
        owners.push(owner);
    }
    executor.run_frames(3, 0.25);
    recorder.film()
}

#[test]
fn names_of_any_characters_are_shown_and_break_nothing() {
    let names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    let film = film_of(&names);
    let svg = film.svg().title(NAMES[0]).to_string();
    let document = roxmltree::Document::parse(&svg).expect("the picture is XML");
    let text: String = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    assert!(text.contains("<script>alert"));
    assert!(text.contains("\\u{202e}"));
    assert!(text.contains("ドラゴン"));
    for hidden in ['\u{202e}', '\u{0}', '\u{feff}', '\u{2066}', '\u{85}'] {
        assert!(!svg.contains(hidden), "{hidden:?}");
        assert!(!film.diagram().to_string().contains(hidden), "{hidden:?}");
        assert!(
            !film.at(0).unwrap().to_string().contains(hidden),
            "{hidden:?}"
        );
    }
    assert!(!film.perfetto().is_empty());
    let read: Film = serde_json::from_str(&serde_json::to_string(&film).unwrap()).unwrap();
    assert_eq!(read, film);
}

#[test]
fn very_long_names_are_cut() {
    let long = "long ".repeat(200_000);
    let film = film_of(&[long.clone(), format!("{long}!"), "ü".repeat(1_000_000)]);
    assert!(film.svg().to_string().len() < 100_000);
    assert!(film.perfetto().len() < 100_000);
    assert!(
        film.diagram()
            .to_string()
            .lines()
            .all(|line| line.chars().count() < 60)
    );
    assert!(serde_json::to_string(&film).unwrap().len() < 100_000);
}

#[test]
fn a_stopwatch_may_panic() {
    let mut executor = Executor::new();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |report| {
        assert!(matches!(report, Report::HookPanicked { .. }), "{report}");
        count.set(count.get() + 1);
    });
    let calls = Cell::new(0);
    let recorder = Recorder::new().stopwatch(move || {
        calls.set(calls.get() + 1);
        assert!(calls.get() != 3, "the stopwatch is broken");
        Duration::from_micros(calls.get())
    });
    recorder.watch(&executor);
    executor.script("a").start(wait_frames(2));
    executor.run_frames(4, 0.25);
    assert_eq!(reports.get(), 1);
    assert_eq!(recorder.film().scripts(), 1);
    assert!(!recorder.film().perfetto().is_empty());
}

#[test]
fn a_stopwatch_may_run_backwards() {
    let mut executor = Executor::new();
    let now = Cell::new(1_000_000);
    let recorder = Recorder::new().stopwatch(move || {
        now.set(now.get() - 1);
        Duration::from_nanos(now.get())
    });
    recorder.watch(&executor);
    executor.script("a").start(wait_frames(2));
    executor.run_frames(4, 0.25);
    assert!(!recorder.film().perfetto().is_empty());
    assert!(recorder.film().svg().to_string().contains("took 0 ns"));
}

#[test]
fn a_hook_may_start_scripts_read_the_recorder_and_panic() {
    let mut executor = Executor::new();
    executor.on_report(|_| ());
    let recorder = Recorder::new();
    let copy = recorder.clone();
    let handle = executor.handle();
    let started = Cell::new(0);
    executor.on_full_trace(move |event| {
        copy.record(event);
        assert!(copy.film().events() <= copy.len());
        if started.get() < 20 {
            started.set(started.get() + 1);
            handle.spawn(wait_frames(1));
            assert!(started.get() % 5 != 0, "the hook is broken");
        }
    });
    executor.script("first").start(wait_frames(3));
    executor.run_frames(8, 0.25);
    let film = recorder.film();
    assert_eq!(film.scripts(), 21);
    assert!(!film.svg().to_string().is_empty());
    assert!(!film.perfetto().is_empty());
}

#[test]
fn a_stopwatch_may_use_the_recorder() {
    let slot = Rc::new(RefCell::new(None::<Recorder>));
    let inner = slot.clone();
    let recorder = Recorder::new().stopwatch(move || {
        if let Some(recorder) = &*inner.borrow() {
            assert!(recorder.film().events() <= recorder.len());
        }
        Duration::ZERO
    });
    *slot.borrow_mut() = Some(recorder.clone());
    let mut executor = Executor::new();
    recorder.watch(&executor);
    executor.script("a").start(wait_frames(2));
    executor.run_frames(4, 0.25);
    recorder.film().expect("frame 0 1 2 3 4\na     * - *");
    // The stopwatch holds the recorder, which holds the stopwatch.
    *slot.borrow_mut() = None;
}

#[test]
fn ten_thousand_scripts_in_one_frame() {
    let (mut executor, recorder) = recorded();
    for number in 0..10_000 {
        executor
            .script(format!("script {number}"))
            .start(wait_frames(number % 3 + 1));
    }
    executor.run_frames(4, 0.25);
    let film = recorder.film();
    assert_eq!(film.scripts(), 10_000);
    assert_eq!(film.at(0).unwrap().scripts().len(), 10_000);
    assert_eq!(film.diagram().to_string().lines().count(), 10_001);
    assert!(film.svg().to_string().contains("9,960 of them not shown"));
    assert!(film.difference(&film).is_none());
}
