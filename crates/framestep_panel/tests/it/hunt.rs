//! The warnings name each of five faults, and the script at fault.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_panel::{Level, Panel};

use crate::{DT, opened, run, warnings};

#[test]
fn a_signal_that_never_comes() {
    let (mut executor, mut panel) = opened();
    let gate = Signal::<()>::new().named("gate opened");
    executor
        .script("keeper")
        .start(async move { gate.wait().await });
    run(&mut executor, &mut panel, 39);
    assert!(warnings(&mut panel).is_empty());
    run(&mut executor, &mut panel, 1);
    let warning = panel.warnings()[0].clone();
    assert_eq!(warning.level, Level::Warning);
    let expected = "keeper (0v1) waits for signal gate opened, for 10.0 s so far; nobody has \
                    emitted it since the panel was opened";
    assert_eq!(warning.text, expected);
    assert!(warning.at.unwrap().file().ends_with("hunt.rs"));
}

#[test]
fn a_pause_without_a_resume() {
    let (mut executor, mut panel) = opened();
    let guard = executor.script("guard").start(wait_seconds(99));
    executor.script("cutscene").start(async move {
        next_frame().await;
        guard.pause();
    });
    run(&mut executor, &mut panel, 45);
    let expected = "guard (0v1) has been paused for 11.0 s, since frame 1, by cutscene (1v1), \
                    which has ended";
    assert_eq!(warnings(&mut panel), [expected]);
}

#[test]
fn two_that_wait_for_each_other() {
    let (mut executor, mut panel) = opened();
    let cell = Rc::new(Cell::new(None::<Coroutine<()>>));
    let other = Rc::clone(&cell);
    let north = executor
        .script("north")
        .spawn(async move { drop(other.take().unwrap().await) });
    let south = executor
        .script("south")
        .spawn(async move { drop(north.await) });
    cell.set(Some(south));
    run(&mut executor, &mut panel, 1);
    let expected = "north (0v1) joins south (1v1) joins north: they wait for each other, and \
                    never end";
    assert_eq!(warnings(&mut panel), [expected]);
    assert_eq!(panel.warnings()[0].level, Level::Error);
}

#[test]
fn a_script_that_holds_up_the_frame() {
    let passed = Rc::new(Cell::new(Duration::ZERO));
    let clock = Rc::clone(&passed);
    let mut executor = Executor::builder()
        .inspect(true)
        .profile(true)
        .stopwatch(move || clock.get())
        .build();
    executor.script("loot").start(async move {
        loop {
            wait_frames(3).await;
            passed.set(passed.get() + Duration::from_millis(12));
        }
    });
    let mut panel = Panel::new();
    panel.open();
    run(&mut executor, &mut panel, 7);
    let warnings = warnings(&mut panel);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("loot (0v1) took 12 ms of frame 6, after"),
        "{warnings:?}"
    );
    assert!(warnings[0].ends_with("slow 2 times"), "{warnings:?}");
    assert_eq!(panel.frames().last().unwrap().spent(), Duration::ZERO);
}

fn play(panel: &mut Panel, frames: u64, dt: f32) {
    let mut executor = Executor::builder().inspect(true).build();
    executor.script("sun").start(async {
        loop {
            wait_seconds(1).await;
        }
    });
    executor.script("weather").start(async move {
        wait_frames(3).await;
        wait_frames(frames).await;
    });
    for _ in 0..12 {
        executor.run_frame(dt);
        panel.look(&executor);
    }
}

#[test]
fn a_script_that_differs_between_runs() {
    let mut panel = Panel::new();
    panel.open();
    play(&mut panel, 5, DT);
    assert!(warnings(&mut panel).is_empty());
    play(&mut panel, 5, DT);
    assert!(warnings(&mut panel).is_empty());
    play(&mut panel, 6, DT);
    let warnings = warnings(&mut panel);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let begin = "weather differs from the last run, in frame 3: now 6 frames at it/hunt.rs:";
    assert!(warnings[0].starts_with(begin), "{warnings:?}");
    assert!(
        warnings[0].contains("; then 5 frames at it/hunt.rs:"),
        "{warnings:?}"
    );
}

#[test]
fn runs_with_other_frames_are_not_compared() {
    let mut panel = Panel::new();
    panel.open();
    play(&mut panel, 5, DT);
    play(&mut panel, 6, 0.125);
    let expected = "this run and the last one have frames of other lengths, up to frame 1: it \
                    ends at 125ms, then at 250ms; so the runs are not compared any further";
    assert_eq!(warnings(&mut panel), [expected]);
    assert_eq!(panel.warnings()[0].level, Level::Note);
}

/// A run that begins as in the example on `r`: if the game is paused, the panel looks
/// before the first frame has run.
fn play_in(panel: &mut Panel, weather: u64, begins_paused: bool) {
    let mut executor = Executor::builder().inspect(true).build();
    executor.script("boss").start(wait_frames(400));
    executor.script("sun").start(wait_seconds(90));
    executor.script("weather").start(wait_frames(weather));
    panel.set_paused(begins_paused);
    run(&mut executor, panel, 2);
    panel.set_paused(false);
    run(&mut executor, panel, 12);
}

#[test]
fn frames_while_paused_do_not_count_in_a_comparison() {
    for (first, second) in [(false, true), (true, false), (true, true)] {
        let mut panel = Panel::new();
        panel.open();
        play_in(&mut panel, 8, first);
        play_in(&mut panel, 8, second);
        assert!(warnings(&mut panel).is_empty(), "{:?}", panel.warnings());
        play_in(&mut panel, 9, first);
        let warnings = warnings(&mut panel);
        let begin = "weather differs from the last run, in frame 1: now 8 frames at it/hunt.rs:";
        assert!(warnings[0].starts_with(begin), "{warnings:?}");
        assert!(
            warnings[0].contains("; then 7 frames at it/hunt.rs:"),
            "{warnings:?}"
        );
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}

#[test]
fn a_run_is_compared_from_the_frame_in_which_the_panel_was_opened() {
    let runs = |weathers: [u64; 2]| {
        let mut panel = Panel::new();
        for (weather, opens) in weathers.into_iter().zip([5, 0]) {
            let mut executor = Executor::builder().inspect(true).build();
            executor.script("boss").start(wait_frames(400));
            executor.script("weather").start(wait_frames(weather));
            run(&mut executor, &mut panel, opens);
            panel.open();
            run(&mut executor, &mut panel, 12 - opens);
        }
        warnings(&mut panel)
    };
    assert_eq!(runs([9, 9]), [""; 0]);
    let warnings = runs([9, 8]);
    let begin = "weather differs from the last run, in frame 6: now 2 frames at it/hunt.rs:";
    assert!(warnings[0].starts_with(begin), "{warnings:?}");
    assert!(warnings[0].contains("; then 3 frames at"), "{warnings:?}");
}

#[test]
fn the_script_that_does_something_in_only_one_of_two_runs_is_named() {
    let mut panel = Panel::new();
    panel.open();
    for has_dawn in [true, false] {
        let mut executor = Executor::builder().inspect(true).build();
        let (dawn, wind) = (Signal::<()>::new(), Signal::<()>::new());
        for (name, signal) in [("sun", dawn.clone()), ("weather", wind.clone())] {
            executor.script(name).start(async move {
                signal.wait().await;
                wait_seconds(90).await;
            });
        }
        run(&mut executor, &mut panel, 2);
        executor.enter(|| {
            if has_dawn {
                dawn.emit(());
            }
            wind.emit(());
        });
        run(&mut executor, &mut panel, 2);
    }
    let warnings = warnings(&mut panel);
    let begin = "sun differs from the last run, in frame 3: now nothing happens to it in this \
                 frame; then 90s, until";
    assert!(warnings[0].starts_with(begin), "{warnings:?}");
}

#[test]
fn a_signal_before_the_wait_is_reported() {
    let (mut executor, mut panel) = opened();
    let gate = Signal::<()>::new().named("gate");
    let emitter = gate.clone();
    executor.script("lever").start(async move {
        next_frame().await;
        emitter.emit(());
    });
    executor.script("keeper").start(async move {
        wait_frames(2).await;
        gate.wait().await;
    });
    run(&mut executor, &mut panel, 50);
    let warning = panel.warnings()[0].clone();
    assert_eq!(warning.level, Level::Warning);
    let expected = "emitted once, in frame 1 by lever (0v1), which has ended, while nobody waited \
                    for it";
    assert!(warning.text.ends_with(expected), "{warning:?}");
}
