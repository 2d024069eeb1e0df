//! Executors that have ended, names of any kind, hooks that misbehave, and crowds.

use framestep::prelude::*;
use framestep_panel::Panel;

use crate::{DT, listed, opened, run};

#[test]
fn an_executor_that_has_ended_leaves_its_last_frame() {
    let (mut executor, mut panel) = opened();
    let id = executor.script("door").start(wait_seconds(9)).id();
    run(&mut executor, &mut panel, 2);
    let handle = executor.handle();
    drop(executor);
    panel.stop(id);
    panel.look_through(&handle);
    assert!(panel.has_ended());
    assert_eq!(listed(&mut panel), ["door"]);
    assert_eq!(panel.shown().unwrap().number(), 2);
    assert_eq!(panel.dt(DT), Some(DT));

    let (mut next, _) = opened();
    next.script("gate").start(wait_seconds(9));
    run(&mut next, &mut panel, 1);
    assert!(!panel.has_ended());
    assert_eq!(listed(&mut panel), ["gate"]);
    assert_eq!(panel.runs_before(), 1);
}

#[test]
fn names_of_any_kind_stay_on_one_line() {
    let (mut executor, mut panel) = opened();
    let owner = executor.owner().named("\u{1b}[31mred\r\n");
    for name in [
        "",
        "a\nb",
        "\u{202e}reversed",
        "\u{0}\u{7}\t",
        "大きい ✓",
        "::",
        "<>",
    ] {
        owner.script(name).start(async move {
            framestep::inspect::describe(name);
            wait_seconds(9).await;
        });
    }
    owner.script("x".repeat(100_000)).start(wait_seconds(9));
    run(&mut executor, &mut panel, 2);
    for line in listed(&mut panel) {
        assert!(!line.trim_start().is_empty());
        assert!(
            !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{line:?}"
        );
        assert!(line.chars().count() < 200);
    }
    panel.warnings();
}

#[test]
fn a_trace_hook_that_panics_or_starts_scripts_does_no_harm() {
    let mut executor = Executor::builder().inspect(true).build();
    executor.on_report(|_| {});
    let mut panel = Panel::new();
    panel.listen(&executor);
    panel.open();
    let handle = executor.handle();
    let mut count = 0;
    executor.on_full_trace(move |_| {
        count += 1;
        match count {
            3 => drop(handle.script("of the hook").start(wait_seconds(9))),
            5 | 9 => panic!("on purpose"),
            _ => {}
        }
    });
    executor.script("blinker").start(async {
        loop {
            next_frame().await;
        }
    });
    run(&mut executor, &mut panel, 8);
    let lines = listed(&mut panel);
    assert!(lines.contains(&"blinker".to_owned()), "{lines:?}");
    assert_eq!(panel.shown().unwrap().number(), 8);
}

#[test]
fn a_panel_that_looks_in_the_first_frame_or_at_nothing_shows_nothing() {
    let (executor, mut panel) = opened();
    assert!(panel.shown().is_none());
    panel.scrub(-3);
    panel.show_frame(7);
    panel.live();
    panel.look(&executor);
    assert_eq!(panel.shown().unwrap().number(), 0);
    assert!(panel.rows().is_empty());
    let id = executor.spawn(async {}).id();
    assert_eq!(panel.marks(id, 3).len(), 3);
}

#[test]
fn ten_thousand_scripts_are_listed_and_recorded() {
    let (mut executor, mut panel) = opened();
    for at in 0..10_000_u32 {
        executor.start(async move { wait_seconds(10 + at % 50).await });
    }
    panel.crowd(usize::MAX);
    run(&mut executor, &mut panel, 20);
    assert_eq!(panel.frames().len(), 20);
    // With a crowd, every fifth frame is recorded, and the one in which the game stands
    // still.
    panel.crowd(2_500);
    run(&mut executor, &mut panel, 10);
    let numbers: Vec<u64> = panel
        .frames()
        .skip(20)
        .map(framestep_panel::Frame::number)
        .collect();
    assert_eq!(numbers, [25, 30]);
    run(&mut executor, &mut panel, 1);
    panel.set_paused(true);
    run(&mut executor, &mut panel, 1);
    assert_eq!(panel.shown().unwrap().number(), 31);
    assert_eq!(panel.rows().len(), panel.shown().unwrap().scripts().len());
    panel.filter_mut().text = "nobody".into();
    assert!(panel.rows().is_empty());
}

#[test]
fn without_inspect_the_panel_still_lists_waits() {
    let mut executor = Executor::new();
    executor.script("door").start(wait_seconds(2));
    let mut panel = Panel::new();
    panel.open();
    run(&mut executor, &mut panel, 2);
    let script = panel.shown().unwrap().scripts().next().unwrap();
    assert_eq!(script.waits().len(), 1);
    assert!(script.line().is_none() && script.profile().is_none());
}
