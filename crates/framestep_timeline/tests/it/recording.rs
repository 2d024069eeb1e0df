//! The recorder: what it keeps, drops, filters, measures and hashes.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{Film, Filter, Recorder};

use crate::support::{recorded, scene};

#[test]
fn a_full_recorder_drops_the_oldest_frames_and_says_how_many() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().keep_frames(3);
    recorder.watch(&executor);
    executor.script("walker").start(async {
        loop {
            next_frame().await;
        }
    });
    executor.script("sleeper").start(wait_seconds(100));
    executor.run_frames(10, 0.25);

    let film = recorder.film();
    assert_eq!(film.range(), Some(8..=10));
    film.expect("frame   8 9 10\nwalker  * * *\nsleeper - - -");
    assert_eq!(film.dropped().frames, 7);
    assert!(
        film.dropped()
            .to_string()
            .starts_with("7 older frames dropped (")
    );
    assert!(film.svg().to_string().contains("7 older frames dropped"));
    let still = film.at(8).unwrap();
    assert_eq!(still.get("sleeper").unwrap().waits[0].since, 0);
}

#[test]
fn a_frame_with_too_many_events_keeps_its_end() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().keep_events(64);
    recorder.watch(&executor);
    for _ in 0..100 {
        executor.script("walker").start(wait_frames(1_000));
    }
    executor.run_frames(5, 0.25);
    assert_eq!(recorder.len(), 64);
    assert!(recorder.dropped().events > 200);
    assert_eq!(recorder.film().scripts(), 100);
    assert_eq!(recorder.film().range(), Some(0..=5));
}

#[test]
fn the_memory_of_a_full_recorder_does_not_grow() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().keep_events(4_096);
    recorder.watch(&executor);
    let mut sizes = Vec::new();
    for round in 0..40 {
        for number in 0..1_000 {
            executor
                .script(format!("child {number} of round {round}"))
                .start(next_frame());
        }
        executor.run_frames(2, 0.25);
        sizes.push(recorder.bytes());
    }
    let (half, end) = (sizes[20], sizes[39]);
    assert!(end <= half + half / 10, "{sizes:?}");
    assert!(end < 2_000_000, "{end}");
    // Names are still right after their numbers have been used again.
    let film = recorder.film();
    let still = film.clone().frames(78..=79).at(79);
    assert!(film.scripts() > 0 && still.is_some());
    let drawn = film.diagram().to_string();
    assert!(
        drawn
            .lines()
            .skip(1)
            .all(|line| line.contains(" of round 39")),
        "{drawn}"
    );
}

#[test]
fn a_filter_chooses_by_name_and_by_owner() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().only(Filter::new().name("goblin*").owner("cave"));
    recorder.watch(&executor);
    let cave = executor.owner().named("cave");
    let forest = executor.owner().named("forest");
    for owner in [&cave, &forest] {
        for name in ["goblin 1", "wolf"] {
            owner.script(name).start(async {
                loop {
                    next_frame().await;
                }
            });
        }
    }
    let events = |recorder: &Recorder| recorder.len();
    executor.run_frames(3, 0.25);
    recorder.film().expect("frame    0 1 2 3\ngoblin 1 * * * *");
    let before = events(&recorder);
    executor.run_frames(10, 0.25);
    // Each frame: its beginning, a phase, and one script.
    assert!(
        events(&recorder) - before <= 10 * 7,
        "{}",
        events(&recorder) - before
    );
}

#[test]
fn a_name_that_is_set_after_the_first_poll_counts_for_the_filter() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().only(Filter::new().name("boss"));
    recorder.watch(&executor);
    executor.start(wait_frames(2)).named("boss");
    executor.start(wait_frames(2)).named("other");
    let late = executor.start(wait_frames(9));
    executor.run_frames(2, 0.25);
    recorder.film().expect("frame 0 1 2\nboss  * - *");
    drop(late.named("boss"));
    executor.run_frames(8, 0.25);
    assert_eq!(recorder.film().scripts(), 2);
}

#[test]
fn a_recorder_that_begins_late_shows_the_scripts_that_it_sees_polled() {
    let mut executor = Executor::new();
    executor.script("old").start(async {
        loop {
            wait_frames(2).await;
        }
    });
    executor.run_frames(3, 0.25);
    let recorder = Recorder::new();
    recorder.watch(&executor);
    executor.run_frames(3, 0.25);
    let film = recorder.film();
    assert_eq!(film.scripts(), 1);
    film.frames(4..=6).expect("frame 4 5 6\nold   * - *");
}

#[test]
fn equal_runs_have_equal_hashes_whatever_is_kept() {
    let run = |recorder: Recorder, length: f64, owner: &'static str| {
        let mut executor = Executor::new();
        recorder.watch(&executor);
        let owner = executor.owner().named(owner);
        for number in 0..50 {
            owner.script(format!("script {number}")).start(async move {
                loop {
                    wait_seconds(length).await;
                    drop(script("child").start(next_frame()).await);
                }
            });
        }
        executor.run_frames(200, 0.25);
        recorder.hash()
    };
    let hash = run(Recorder::new(), 0.5, "a");
    assert_eq!(run(Recorder::new().keep_frames(2), 0.5, "a"), hash);
    assert_eq!(run(Recorder::new().keep_events(20), 0.5, "a"), hash);
    let ticks = Cell::new(0);
    let stopwatch = move || {
        ticks.set(ticks.get() + 1);
        Duration::from_micros(ticks.get())
    };
    assert_eq!(run(Recorder::new().stopwatch(stopwatch), 0.5, "a"), hash);
    assert_ne!(run(Recorder::new(), 0.75, "a"), hash);
    assert_ne!(run(Recorder::new(), 0.5, "b"), hash);
}

#[test]
fn the_stopwatch_measures_each_poll() {
    let now = Rc::new(Cell::new(Duration::ZERO));
    let stopwatch = now.clone();
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch(move || stopwatch.get());
    recorder.watch(&executor);
    executor.script("glutton").start(async move {
        loop {
            next_frame().await;
            now.set(now.get() + Duration::from_millis(20));
        }
    });
    executor.run_frames(4, 0.25);
    let film = recorder.film();
    assert!(film.svg().to_string().contains("took 20.0 ms"));
    let findings = film.findings();
    assert!(
        findings[0]
            .to_string()
            .starts_with("glutton (0v1) took 20.0 ms in one poll"),
        "{findings:?}"
    );
}

#[test]
fn a_film_can_be_saved_and_loaded() {
    let film = scene();
    let file = serde_json::to_string(&film).unwrap();
    let read: Film = serde_json::from_str(&file).unwrap();
    assert_eq!(read, film);
    assert_eq!(read.hash(), film.hash());
    assert_eq!(read.diagram(), film.diagram());
    assert_eq!(read.svg().to_string(), film.svg().to_string());
    assert_eq!(read.perfetto(), film.perfetto());
}

#[test]
fn a_damaged_file_is_refused_with_a_reason() {
    let file = serde_json::to_value(scene()).unwrap();
    let refuse = |change: fn(&mut serde_json::Value), reason: &str| {
        let mut damaged = file.clone();
        change(&mut damaged);
        let error = serde_json::from_value::<Film>(damaged)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    };
    refuse(
        |film| film["framestep_timeline"] = 2.into(),
        "this film has format 2",
    );
    refuse(
        |film| film["records"][3][3] = 9_999.into(),
        "event 3 refers to script 9999",
    );
    refuse(
        |film| film["records"][3][0] = 200.into(),
        "200 is not a kind of event",
    );
    refuse(
        |film| film["scripts"][1]["name"] = 9_999.into(),
        "script 1 refers to name 9999",
    );
    refuse(
        |film| film["names"] = serde_json::json!([]),
        "the film has no tables",
    );
    refuse(
        |film| film["hidden"] = serde_json::json!([77]),
        "hidden script 0 refers to script 77",
    );
    refuse(
        |film| film["base"]["running"] = serde_json::json!([77]),
        "refers to script 77",
    );
}

#[test]
fn recorders_share_their_memory() {
    let (mut executor, recorder) = recorded();
    let copy = recorder.clone();
    assert!(copy.is_empty());
    executor.script("a").start(next_frame());
    executor.run_frame(0.25);
    assert_eq!(copy.len(), recorder.len());
    assert_eq!(copy.film(), recorder.film());
    assert!(format!("{copy:?} {:?}", copy.film()).contains("dropped"));
}

#[test]
fn two_recorders_record_the_same_run() {
    let (mut executor, first) = recorded();
    let second = Recorder::new();
    let hook = second.watch(&executor);
    executor.script("a").start(wait_frames(3));
    executor.run_frames(4, 0.25);
    assert_eq!(first.hash(), second.hash());
    assert_eq!(first.film(), second.film());
    assert!(hook.remove());
    let before = second.hash();
    executor.script("b").start(next_frame());
    executor.run_frames(2, 0.25);
    assert_eq!(second.hash(), before);
    assert_ne!(first.hash(), before);
}

#[test]
fn a_recorder_that_begins_beside_another_knows_the_frame() {
    let (mut executor, first) = recorded();
    executor.script("a").start(wait_frames(9));
    executor.run_frames(3, 0.25);
    let second = Recorder::new();
    second.watch(&executor);
    executor.script("b").start(next_frame());
    executor.run_frames(2, 0.25);
    assert_eq!(first.film().range(), Some(0..=5));
    assert_eq!(second.film().range(), Some(3..=5));
}
