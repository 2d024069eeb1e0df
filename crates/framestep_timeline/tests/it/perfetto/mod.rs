//! The trace for Perfetto, read back by an independent reader.

mod reader;

use std::cell::Cell;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::Recorder;

use crate::support::{crowd, recorded, scene};
use reader::{Trace, Type};

#[test]
fn scripts_have_tracks_below_their_owners() {
    let trace = Trace::read(&scene().perfetto());
    let process = trace.track("framestep");
    let heroes = trace.track("heroes");
    assert_eq!(trace.tracks[&heroes].parent, process);
    assert_eq!(trace.tracks[&trace.track("hero (0v1)")].parent, heroes);
    assert_eq!(
        trace.tracks[&trace.track("gate (2v1)")].parent,
        trace.track("level")
    );
    assert_eq!(
        trace.tracks[&trace.track("lost (5v1)")].parent,
        trace.track("no owner")
    );
    for name in ["frames", "host", "alive", "polled", "due"] {
        assert_eq!(trace.tracks[&trace.track(name)].parent, process);
    }
}

#[test]
fn slices_are_polls_and_the_waits_between_them() {
    let trace = Trace::read(&scene().perfetto());
    let gate = trace.track("gate (2v1)");
    let slices = trace.slices();
    let gate: Vec<_> = slices
        .iter()
        .filter(|slice| slice.event.track == gate)
        .collect();
    let names: Vec<&str> = gate.iter().map(|slice| slice.event.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "poll",
            "signal lever",
            "poll",
            "the next FixedUpdate",
            "poll",
            "the next EndOfFrame",
            "poll",
            "a permit of keys",
            "poll",
            "1s, until 2.25s",
            "poll",
        ]
    );
    assert!(gate.iter().all(|slice| slice.depth == 0), "{gate:#?}");
    for pair in gate.windows(2) {
        assert!(pair[0].end <= pair[1].event.at);
    }
    let (file, line) = gate[1].event.line.as_ref().unwrap();
    assert!(file.ends_with("support.rs") && *line > 0, "{file}:{line}");
    assert!(gate[1].event.notes["at"].contains("support.rs:"));
    assert_eq!(gate[2].event.notes["resumed by"], "lever");
    assert_eq!(gate[2].event.notes["phase"], "Update");
    assert_eq!(gate[2].event.notes["frame"], "2");
}

#[test]
fn frames_contain_the_runs_of_phases() {
    let trace = Trace::read(&scene().perfetto());
    let frames = trace.track("frames");
    let slices = trace.slices();
    let frames: Vec<_> = slices
        .iter()
        .filter(|slice| slice.event.track == frames)
        .collect();
    let first = frames
        .iter()
        .find(|slice| slice.event.name == "frame 1")
        .unwrap();
    assert_eq!((first.depth, first.event.at), (0, 250_000_000));
    assert_eq!(first.event.notes["game clock"], "250ms");
    let runs = frames.iter().filter(|slice| slice.depth == 1);
    assert!(runs.clone().any(|slice| slice.event.name == "LateUpdate"));
    for run in runs {
        let is_inside = |frame: &&&reader::Slice| {
            frame.depth == 0 && frame.event.at <= run.event.at && run.end <= frame.end
        };
        assert!(frames.iter().any(|frame| is_inside(&frame)), "{run:?}");
    }
}

#[test]
fn flows_lead_from_causes_to_polls() {
    let trace = Trace::read(&scene().perfetto());
    let name = |track: u64| trace.tracks[&track].name.as_str();
    let flows = trace.flows();
    let flows: Vec<(&str, &str, &str)> = flows
        .values()
        .map(|(from, to)| {
            assert_eq!((to.kind, to.name.as_str()), (Type::Begin, "poll"));
            assert_eq!(from.kind, Type::Instant);
            (name(from.track), from.name.as_str(), name(to.track))
        })
        .collect();
    for flow in [
        ("hero (0v1)", "spawns line (1v1)", "line (1v1)"),
        ("line (1v1)", "ends for hero (0v1)", "hero (0v1)"),
        ("hero (0v1)", "wakes gate (2v1) through lever", "gate (2v1)"),
        ("hero (0v1)", "wakes gate (2v1) through keys", "gate (2v1)"),
    ] {
        assert!(flows.contains(&flow), "{flow:?} is missing in {flows:#?}");
    }
    assert_eq!(flows.len(), 4);
}

#[test]
fn signals_of_the_host_are_on_its_track() {
    let trace = Trace::read(&scene().perfetto());
    let host = trace.track("host");
    let events: Vec<&str> = trace
        .events
        .iter()
        .filter(|event| event.track == host && event.category == "signal")
        .map(|event| event.name.as_str())
        .collect();
    assert_eq!(events, ["emits lever"]);
}

#[test]
fn counters_count_each_frame() {
    let (mut executor, recorder) = recorded();
    for _ in 0..3 {
        executor.script("awake").start(async {
            loop {
                next_frame().await;
            }
        });
    }
    let bell = Signal::<()>::new().named("bell");
    let waits = bell.clone();
    let sleeper = executor.script("sleeper").start(async move {
        loop {
            waits.wait().await;
        }
    });
    executor.run_frames(2, 0.25);
    executor.enter(|| bell.emit(())); // is polled in the next frame
    executor.run_frames(2, 0.25);
    executor.stop(sleeper.id());
    let trace = Trace::read(&recorder.film().perfetto());
    let values = |name: &str| -> Vec<u64> {
        let track = trace.track(name);
        let events = trace.events.iter().filter(|event| event.track == track);
        events.map(|event| event.counter).collect()
    };
    assert_eq!(values("alive"), [4, 4, 4, 4, 3]);
    assert_eq!(values("polled"), [4, 3, 3, 4, 3]);
    assert_eq!(values("due"), [4, 3, 4, 4, 3]);
}

#[test]
fn times_are_those_of_the_stopwatch() {
    let now = Cell::new(Duration::from_secs(5));
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch(move || {
        now.set(now.get() + Duration::from_micros(100));
        now.get()
    });
    recorder.watch(&executor);
    executor.script("a").start(wait_frames(2));
    executor.run_frames(3, 0.25);
    let trace = Trace::read(&recorder.film().perfetto());
    let polls: Vec<(u64, u64)> = trace
        .slices()
        .iter()
        .filter(|slice| slice.event.name == "poll")
        .map(|slice| (slice.event.at, slice.end - slice.event.at))
        .collect();
    assert_eq!(polls[0], (5_000_100_000, 100_000));
    assert!(
        polls
            .iter()
            .all(|(at, length)| *at < 5_100_000_000 && *length == 100_000),
        "{polls:?}"
    );
}

#[test]
fn ten_thousand_scripts_are_read_back() {
    let trace = Trace::read(&crowd(40, 250).perfetto());
    assert_eq!(trace.tracks.len(), 10_000 + 40 + 6);
    assert!(trace.slices().len() > 50_000);
    trace.flows();
}

#[test]
fn a_clock_that_stands_still_keeps_the_order() {
    let (mut executor, recorder) = recorded();
    for _ in 0..20 {
        executor.script("a").start(async {
            loop {
                drop(script("b").start(next_frame()).await);
            }
        });
    }
    executor.run_frames(10, 0);
    let trace = Trace::read(&recorder.film().perfetto());
    assert!(trace.slices().len() > 400);
    assert!(trace.flows().len() > 200);
}

#[test]
fn an_empty_film_is_a_valid_trace() {
    let trace = Trace::read(&Recorder::new().film().perfetto());
    assert!(trace.slices().len() <= 1);
}
