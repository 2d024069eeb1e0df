//! Texts and marks.

use super::egui::text::{LayoutJob, TextWrapping};
use super::egui::{Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, vec2};
use crate::model::{Level, Palette};

#[derive(Clone, Copy)]
pub(super) enum Font {
    Normal,
    Small,
}

impl Font {
    fn id(self) -> FontId {
        match self {
            Font::Normal => FontId::proportional(13.0),
            Font::Small => FontId::proportional(11.0),
        }
    }
}

pub(super) fn colour([red, green, blue]: [u8; 3]) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// Writes one line at the left of `rect`, cut with `…`. Returns its right end.
pub(super) fn text(painter: &Painter, rect: Rect, text: &str, font: Font, ink: Color32) -> f32 {
    put(painter, rect, text, font, ink, false)
}

/// Writes one line at the right of `rect`.
pub(super) fn right(painter: &Painter, rect: Rect, text: &str, font: Font, ink: Color32) {
    put(painter, rect, text, font, ink, true);
}

fn put(painter: &Painter, rect: Rect, text: &str, font: Font, ink: Color32, is_right: bool) -> f32 {
    if rect.width() < 4.0 || text.is_empty() {
        return rect.left();
    }
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font.id(), ink);
    job.wrap = TextWrapping::truncate_at_width(rect.width());
    let galley = painter.layout_job(job);
    let size = galley.size();
    let x = if is_right {
        (rect.right() - size.x).max(rect.left())
    } else {
        rect.left()
    };
    let y = rect.center().y - size.y / 2.0;
    painter.galley(Pos2::new(x, y.round()), galley, ink);
    x + size.x
}

/// A cross, a triangle or a dot.
pub(super) fn warning_mark(painter: &Painter, at: Pos2, level: Level, palette: &Palette) {
    let ink = colour(palette.level(level));
    match level {
        Level::Error => {
            painter.circle_filled(at, 6.5, ink);
            let stroke = Stroke::new(1.6, colour(palette.ground));
            painter.line_segment([at - vec2(2.6, 2.6), at + vec2(2.6, 2.6)], stroke);
            painter.line_segment([at + vec2(-2.6, 2.6), at + vec2(2.6, -2.6)], stroke);
        }
        Level::Warning => {
            let points = vec![
                at + vec2(0.0, -6.5),
                at + vec2(7.0, 6.0),
                at + vec2(-7.0, 6.0),
            ];
            painter.add(Shape::convex_polygon(points, ink, Stroke::NONE));
            let stroke = Stroke::new(1.6, colour(palette.ground));
            painter.line_segment([at - vec2(0.0, 2.6), at + vec2(0.0, 2.0)], stroke);
            painter.circle_filled(at + vec2(0.0, 4.2), 0.9, colour(palette.ground));
        }
        Level::Note => drop(painter.circle_filled(at, 3.0, ink)),
    }
}
