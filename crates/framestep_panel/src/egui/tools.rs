//! The buttons at the top, and the legend.

use super::egui::{Align, Button, Layout, Painter, Rect, Sense, Shape, Stroke, TextEdit, Ui, vec2};
use super::paint::{self, Font, colour};
use crate::model::{Kind, Level, Palette, Panel, duration};

/// The width of the filters.
const FILTERS: f32 = 330.0;

#[derive(Clone, Copy)]
enum Icon {
    Play,
    Pause,
    Frame,
    Step,
}

pub(super) fn show(ui: &mut Ui, palette: &Palette, panel: &mut Panel) {
    let bar = ui.available_rect_before_wrap();
    let is_narrow = bar.width() < 900.0;
    let height = if is_narrow { 66.0 } else { 34.0 };
    let bar = bar.with_max_y(bar.top() + height);
    ui.painter().rect_filled(bar, 0.0, colour(palette.raised));
    ui.add_space(5.0);
    ui.horizontal(|ui| {
        ui.set_height(24.0);
        ui.add_space(6.0);
        pace(ui, palette, panel);
        ui.add_space(4.0);
        let right = if is_narrow { 8.0 } else { FILTERS };
        state(ui, right, palette, panel);
        if !is_narrow {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add_space(8.0);
                filters(ui, panel);
            });
        }
    });
    if is_narrow {
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            ui.set_height(24.0);
            ui.add_space(6.0);
            filters(ui, panel);
        });
    }
    ui.add_space(5.0);
}

fn pace(ui: &mut Ui, palette: &Palette, panel: &mut Panel) {
    let is_paused = panel.pace().paused;
    let (icon, hint) = if is_paused {
        (Icon::Play, "Resume the game")
    } else {
        (Icon::Pause, "Pause the game")
    };
    if button(ui, icon, hint, palette) {
        panel.set_paused(!is_paused);
    }
    if button(ui, Icon::Frame, "Run one frame", palette) {
        panel.one_frame();
    }
    if button(ui, Icon::Step, "Run up to the next fixed step", palette) {
        panel.one_step();
    }
    if ui
        .add(Button::new("−").small())
        .on_hover_text("Slower")
        .clicked()
    {
        panel.shift_speed(false);
    }
    let speed = format!("×{}", panel.pace().speed);
    if ui
        .add(Button::new(speed).small())
        .on_hover_text("The usual speed")
        .clicked()
    {
        panel.set_speed(1.0);
    }
    if ui
        .add(Button::new("+").small())
        .on_hover_text("Faster")
        .clicked()
    {
        panel.shift_speed(true);
    }
    if panel.can_rewind() {
        let hint = "Play the last seconds again and again, or go on";
        if ui.button("Loop").on_hover_text(hint).clicked() {
            panel.toggle_loop();
        }
        if ui
            .button("Back")
            .on_hover_text("Go back by some seconds")
            .clicked()
        {
            panel.go_back();
        }
    }
    if panel.can_restart() && ui.button("Run again").clicked() {
        panel.restart();
    }
}

/// The state of the game. `right` is the width to leave free at the right end of the bar.
fn state(ui: &mut Ui, right: f32, palette: &Palette, panel: &mut Panel) {
    let (word, ink) = match (panel.has_ended(), panel.is_live(), panel.pace().paused) {
        (true, ..) => ("Ended", palette.level(Level::Error)),
        (_, false, _) => ("Back in time", palette.level(Level::Warning)),
        (_, _, true) => ("Paused", palette.level(Level::Warning)),
        _ => ("Running", palette.kind(Kind::Time)),
    };
    let Some(frame) = panel.shown() else { return };
    let mut text = format!(
        "frame {}   {}",
        frame.number(),
        duration(frame.time().elapsed)
    );
    text.push_str(&format!("   {} scripts", frame.scripts().len()));
    if !frame.spent().is_zero() {
        text.push_str(&format!("   {} in polls", duration(frame.spent())));
    }
    let width = (ui.available_width() - right).max(0.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::hover());
    let painter = ui.painter_at(rect);
    let end = paint::text(&painter, rect, word, Font::Normal, colour(ink));
    let rest = rect.with_min_x(end + 12.0);
    paint::text(&painter, rest, &text, Font::Normal, colour(palette.text));
    if let Some(missing) = panel.missing() {
        response.on_hover_text(missing);
    }
}

/// From right to left, as the bar lays them out.
fn filters(ui: &mut Ui, panel: &mut Panel) {
    let mut text = std::mem::take(&mut panel.filter_mut().text);
    ui.add(
        TextEdit::singleline(&mut text)
            .hint_text("Filter")
            .desired_width(130.0),
    );
    panel.filter_mut().text = text;
    let order = panel.order();
    let hint = "The order of the list";
    if ui.button(order.word()).on_hover_text(hint).clicked() {
        panel.set_order(order.next());
    }
    let hint = match panel.entity() {
        Some(entity) => format!("Only the scripts of {entity}"),
        None => "Only the scripts of the selected entity: the game has selected none".to_owned(),
    };
    let mut only = panel.filter().only_entity;
    let is_usable = panel.entity().is_some() || only;
    let shown = ui.add_enabled_ui(is_usable, |ui| ui.checkbox(&mut only, "selected"));
    shown.inner.on_hover_text(hint);
    panel.filter_mut().only_entity = only;
}

fn button(ui: &mut Ui, icon: Icon, hint: &str, palette: &Palette) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(26.0, 24.0), Sense::click());
    let painter = ui.painter_at(rect);
    let ground = if response.hovered() {
        palette.selected
    } else {
        palette.line
    };
    painter.rect_filled(rect, 4.0, colour(ground));
    draw(&painter, rect, icon, palette);
    response.on_hover_text(hint).clicked()
}

fn draw(painter: &Painter, rect: Rect, icon: Icon, palette: &Palette) {
    let ink = colour(palette.text);
    let at = rect.center();
    let triangle = |x: f32, width: f32| {
        let points = vec![
            at + vec2(x, -6.0),
            at + vec2(x + width, 0.0),
            at + vec2(x, 6.0),
        ];
        painter.add(Shape::convex_polygon(points, ink, Stroke::NONE));
    };
    let block = |x: f32, width: f32| {
        let part = Rect::from_min_size(at + vec2(x, -6.0), vec2(width, 12.0));
        painter.rect_filled(part, 0.5, ink);
    };
    match icon {
        Icon::Play => triangle(-4.0, 10.0),
        Icon::Pause => {
            block(-5.0, 3.5);
            block(1.5, 3.5);
        }
        Icon::Frame => {
            triangle(-5.0, 7.0);
            block(3.0, 2.5);
        }
        Icon::Step => {
            block(-6.0, 2.5);
            triangle(-2.5, 6.0);
            block(4.5, 2.5);
        }
    }
}

/// The kinds with their colours and counts. A click lists only that kind.
pub(super) fn legend(ui: &mut Ui, palette: &Palette, panel: &mut Panel) {
    let counts = panel
        .shown()
        .map(|frame| Kind::ALL.map(|kind| (kind, frame.count(kind))));
    ui.add_space(4.0);
    let mut clicked = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.add_space(6.0);
        let filter = panel.filter();
        for (kind, count) in counts.into_iter().flatten() {
            let is_listed = filter.kinds.contains(&kind);
            if count == 0 && !is_listed {
                continue;
            }
            let text = format!("{} {count}", kind.word());
            let width = 26.0 + 7.0 * text.len() as f32;
            let (rect, response) = ui.allocate_exact_size(vec2(width, 20.0), Sense::click());
            let painter = ui.painter_at(rect);
            if is_listed || response.hovered() {
                painter.rect_filled(rect, 4.0, colour(palette.selected));
            }
            let is_on = filter.kinds.is_empty() || is_listed;
            let fade = |ink| if is_on { ink } else { palette.faded(ink, 0.5) };
            let square =
                Rect::from_center_size(rect.left_center() + vec2(12.0, 0.0), vec2(9.0, 9.0));
            painter.rect_filled(square, 2.0, colour(fade(palette.kind(kind))));
            let place = rect.with_min_x(rect.left() + 21.0);
            paint::text(
                &painter,
                place,
                &text,
                Font::Normal,
                colour(fade(palette.text)),
            );
            let hint = "List only this kind. Another click lists all.";
            if response.on_hover_text(hint).clicked() {
                clicked = Some(kind);
            }
        }
    });
    if let Some(kind) = clicked {
        panel.filter_mut().toggle(kind);
    }
    ui.add_space(4.0);
}
