//! The view for terminals.

use framestep::prelude::*;
use framestep_panel::terminal::View;
use framestep_panel::{Kind, Level, Panel};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::{opened, run};

fn drawn(view: &mut View, panel: &mut Panel, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view.draw(frame, panel)).unwrap();
    terminal.backend().to_string()
}

fn press(view: &mut View, panel: &mut Panel, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '↓' => KeyCode::Down,
            '←' => KeyCode::Left,
            '⏎' => KeyCode::Enter,
            key => KeyCode::Char(key),
        };
        assert!(
            view.key(KeyEvent::new(code, KeyModifiers::NONE), panel),
            "{key}"
        );
    }
}

fn scene() -> (Executor, Panel) {
    let (mut executor, mut panel) = opened();
    executor.script("door").start(wait_seconds(9));
    executor.script("gate").start(wait_frames(40));
    run(&mut executor, &mut panel, 4);
    (executor, panel)
}

#[test]
fn every_size_is_drawn() {
    let (_executor, mut panel) = scene();
    let first = panel
        .shown()
        .unwrap()
        .scripts()
        .next()
        .map(framestep_panel::Script::id);
    panel.select(first);
    for width in [1, 2, 3, 7, 20, 49, 50, 70, 77, 100, 113, 200, 400] {
        for height in [1, 2, 3, 5, 6, 8, 9, 12, 24, 60] {
            let text = drawn(&mut View::new().dark(height > 6), &mut panel, width, height);
            assert_eq!(text.lines().count(), usize::from(height));
        }
    }
    let text = drawn(&mut View::new(), &mut panel, 120, 20);
    for expected in [
        "RUNNING",
        "frame 4",
        "door",
        "8.00 s",
        "gate",
        "36 frames",
        "terminal.rs",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
}

#[test]
fn a_closed_panel_draws_nothing() {
    let text = drawn(&mut View::new(), &mut Panel::new(), 20, 3);
    assert!(
        text.lines()
            .all(|line| line.trim_matches('"').trim().is_empty())
    );
}

#[test]
fn an_open_panel_that_never_looked_says_so() {
    let mut panel = Panel::new();
    panel.open();
    assert!(drawn(&mut View::new(), &mut panel, 90, 9).contains("has not been called"));
}

#[test]
fn keys_do_what_the_help_says() {
    let (mut executor, mut panel) = scene();
    let mut view = View::new();
    drawn(&mut view, &mut panel, 120, 20);
    press(&mut view, &mut panel, " ");
    assert!(panel.pace().paused);
    press(&mut view, &mut panel, "n");
    run(&mut executor, &mut panel, 2);
    assert_eq!(executor.time().frame, 5);
    press(&mut view, &mut panel, "←←");
    assert_eq!(panel.shown().unwrap().number(), 3);
    assert!(drawn(&mut view, &mut panel, 120, 20).contains("BACK IN TIME"));
    press(&mut view, &mut panel, "L-");
    assert!(panel.is_live() && panel.pace().speed < 1.0);

    press(&mut view, &mut panel, "/gate⏎");
    assert_eq!(panel.filter().text, "gate");
    assert!(!drawn(&mut view, &mut panel, 120, 20).contains("door"));
    press(&mut view, &mut panel, "↓");
    let gate = panel.selected().unwrap();
    press(&mut view, &mut panel, "⏎");
    assert!(drawn(&mut view, &mut panel, 120, 20).contains("waits at"));
    press(&mut view, &mut panel, "p ");
    run(&mut executor, &mut panel, 1);
    assert!(executor.is_paused(gate));
    press(&mut view, &mut panel, "xn");
    run(&mut executor, &mut panel, 1);
    assert!(executor.is_alive(gate));
    press(&mut view, &mut panel, "xy");
    run(&mut executor, &mut panel, 1);
    assert!(!executor.is_alive(gate));
    let unknown = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    assert!(!view.key(unknown, &mut panel));
}

#[test]
fn what_the_compiler_says_takes_a_third_of_the_screen_at_most() {
    let (_executor, mut panel) = scene();
    let mut view = View::new();
    panel.tell_code(
        Level::Error,
        format!("does not compile:{}", "\nerror[E0308]".repeat(50)),
    );
    let text = drawn(&mut view, &mut panel, 80, 20);
    assert!(text.contains("does not compile:"), "{text}");
    assert_eq!(text.matches("error[E0308]").count(), 5, "{text}");
    assert!(text.contains("door") && text.contains("gate"), "{text}");
    let unknown = KeyEvent::new(KeyCode::Char('t'), KeyModifiers::NONE);
    assert!(!view.key(unknown, &mut panel));
    panel.offer_rewind();
    press(&mut view, &mut panel, "tb");
    assert!(panel.take_loop() && panel.take_back());
}

#[test]
fn the_last_line_names_the_keys_that_run_again_and_close() {
    let (_executor, mut panel) = scene();
    let last = |panel: &mut Panel, mut view: View| {
        let text = drawn(&mut view, panel, 80, 20);
        text.lines().last().unwrap().to_owned()
    };
    let line = last(&mut panel, View::new());
    assert!(
        !line.contains("run again") && !line.contains("close"),
        "{line}"
    );
    panel.offer_restart();
    let line = last(&mut panel, View::new().closes_on("q esc"));
    assert!(line.contains(" r run again  q esc close "), "{line}");
}

#[test]
fn the_details_list_what_a_script_has_emitted() {
    let (mut executor, mut panel) = opened();
    let (open, bell) = (
        Signal::<()>::new().named("gate open"),
        Signal::<()>::new().named("bell"),
    );
    let winch = executor.script("winch").start(async move {
        bell.emit(());
        loop {
            wait_frames(2).await;
            open.emit(());
        }
    });
    run(&mut executor, &mut panel, 5);
    panel.select(Some(winch.id()));
    let expected = "emitted      gate open (2 times, last in frame 4), bell (in frame 0)";
    let text = drawn(&mut View::new(), &mut panel, 120, 30);
    assert!(text.contains(expected), "{text}");
    winch.stop();
    run(&mut executor, &mut panel, 1);
    let text = drawn(&mut View::new(), &mut panel, 120, 30);
    assert!(text.contains("stopped in frame"), "{text}");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn keys_choose_a_kind_and_an_order() {
    let (_executor, mut panel) = scene();
    let mut view = View::new();
    press(&mut view, &mut panel, "k");
    assert_eq!(panel.filter().kinds, [Kind::Frames]);
    press(&mut view, &mut panel, "k");
    assert_eq!(panel.filter().kinds, [Kind::Time]);
    press(&mut view, &mut panel, "ko");
    assert!(panel.filter().is_empty());
    assert!(drawn(&mut view, &mut panel, 120, 20).contains("slowest first"));
}

#[test]
fn a_line_is_copied_unless_the_host_opens_it() {
    let (mut executor, mut panel) = opened();
    executor
        .script("door")
        .start(async { wait_seconds(9).await });
    run(&mut executor, &mut panel, 1);
    let mut view = View::new();
    press(&mut view, &mut panel, "↓⏎");
    assert!(view.take_copied().unwrap().contains("terminal.rs:"));
    assert!(view.take_copied().is_none());
}

#[test]
fn names_cannot_break_the_screen() {
    let (mut executor, mut panel) = opened();
    for name in [
        "大きい大きい大きい大きい大きい大きい大きい大きい大きい",
        "\u{1b}[2J",
        "a\u{301}\u{301}",
        "🏳️‍🌈🏳️‍🌈",
    ] {
        executor.script(name).start(wait_seconds(9));
    }
    run(&mut executor, &mut panel, 2);
    for width in 20..60 {
        let text = drawn(&mut View::new(), &mut panel, width, 12);
        assert!(!text.contains('\u{1b}'));
    }
}

#[test]
fn the_bar_of_an_animation_shrinks_although_it_is_polled_in_each_frame() {
    let (mut executor, mut panel) = opened();
    executor.start(animate(1, |_| {}));
    panel.look(&executor);
    run(&mut executor, &mut panel, 2);
    let text = drawn(&mut View::new(), &mut panel, 120, 20);
    assert!(text.contains("━━━━────"), "{text}");
}
