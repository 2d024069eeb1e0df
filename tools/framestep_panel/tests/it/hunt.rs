//! The warnings name each of five faults, and the script that has it.

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
fn a_pause_that_nobody_lifts() {
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
fn a_script_that_eats_the_frame() {
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
    assert!(warnings(&mut panel).is_empty());
}

#[test]
fn a_signal_that_came_before_the_wait_is_told() {
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
    assert_eq!(warning.level, Level::Note);
    assert!(
        warning
            .text
            .ends_with("emitted 1 times, last in frame 1 by lever (0v1), which has ended"),
        "{warning:?}"
    );
}
