//! What is recorded: the tree, marks, going back.

use framestep::Phase;
use framestep::inspect::describe;
use framestep::prelude::*;
use framestep_panel::{Kind, Mark, Panel};

use crate::{DT, listed, opened, run};

#[test]
fn a_closed_panel_records_nothing_and_changes_nothing() {
    let mut executor = Executor::new();
    executor.start(wait_seconds(9));
    let mut panel = Panel::new();
    panel.set_paused(true);
    run(&mut executor, &mut panel, 3);
    assert_eq!(executor.time().frame, 3);
    assert!(panel.shown().is_none());
    assert_eq!(panel.frames().len(), 0);
    assert!(panel.rows().is_empty() && panel.warnings().is_empty());
    assert!(!panel.is_open());
}

#[test]
fn closing_forgets_everything_and_lets_the_game_run() {
    let (mut executor, mut panel) = opened();
    executor.start(wait_seconds(9));
    run(&mut executor, &mut panel, 2);
    panel.set_paused(true);
    panel.toggle();
    assert_eq!(panel.dt(DT), Some(DT));
    assert_eq!(panel.frames().len(), 0);
    panel.toggle();
    assert_eq!(panel.dt(DT), Some(DT));
}

#[test]
fn scripts_are_below_their_owner_and_the_script_that_spawned_them() {
    let (mut executor, mut panel) = opened();
    let level = executor.owner().named("level 10");
    let other = executor.owner().named("level 9");
    let child = level.child();
    level.script("boss").start(async {
        script("minion").start(wait_seconds(9));
        wait_seconds(9).await;
    });
    other.script("door").start(wait_seconds(9));
    child.script("torch").start(wait_seconds(9));
    executor.script("camera").start(wait_seconds(9));
    run(&mut executor, &mut panel, 1);
    let mut lines = listed(&mut panel);
    // The number of an owner without a name is not promised.
    assert!(lines[7].starts_with("  level 10/#"), "{lines:?}");
    lines.remove(7);
    let expected = [
        "(no owner) 1",
        "  camera",
        "level 9 1",
        "  door",
        "level 10 2",
        "  boss",
        "    minion",
        "    torch",
    ];
    assert_eq!(lines, expected);

    panel.fold("level 10");
    assert!(!listed(&mut panel).contains(&"  boss".to_owned()));
    panel.fold("level 10");
    panel.fold_all();
    assert_eq!(listed(&mut panel).len(), 4);
    panel.fold_all();
    assert_eq!(listed(&mut panel).len(), 9);
}

#[test]
fn marks_say_what_a_script_did_in_each_frame() {
    let (mut executor, mut panel) = opened();
    run(&mut executor, &mut panel, 1);
    let door = executor.start(async {
        wait_frames(2).await;
        wait_seconds(1).await;
    });
    let id = door.id();
    run(&mut executor, &mut panel, 3);
    door.pause();
    run(&mut executor, &mut panel, 1);
    door.stop();
    run(&mut executor, &mut panel, 1);
    let marks = panel.marks(id, 7);
    assert_eq!(marks[..3], [Mark::Absent, Mark::Absent, Mark::Spawned]);
    assert!(matches!(marks[3], Mark::Polled(_)));
    assert_eq!(marks[4], Mark::Waited(Kind::Time));
    assert_eq!(marks[5..], [Mark::Paused, Mark::Ended]);
}

#[test]
fn kinds_are_those_of_the_waits() {
    let (mut executor, mut panel) = opened();
    let bell = Signal::<()>::new().named("bell");
    let heard = bell.clone();
    executor
        .script("event")
        .start(async move { heard.wait().await });
    executor.script("time").start(wait_seconds(9));
    executor.script("frames").start(async {
        loop {
            next_frame().await;
        }
    });
    executor.script("condition").start(wait_until(|| false));
    let never = executor.script("never").start(std::future::pending::<()>());
    executor
        .script("join")
        .start(async move { drop(never.await) });
    executor.script("paused").start(wait_seconds(9)).pause();
    run(&mut executor, &mut panel, 2);
    let frame = panel.shown().unwrap();
    for (name, kind) in [
        ("event", Kind::Event),
        ("time", Kind::Time),
        ("frames", Kind::Frames),
        ("condition", Kind::Condition),
        ("never", Kind::Never),
        ("join", Kind::Join),
        ("paused", Kind::Paused),
    ] {
        let script = frame
            .scripts()
            .find(|script| script.name() == name)
            .unwrap();
        assert_eq!(script.kind(), kind, "{name}");
        assert_eq!(frame.count(kind), 1);
    }
}

#[test]
fn going_back_shows_what_was_and_pauses_the_game() {
    let (mut executor, mut panel) = opened();
    executor.script("boss").start(async {
        for phase in 1.. {
            describe(format_args!("phase {phase}"));
            next_frame().await;
        }
    });
    run(&mut executor, &mut panel, 10);
    panel.show_frame(4);
    assert!(panel.pace().paused && !panel.is_live());
    run(&mut executor, &mut panel, 3);
    assert_eq!(executor.time().frame, 10);
    let frame = panel.shown().unwrap();
    assert_eq!(frame.number(), 4);
    let now = frame
        .scripts()
        .next()
        .unwrap()
        .description()
        .map(ToOwned::to_owned);
    panel.scrub(-1);
    let before = panel
        .shown()
        .unwrap()
        .scripts()
        .next()
        .unwrap()
        .description();
    assert_eq!((before, now.as_deref()), (Some("phase 4"), Some("phase 5")));
    panel.scrub(-1000);
    assert_eq!(panel.shown().unwrap().number(), 1);
    panel.scrub(1000);
    assert!(panel.is_live());
    panel.set_paused(false);
    run(&mut executor, &mut panel, 1);
    assert_eq!(panel.shown().unwrap().number(), 11);
}

#[test]
fn only_the_latest_frames_are_kept() {
    let (mut executor, mut panel) = opened();
    panel.keep_frames(5);
    executor.start(wait_seconds(99));
    run(&mut executor, &mut panel, 12);
    let numbers: Vec<u64> = panel.frames().map(framestep_panel::Frame::number).collect();
    assert_eq!(numbers, [8, 9, 10, 11, 12]);
    panel.show_frame(3);
    assert_eq!(panel.shown().unwrap().number(), 8);
}

#[test]
fn a_script_that_does_nothing_is_stored_once() {
    let (mut executor, mut panel) = opened();
    let id = executor.start(wait_seconds(99)).id();
    run(&mut executor, &mut panel, 4);
    let mut scripts = panel.frames().map(|frame| frame.script(id).unwrap());
    let first = scripts.next().unwrap();
    assert!(scripts.all(|script| std::ptr::eq(script, first)));
}

#[test]
fn a_home_phase_that_never_runs_is_a_warning() {
    let (mut executor, mut panel) = opened();
    executor.script("weapon").spawn(wait_seconds(1));
    executor
        .script("")
        .in_phase(Phase::Custom(7))
        .spawn(wait_seconds(1))
        .named("lost");
    run(&mut executor, &mut panel, 3);
    let warnings = crate::warnings(&mut panel);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("lost ("), "{warnings:?}");
    assert!(warnings[0].contains("which the host has not run"));
}
