//! Five planted faults, each found with the timeline alone. (The example `hunt` shows
//! them in pictures.)

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{FindingKind, Recorder};

use crate::support::recorded;

fn guards(executor: &Executor) {
    for number in 0..30 {
        executor
            .script(format!("guard {number}"))
            .start(async move {
                loop {
                    wait_frames(1 + number % 5).await;
                }
            });
    }
}

/// The only finding: its kind and text.
fn only(recorder: &Recorder) -> (FindingKind, String) {
    let findings = recorder.film().findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(recorder.film().svg().to_string().contains("Look here"));
    (findings[0].kind, findings[0].to_string())
}

/// A text whose places have no columns: `file.rs:12` for `file.rs:12:34`.
fn without_columns(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let end = word.trim_end_matches(|character: char| !character.is_ascii_digit());
        match end.rmatch_indices(':').nth(1) {
            Some(_) => {
                let place = end.rsplit_once(':').map_or(end, |(place, _)| place);
                format!("{place}{}", &word[end.len()..])
            }
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_healthy_game_has_no_findings() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    executor.run_frames(60, 0.25);
    assert_eq!(recorder.film().findings(), []);
    assert!(!recorder.film().svg().to_string().contains("Look here"));
}

#[test]
fn a_signal_that_never_comes_is_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let open = Signal::<()>::new().named("gate.open");
    let waits = line!() + 3;
    executor.script("gate").start(async move {
        wait_frames(3).await;
        open.wait().await;
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::NoSignal);
    let expected = format!(
        "gate (30v1) waits for signal gate.open since frame 3, and nobody has emitted it since \
         ({}:{waits})",
        file!()
    );
    assert_eq!(without_columns(&text), expected);
}

/// The finding about a gate that waits for `gate.open`, and the line after which the lever
/// emits other signals.
fn with_emissions(emitted: &[&str]) -> (String, String) {
    let (mut executor, recorder) = recorded();
    let signal = |name: &&str| Signal::<()>::new().named((*name).to_owned());
    let (wanted, bell) = (signal(&"gate.open"), signal(&"bell"));
    let signals = emitted.iter().map(|name| match *name {
        "bell" => bell.clone(),
        _ => signal(name),
    });
    let signals: Vec<_> = signals.collect();
    executor.script("gate").start(async move {
        wanted.wait().await;
    });
    executor
        .script("ringer")
        .start(async move { bell.wait().await });
    let line = line!() + 2;
    executor.script("lever").start(async move {
        wait_frames(5).await;
        for signal in signals {
            signal.emit(());
        }
    });
    executor.run_frames(30, 0.25);
    let findings = recorder.film().findings();
    assert_eq!(findings[0].kind, FindingKind::NoSignal);
    let text = without_columns(&findings[0].to_string());
    let (_, after) = text.split_once(')').unwrap();
    let (_, after) = after.split_once(')').unwrap();
    (after.to_owned(), format!("{}:{line}", file!()))
}

#[test]
fn a_signal_with_a_similar_name_is_named_beside_the_one_that_never_comes() {
    let (text, line) = with_emissions(&["dusk", "gate.opened", "bell"]);
    let expected = format!("; lever (2v1) emitted gate.opened in frame 5 after {line}");
    assert_eq!(text, expected);
}

#[test]
fn signals_that_nobody_waits_for_are_named_if_none_is_similar() {
    let (text, line) = with_emissions(&["dawn", "dusk", "noon", "bell"]);
    let expected = format!(
        "; lever (2v1) emitted noon in frame 5 after {line}, \
         lever (2v1) emitted dusk in frame 5 after {line}, for which no script waits"
    );
    assert_eq!(text, expected);
    assert_eq!(with_emissions(&["bell"]).0, "");
}

#[test]
fn an_emission_shows_the_line_after_which_it_was_made() {
    let (mut executor, recorder) = recorded();
    let bell = Signal::<()>::new().named("bell");
    let (at_once, later) = (line!() + 1, line!() + 3);
    executor.script("ringer").start(async move {
        bell.emit(());
        wait_until(|| time().frame == 3).await;
        bell.emit(());
    });
    executor.run_frames(5, 0.25);
    let svg = recorder.film().svg().to_string();
    let shown: Vec<String> = svg
        .split("ringer (0v1) emits bell\n")
        .skip(1)
        .map(|rest| without_columns(&rest.lines().nth(1).unwrap().replace("</title>", " <")))
        .collect();
    let expected = [at_once, later].map(|line| format!("after {}:{line}", file!()));
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].starts_with(&expected[0]), "{shown:?} {expected:?}");
    assert!(shown[1].starts_with(&expected[1]), "{shown:?} {expected:?}");
}

/// A boat that a menu pauses in frame 7. What happens to the menu then, and what the
/// finding says about it.
fn paused_by(menu: impl Future<Output = ()> + 'static, stop: bool) -> String {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let boat = executor.script("boat").start(wait_seconds(50)).id();
    let handle = executor.handle();
    let menu = executor.script("menu").start(async move {
        wait_frames(7).await;
        handle.pause(boat);
        menu.await;
    });
    for frame in 1..=60 {
        if frame == 30 && stop {
            menu.stop();
        }
        executor.run_frame(0.25);
    }
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::Paused);
    without_columns(&text)
}

#[test]
fn a_pause_without_a_resume_is_found_with_the_script_that_paused_and_its_end() {
    let waits = wait_seconds(60);
    let text = paused_by(waits, true);
    let (line, boat) = (place_of("wait_frames(7)"), place_of("wait_seconds(50)"));
    let expected = |end: &str| {
        format!(
            "boat (30v1) has been paused since frame 7, by menu (31v1) after {line}{end}; nobody has \
             resumed boat, which waits at {boat}"
        )
    };
    assert_eq!(text, expected(", which was stopped in frame 29"));
    let text = paused_by(std::future::ready(()), false);
    assert_eq!(text, expected(", which has finished in frame 7"));
    let text = paused_by(
        async {
            loop {
                next_frame().await;
            }
        },
        false,
    );
    assert_eq!(text, expected(""));
}

/// The place in this file at which a text occurs for the first time.
fn place_of(text: &str) -> String {
    let mut lines = include_str!("findings.rs").lines();
    let at = lines
        .position(|line| line.contains(text))
        .expect("it occurs");
    format!("{}:{}", file!(), at + 1)
}

#[test]
fn two_scripts_that_wait_for_each_other_are_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    let slot = Rc::new(RefCell::new(None::<Coroutine<()>>));
    let other = slot.clone();
    let smiths = line!() + 4;
    let smith = executor.script("smith").spawn(async move {
        wait_frames(2).await;
        let miner = other.borrow_mut().take();
        drop(miner.unwrap().await);
    });
    let miners = line!() + 4;
    *slot.borrow_mut() = Some(
        executor
            .script("miner")
            .spawn(async move { drop(smith.await) }),
    );
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::Cycle);
    let expected = format!(
        "smith (30v1) waits at {0}:{smiths} for the end of miner (31v1), \
         which waits at {0}:{miners} for the end of smith: a cycle since frame 3",
        file!()
    );
    assert_eq!(without_columns(&text), expected);
}

#[test]
fn a_script_that_holds_up_the_frame_is_found() {
    let now = Rc::new(Cell::new(Duration::ZERO));
    let stopwatch = now.clone();
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch(move || stopwatch.get());
    recorder.watch(&executor);
    guards(&executor);
    executor.script("path finder").start(async move {
        loop {
            wait_frames(10).await;
            now.set(now.get() + Duration::from_millis(9));
        }
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::LongPoll);
    let expected = format!(
        "path finder (30v1) took 9.00 ms in one poll, in frame 60, after the .await at {}; 6 of \
         its 7 polls took 4 ms or longer",
        place_of("wait_frames(10)")
    );
    assert_eq!(without_columns(&text), expected);
    let svg = recorder.film().svg().to_string();
    assert_eq!(svg.matches("class=\"tick slow\"").count(), 6);
    assert!(svg.contains("took 4 ms or longer</text>"));
}

#[test]
fn a_script_that_is_woken_again_and_again_is_found() {
    let (mut executor, recorder) = recorded();
    guards(&executor);
    executor.script("spinner").start(async {
        wait_frames(5).await;
        for _ in 0..200 {
            yield_now().await;
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(60, 0.25);
    let (kind, text) = only(&recorder);
    assert_eq!(kind, FindingKind::ManyPolls);
    assert!(
        text.starts_with("spinner (30v1) was polled 201 times in frame 5"),
        "{text}"
    );
}

#[test]
fn many_findings_of_a_kind_are_counted() {
    let (mut executor, recorder) = recorded();
    let owner = executor.owner();
    for _ in 0..100 {
        owner.script("sheep").start(wait_seconds(100));
    }
    executor.run_frame(0.25);
    owner.pause();
    executor.run_frames(60, 0.25);
    let findings = recorder.film().findings();
    assert_eq!(findings.len(), 3);
    assert!(findings[2].to_string().ends_with("(and 97 more like this)"));
}

#[test]
fn a_script_that_nothing_can_resume_is_found() {
    let (mut executor, recorder) = recorded();
    executor.script("lost").start(wait_seconds(f64::INFINITY));
    executor.run_frames(3, 0.25);
    assert_eq!(only(&recorder).0, FindingKind::Never);
}
