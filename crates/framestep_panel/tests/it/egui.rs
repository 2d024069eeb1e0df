//! The view for egui, without a window.

use egui::{Context, Event, Modifiers, PointerButton, RawInput, Rect, Shape, pos2, vec2};
use framestep::prelude::*;
use framestep_panel::egui_view::View;
use framestep_panel::{Level, Panel};

use crate::{opened, run};

/// Draws the panel, and returns all texts with their places.
fn drawn(
    context: &Context,
    view: &mut View,
    panel: &mut Panel,
    size: [f32; 2],
    events: Vec<Event>,
) -> Vec<(String, Rect)> {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(size[0], size[1]))),
        events,
        ..RawInput::default()
    };
    let output = context.run_ui(input, |ui| view.show(ui, panel));
    let mut texts = Vec::new();
    for clipped in &output.shapes {
        collect(&clipped.shape, &mut texts);
    }
    output.drop_without_applying_deltas();
    texts
}

fn collect(shape: &Shape, texts: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Text(text) => {
            texts.push((text.galley.text().to_owned(), text.visual_bounding_rect()));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
        _ => {}
    }
}

fn click(at: egui::Pos2) -> Vec<Event> {
    let button = |pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(at), button(true), button(false)]
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
    let context = Context::default();
    let mut view = View::new();
    let first = panel
        .shown()
        .unwrap()
        .scripts()
        .next()
        .map(framestep_panel::Script::id);
    panel.select(first);
    for width in [1.0, 60.0, 300.0, 500.0, 640.0, 900.0, 1920.0] {
        for height in [1.0, 60.0, 200.0, 400.0, 1080.0] {
            drawn(&context, &mut view, &mut panel, [width, height], Vec::new());
        }
    }
    let texts = drawn(&context, &mut view, &mut panel, [1000.0, 600.0], Vec::new());
    for expected in [
        "door",
        "8.00 s",
        "gate",
        "36 frames",
        "last frames",
        "where",
    ] {
        assert!(
            texts.iter().any(|(text, _)| text == expected),
            "{expected}: {texts:?}"
        );
    }
}

#[test]
fn what_the_compiler_says_is_shown_with_buttons_for_the_loop() {
    let (_executor, mut panel) = scene();
    let context = Context::default();
    let mut view = View::new();
    let size = [1000.0, 600.0];
    panel.tell_code(
        Level::Error,
        "does not compile:\nerror[E0308]: mismatched types\n --> a.rs:3",
    );
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    let has =
        |texts: &[(String, Rect)], expected: &str| texts.iter().any(|(text, _)| text == expected);
    assert!(has(&texts, "does not compile:"), "{texts:?}");
    assert!(
        has(&texts, "error[E0308]: mismatched types\n --> a.rs:3"),
        "{texts:?}"
    );
    assert!(!has(&texts, "Loop"));
    panel.offer_rewind();
    drawn(&context, &mut view, &mut panel, size, Vec::new());
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    let (_, button) = texts.iter().find(|(text, _)| text == "Loop").unwrap();
    drawn(
        &context,
        &mut view,
        &mut panel,
        size,
        click(button.center()),
    );
    drawn(&context, &mut view, &mut panel, size, Vec::new());
    assert!(panel.take_loop() && !panel.take_back());
    // Long words leave room for the list.
    panel.tell_code(Level::Error, "error\n".repeat(500));
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    assert!(has(&texts, "door") && has(&texts, "gate"), "{texts:?}");
}

#[test]
fn a_click_selects_a_script() {
    let (_executor, mut panel) = scene();
    let context = Context::default();
    let mut view = View::new();
    let size = [1000.0, 600.0];
    drawn(&context, &mut view, &mut panel, size, Vec::new());
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    let (_, door) = texts.iter().find(|(text, _)| text == "door").unwrap();
    drawn(&context, &mut view, &mut panel, size, click(door.center()));
    drawn(&context, &mut view, &mut panel, size, Vec::new());
    let selected = panel.selected().unwrap();
    assert_eq!(
        panel.shown().unwrap().script(selected).unwrap().name(),
        "door"
    );
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    assert!(
        texts.iter().any(|(text, _)| text == "last polled"),
        "{texts:?}"
    );
}

#[test]
fn only_the_rows_on_the_screen_are_drawn() {
    let (mut executor, mut panel) = opened();
    for _ in 0..10_000 {
        executor.script("one of many").start(wait_seconds(9));
    }
    run(&mut executor, &mut panel, 2);
    let context = Context::default();
    let mut view = View::new();
    let size = [1000.0, 600.0];
    drawn(&context, &mut view, &mut panel, size, Vec::new());
    let texts = drawn(&context, &mut view, &mut panel, size, Vec::new());
    let count = texts
        .iter()
        .filter(|(text, _)| text == "one of many")
        .count();
    assert!((10..40).contains(&count), "{count}");
}

#[test]
fn a_closed_panel_draws_nothing() {
    let context = Context::default();
    let texts = drawn(
        &context,
        &mut View::new(),
        &mut Panel::new(),
        [300.0, 200.0],
        Vec::new(),
    );
    assert!(texts.is_empty());
}
