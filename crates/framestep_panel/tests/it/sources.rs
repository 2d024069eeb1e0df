//! What the panel says about signals, watches and semaphores, now and back in time.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_panel::Level;
#[cfg(feature = "terminal")]
use framestep_panel::Panel;

use crate::{opened, run, warnings};

/// The details of a script with a heading, as the view for terminals shows them.
#[cfg(feature = "terminal")]
fn details(panel: &mut Panel, heading: &str) -> Vec<String> {
    use framestep_panel::terminal::View;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    let mut terminal = Terminal::new(TestBackend::new(120, 60)).unwrap();
    let mut view = View::new();
    terminal.draw(|frame| view.draw(frame, panel)).unwrap();
    let text = terminal.backend().to_string();
    let lines = text.lines().filter_map(|line| {
        let line = line.trim_matches(['"', ' ']);
        line.strip_prefix(heading)
            .map(|text| text.trim().to_owned())
    });
    lines.collect()
}

#[test]
fn a_wait_for_another_signal_of_the_same_name_is_a_warning() {
    let (mut executor, mut panel) = opened();
    let line = line!();
    let wanted = Signal::<()>::new().named("supper");
    let emitted = Signal::<()>::new().named("supper");
    for number in 0..3 {
        let wanted = wanted.clone();
        executor
            .script(format!("guest {number}"))
            .start(async move { wanted.wait().await });
    }
    executor.script("innkeeper").start(async move {
        wait_seconds(4).await;
        emitted.emit(());
        wait_seconds(1_000).await;
    });
    run(&mut executor, &mut panel, 50);
    let warning = panel.warnings()[0].clone();
    assert_eq!(warning.level, Level::Warning);
    let expected = format!(
        "3 scripts wait for signal supper, for 12.5 s so far; it is another one than that named at \
         it/sources.rs:{}, which innkeeper (3v1) emitted in frame 16: this one is named at \
         it/sources.rs:{}",
        line + 2,
        line + 1
    );
    assert_eq!(warning.text, expected);
    // Before that emission, nobody had emitted any.
    panel.patience(Duration::from_secs(1));
    panel.show_frame(15);
    assert!(warnings(&mut panel)[0].ends_with("nobody has emitted it since the panel was opened"));
}

#[test]
fn a_wait_for_permits_names_the_holder() {
    let (mut executor, mut panel) = opened();
    let oven = Semaphore::new(1).named("oven");
    let bakes = oven.clone();
    let line = line!() + 3;
    executor.script("baker").start(async move {
        next_frame().await;
        let permit = bakes.acquire().await;
        wait_seconds(12).await;
        drop(permit);
        wait_seconds(1_000).await;
    });
    executor.script("cook").start(async move {
        wait_frames(2).await;
        let _permit = oven.acquire().await;
        wait_seconds(1_000).await;
    });
    run(&mut executor, &mut panel, 48);
    let expected = format!(
        "cook (1v1) waits for a permit of oven, for 11.5 s so far; held by baker (0v1) since frame \
         1 (it/sources.rs:{line})"
    );
    assert_eq!(warnings(&mut panel), std::slice::from_ref(&expected));
    run(&mut executor, &mut panel, 5);
    assert_eq!(warnings(&mut panel), [""; 0]);
    // Then it was the baker all the same.
    panel.show_frame(48);
    assert_eq!(warnings(&mut panel), [expected]);
}

#[test]
fn a_permit_whose_taker_has_ended_is_a_warning() {
    let (mut executor, mut panel) = opened();
    let cranes = Semaphore::new(2).named("cranes");
    let (first, second, third) = (cranes.clone(), cranes.clone(), cranes);
    let shelf = Rc::new(Cell::new(None));
    let keeps = shelf.clone();
    let line = line!() + 3;
    executor.script("skua").start(async move {
        next_frame().await;
        keeps.set(Some(first.acquire().await));
    });
    executor.script("heron").start(async move {
        let _permit = second.acquire().await;
        wait_seconds(1_000).await;
    });
    executor.script("tern").start(async move {
        wait_frames(2).await;
        let permit = third.acquire().await;
        wait_seconds(1_000).await;
        drop(permit);
    });
    run(&mut executor, &mut panel, 45);
    let expected = format!(
        "tern (2v1) waits for a permit of cranes, for 10.8 s so far; taken in frame 1 \
         (it/sources.rs:{line}) and not given back by skua (0v1), which has ended; held by heron \
         (1v1) since frame 0 (it/sources.rs:{})",
        line + 3
    );
    assert_eq!(warnings(&mut panel), std::slice::from_ref(&expected));
    assert_eq!(panel.warnings()[0].level, Level::Warning);
    // Another script gives it back: what it gives is not that of the live holder.
    executor.script("porter").start(async move {
        drop(shelf.take());
    });
    run(&mut executor, &mut panel, 2);
    assert_eq!(warnings(&mut panel), [""; 0]);
    // Before that, nobody had.
    panel.show_frame(44);
    assert_eq!(warnings(&mut panel), [expected.replace("10.8 s", "10.5 s")]);
}

#[cfg(feature = "terminal")]
#[test]
fn the_details_of_a_stopped_script_say_who_has_stopped_it() {
    let (mut executor, mut panel) = opened();
    let lamps = executor.script("lamplighter").start(wait_seconds(1_000));
    let id = lamps.id();
    executor.script("mayor").start(async move {
        wait_frames(3).await;
        lamps.stop();
        wait_seconds(1_000).await;
    });
    run(&mut executor, &mut panel, 6);
    panel.select(Some(id));
    assert_eq!(
        details(&mut panel, "ended"),
        ["stopped in frame 3, by mayor (1v1)"]
    );
}

#[test]
fn a_wait_in_another_crate_shows_the_crate_and_opens_a_line_of_the_game() {
    use std::pin::pin;

    let (mut executor, mut panel) = opened();
    let gate = Signal::<()>::new().named("gate");
    let line = line!() + 1;
    let keeper = executor.script("keeper").start(async move {
        // The wait is polled in the standard library, which passes no line on.
        let mut wait = pin!(gate.wait());
        wait.as_mut().await;
    });
    run(&mut executor, &mut panel, 3);
    let script = panel.shown().unwrap().script(keeper.id()).unwrap();
    let at = script.line().unwrap();
    assert!(at.file().ends_with("sources.rs"), "{at}");
    assert_eq!(at.line(), line);
    let waits = script.waits()[0].at().unwrap();
    assert!(waits.file().contains("core"), "{waits}");
}

#[test]
fn permits_joins_and_watches_are_one_cycle() {
    let (mut executor, mut panel) = opened();
    let oven = Semaphore::new(1).named("oven");
    let pantry = Watch::new(0).named("pantry");
    let (flour, bakes, sacks) = (pantry.clone(), oven.clone(), pantry);
    executor.script("baker").start(async move {
        let _oven = bakes.acquire().await;
        let errand = script("errand").start(async move {
            flour.wait_for(|flour| *flour > 1).await;
        });
        drop(errand.await);
    });
    executor.script("miller").start(async move {
        next_frame().await;
        sacks.set(1);
        let _oven = oven.acquire().await;
        sacks.set(2);
    });
    run(&mut executor, &mut panel, 44);
    let expected = "baker (0v1) joins errand (1v1) waits for watch pantry, emitted by no other live \
                    script than miller (2v1) waits for a permit of oven, held by baker: they wait for each other, and \
                    never end";
    assert_eq!(warnings(&mut panel)[0], expected);
    assert_eq!(panel.warnings()[0].level, Level::Error);
}

#[test]
fn the_panel_back_in_time_does_not_show_the_future() {
    let (mut executor, mut panel) = opened();
    panel.patience(Duration::from_secs(1));
    let bell = Signal::<()>::new().named("bell");
    let ring = bell.clone();
    let guard = executor.script("guard").start(async move {
        next_frame().await;
        loop {
            bell.wait().await;
        }
    });
    executor.script("ringer").start(async move {
        wait_frames(9).await;
        ring.emit(());
        wait_frames(11).await;
        ring.emit(());
        guard.pause();
    });
    run(&mut executor, &mut panel, 40);
    assert!(warnings(&mut panel)[0].contains("since frame 20, by ringer (1v1), which has ended"));
    // The second emission, the pause and the end are in the future.
    panel.show_frame(18);
    let expected = "guard (0v1) waits for signal bell, for 2.25 s so far; emitted once, in frame \
                    9 by ringer (1v1)";
    assert_eq!(warnings(&mut panel), [expected]);
    panel.show_frame(7);
    let expected = "guard (0v1) waits for signal bell, for 1.50 s so far; nobody has emitted it \
                    since the panel was opened";
    assert_eq!(warnings(&mut panel), [expected]);
}

#[cfg(feature = "terminal")]
#[test]
fn the_details_have_the_value_and_the_last_waits() {
    let (mut executor, mut panel) = opened();
    let gold = Watch::new(3).named("gold").shown();
    let earn = gold.clone();
    let line = line!();
    let thief = executor.script("thief").start(async move {
        for _ in 0..8 {
            next_frame().await;
        }
        wait_frames(2).await;
        gold.wait_for(|gold| *gold > 100).await;
    });
    executor.script("miner").start(async move {
        wait_frames(20).await;
        earn.set(40);
        wait_seconds(1_000).await;
    });
    run(&mut executor, &mut panel, 30);
    panel.select(Some(thief.id()));
    assert_eq!(details(&mut panel, "its value"), ["40"]);
    let expected = [
        format!(
            "frame 7: the next frame at it/sources.rs:{}, 8 times in a row",
            line + 3
        ),
        format!("frame 8: 2 frames at it/sources.rs:{}", line + 5),
        format!(
            "frame 20: watch gold at it/sources.rs:{}, 2 times in a row",
            line + 6
        ),
    ];
    assert_eq!(details(&mut panel, "waited"), expected);
    panel.show_frame(9);
    assert_eq!(details(&mut panel, "its value"), [""; 0]);
    assert_eq!(details(&mut panel, "waited"), expected[..2]);
    panel.show_frame(15);
    assert_eq!(details(&mut panel, "its value"), ["3"]);
}

#[cfg(feature = "terminal")]
async fn breathe() {
    wait_seconds(9).await;
}

#[cfg(feature = "terminal")]
async fn sleep() {
    breathe().await;
}

#[cfg(feature = "terminal")]
#[test]
fn the_details_have_the_call_chain_of_a_wait_if_the_executor_notes_it() {
    let mut executor = Executor::builder().call_chains(true).build();
    let mut panel = Panel::new();
    panel.listen(&executor);
    panel.open();
    let dragon = executor.script("dragon").start(sleep());
    run(&mut executor, &mut panel, 3);
    panel.select(Some(dragon.id()));
    let calls = details(&mut panel, "in ");
    // With tables of lines alone, a function is `{async_fn#0}`, and its place says which one.
    let is = |call: &str, function: &str| {
        call.contains(function) || (call.contains("{async_fn#0}") && call.contains("sources.rs"))
    };
    assert!(
        is(&calls[0], "breathe") && is(&calls[1], "sleep"),
        "{calls:?}"
    );
    assert_eq!(calls.len(), 2);
}
