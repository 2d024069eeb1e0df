//! What is told about code that is changed while the game runs.

use super::LINE;
use super::egui::{FontId, RichText, ScrollArea, Sense, Ui, vec2};
use super::paint::{self, Font, colour};
use crate::model::{Palette, Panel};

/// The height of the words of the compiler, at most.
const WORDS: f32 = 220.0;

pub(super) fn show(ui: &mut Ui, palette: &Palette, panel: &Panel) {
    let Some((level, text)) = panel.code() else {
        return;
    };
    let (first, words) = text.split_once('\n').unwrap_or((text, ""));
    let ink = palette.level(level);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), LINE + 2.0), Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, colour(palette.faded(ink, 0.1)));
    let place = rect
        .with_min_x(rect.left() + 12.0)
        .with_max_x(rect.right() - 6.0);
    paint::text(&painter, place, first, Font::Normal, colour(ink));
    response.on_hover_text(first);
    if words.is_empty() {
        return;
    }
    let room = WORDS.min(ui.available_height() / 3.0);
    ScrollArea::both()
        .id_salt("code")
        .auto_shrink([false, true])
        .max_height(room)
        .show(ui, |ui| {
            let font = FontId::monospace(12.0);
            let words = RichText::new(words).font(font).color(colour(palette.text));
            ui.label(words);
        });
}
