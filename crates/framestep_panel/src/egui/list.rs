//! The tree of owners and scripts.

use std::time::Duration;

use super::columns::{Columns, SCROLL};
use super::egui::{
    CursorIcon, Painter, Rect, Response, ScrollArea, Sense, Shape, Stroke, Ui, pos2, vec2,
};
use super::paint::{self, Font, colour};
use super::{LINE, ROW};
use crate::model::{Kind, Level, Mark, Palette, Panel, Row};

pub(super) fn show(
    ui: &mut Ui,
    room: f32,
    follow: &mut bool,
    palette: &Palette,
    panel: &mut Panel,
) {
    let width = ui.available_width();
    let columns = Columns::new(width);
    head(ui, &columns, palette);
    let height = (room - LINE - 2.0).max(ROW);
    let selected = panel.selected();
    let rows = panel.rows();
    let count = rows.len();
    let mut area = ScrollArea::vertical()
        .id_salt("scripts")
        .auto_shrink([false, false])
        .max_height(height);
    if std::mem::take(follow) {
        let is_it = |row: &Row| selected.is_some() && row.id() == selected;
        if let Some(at) = rows.iter().position(is_it) {
            area = area.vertical_scroll_offset((at as f32 * ROW - height / 2.0).max(0.0));
        }
    }
    ui.scope(|ui| {
        ui.set_height(height);
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.spacing_mut().scroll.floating = false;
        ui.spacing_mut().scroll.bar_width = SCROLL - 4.0;
        if count == 0 {
            let has_any = panel.shown().is_some_and(|frame| frame.scripts().len() > 0);
            ui.add_space(8.0);
            ui.label(if has_any {
                "  No script matches the filter."
            } else {
                "  No scripts."
            });
        }
        area.show_rows(ui, ROW, count, |ui, range| {
            for index in range {
                let Some(row) = panel.rows().get(index).cloned() else {
                    continue;
                };
                let size = vec2(ui.available_width(), ROW);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                let is_selected = selected.is_some() && row.id() == selected;
                let ground = if is_selected {
                    palette.selected
                } else if response.hovered() {
                    palette.raised
                } else if index % 2 == 1 {
                    palette.stripe
                } else {
                    palette.ground
                };
                let painter = ui.painter_at(rect);
                painter.rect_filled(rect, 0.0, colour(ground));
                match &row {
                    Row::Owner { name, .. } => {
                        owner(&painter, rect, &row, palette);
                        if response.clicked() {
                            panel.fold(name);
                        }
                    }
                    Row::Script { .. } => {
                        if response.clicked() {
                            panel.select(row.id().filter(|_| !is_selected));
                        }
                        script(ui, &response, &row, &columns, palette, panel);
                    }
                }
            }
        });
    });
}

fn head(ui: &mut Ui, columns: &Columns, palette: &Palette) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), LINE + 2.0), Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(
        rect.with_min_y(rect.bottom() - 1.0),
        0.0,
        colour(palette.line),
    );
    let heads = [
        "name",
        "waits for",
        "left",
        "where",
        "polls",
        "a frame",
        "longest",
        "last frames",
    ];
    for (at, (head, rect)) in heads.into_iter().zip(columns.rects(rect)).enumerate() {
        let ink = colour(palette.weak);
        if (4..7).contains(&at) {
            paint::right(&painter, rect, head, Font::Small, ink);
        } else {
            paint::text(&painter, rect, head, Font::Small, ink);
        }
    }
}

fn owner(painter: &Painter, rect: Rect, row: &Row, palette: &Palette) {
    let Row::Owner {
        name,
        count,
        depth,
        folded,
    } = row
    else {
        return;
    };
    let at = rect.left_center() + vec2(16.0 + 16.0 * *depth as f32, 0.0);
    let points = if *folded {
        vec![
            at + vec2(-2.0, -4.0),
            at + vec2(3.0, 0.0),
            at + vec2(-2.0, 4.0),
        ]
    } else {
        vec![
            at + vec2(-4.0, -2.0),
            at + vec2(4.0, -2.0),
            at + vec2(0.0, 3.0),
        ]
    };
    painter.add(Shape::convex_polygon(
        points,
        colour(palette.weak),
        Stroke::NONE,
    ));
    let place = rect.with_min_x(at.x + 12.0);
    let end = paint::text(painter, place, name, Font::Normal, colour(palette.text));
    let scripts = if *count == 1 { "script" } else { "scripts" };
    let place = rect.with_min_x(end + 10.0);
    let text = format!("{count} {scripts}");
    paint::text(painter, place, &text, Font::Small, colour(palette.weak));
}

fn script(
    ui: &Ui,
    line: &Response,
    row: &Row,
    columns: &Columns,
    palette: &Palette,
    panel: &mut Panel,
) {
    let Row::Script { id, depth } = row else {
        return;
    };
    let rect = line.rect;
    let found = panel.shown().and_then(|frame| frame.script(*id));
    let Some((cells, at)) = found.and_then(|found| Some((panel.cells(found)?, found.line())))
    else {
        return;
    };
    let painter = ui.painter_at(rect);
    let [name, wait, bar, place, polls, average, longest, strip] = columns.rects(rect);
    let ink = colour(palette.kind(cells.kind));
    let x = name.left() + (14.0 * *depth as f32).min(name.width() / 2.0);
    let square = Rect::from_center_size(pos2(x + 5.0, rect.center().y), vec2(8.0, 8.0));
    painter.rect_filled(square, 2.0, ink);
    let room = name.with_min_x(x + 16.0);
    let name_ink = if panel.has_restarted(*id) {
        palette.level(Level::Warning)
    } else {
        palette.text
    };
    let end = paint::text(&painter, room, &cells.name, Font::Normal, colour(name_ink));
    let room = name.with_min_x(end + 8.0);
    if room.width() > 24.0 {
        paint::text(
            &painter,
            room,
            &cells.description,
            Font::Small,
            colour(palette.weak),
        );
    }
    paint::text(&painter, wait, &cells.wait, Font::Normal, ink);
    if let Some(left) = cells.left.filter(|_| columns.bar > 0.0) {
        let bar = Rect::from_center_size(bar.center(), vec2(bar.width(), 6.0));
        painter.rect_filled(bar, 3.0, colour(palette.line));
        let full = bar.with_max_x(bar.left() + bar.width() * left);
        painter.rect_filled(full, 3.0, ink);
    }
    if columns.place > 0.0 && !cells.place.is_empty() {
        let response = ui.interact(place, line.id.with("line"), Sense::click());
        let text = if response.hovered() {
            palette.accent
        } else {
            palette.text
        };
        let end = paint::text(&painter, place, &cells.place, Font::Normal, colour(text));
        if response.hovered() {
            let y = rect.center().y + 8.0;
            painter.hline(place.left()..=end, y, Stroke::new(1.0, colour(text)));
        }
        let response = response.on_hover_cursor(CursorIcon::PointingHand);
        if let Some(at) = at {
            if response.on_hover_text(at.to_string()).clicked() {
                super::open(ui, panel, at);
            }
        }
    }
    let numbers = [
        (polls, &cells.polls),
        (average, &cells.average),
        (longest, &cells.longest),
    ];
    for (rect, text) in numbers {
        paint::right(&painter, rect, text, Font::Normal, colour(palette.weak));
    }
    if columns.strip > 0.0 {
        marks(&painter, strip, *id, palette, panel);
    }
}

/// How wide a mark is.
const MARK: f32 = 3.0;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "some hundreds"
)]
fn marks(
    painter: &Painter,
    strip: Rect,
    id: framestep::task::CoroutineId,
    palette: &Palette,
    panel: &Panel,
) {
    let marks = panel.marks(id, (strip.width() / MARK) as usize);
    let slow = Duration::from_millis(4);
    let middle = strip.center().y;
    let bottom = strip.bottom() - 4.0;
    let tall = strip.height() - 8.0;
    let mut index = 0;
    while index < marks.len() {
        let mark = marks[index];
        // Adjacent marks that look alike are drawn as one rectangle.
        let same = marks[index..]
            .iter()
            .take_while(|other| **other == mark)
            .count();
        let is_bar = matches!(mark, Mark::Polled(_) | Mark::Spawned | Mark::Ended);
        let length = if is_bar { 1 } else { same };
        let x = strip.left() + index as f32 * MARK;
        let wide = length as f32 * MARK - if is_bar { 1.0 } else { 0.0 };
        let line = |height: f32| {
            Rect::from_min_max(pos2(x, middle - height), pos2(x + wide, middle + height))
        };
        let column =
            |height: f32| Rect::from_min_max(pos2(x, bottom - height), pos2(x + wide, bottom));
        match mark {
            Mark::Absent => {}
            Mark::Spawned | Mark::Ended => {
                painter.rect_filled(column(tall), 0.0, colour(palette.text));
            }
            Mark::Polled(took) => {
                let part = (took.as_secs_f32() / slow.as_secs_f32()).sqrt().min(1.0);
                let is_slow = took >= slow;
                let ink = if is_slow {
                    palette.level(Level::Error)
                } else {
                    palette.accent
                };
                painter.rect_filled(column(5.0 + (tall - 5.0) * part), 0.0, colour(ink));
            }
            Mark::Paused => {
                let ink = palette.faded(palette.kind(Kind::Paused), 0.45);
                painter.rect_filled(line(3.0), 0.0, colour(ink));
            }
            Mark::Waited(kind) => {
                let ink = palette.faded(palette.kind(kind), 0.5);
                painter.rect_filled(line(0.75), 0.0, colour(ink));
            }
        }
        index += length;
    }
}
