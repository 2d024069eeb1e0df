//! The recorded frames, for going back in time.

use std::time::Duration;

use super::egui::{Rect, Sense, Stroke, Ui, pos2, vec2};
use super::paint::{self, Font, colour};
use crate::model::{Frame, Level, Palette, Panel, duration};

/// A bar for each frame; its height is the time of its polls, on a fixed scale. A click or a drag shows that
/// frame.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within the frames"
)]
pub(super) fn show(ui: &mut Ui, height: f32, palette: &Palette, panel: &mut Panel) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, colour(palette.raised));
    let graph = Rect::from_min_max(rect.min + vec2(10.0, 18.0), rect.max - vec2(10.0, 5.0));
    let frames: Vec<(u64, Duration)> = panel
        .frames()
        .map(|frame| (frame.number(), frame.spent()))
        .collect();
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else {
        return;
    };
    let longest = frames
        .iter()
        .map(|(_, spent)| *spent)
        .max()
        .unwrap_or_default();
    let shown = panel.shown().map_or(last.0, Frame::number);
    let wide = (graph.width() / frames.len() as f32).min(8.0);
    for (at, (number, spent)) in frames.iter().enumerate() {
        let x = graph.left() + at as f32 * wide;
        let part = panel.height_of(*spent);
        let top = graph.bottom() - 1.5 - (graph.height() - 1.5) * part;
        let gap = if wide > 3.0 { 1.0 } else { 0.0 };
        let bar = Rect::from_min_max(pos2(x, top), pos2(x + wide - gap, graph.bottom()));
        let strength = if *number > shown { 0.35 } else { 0.75 };
        let ink = if *spent > panel.budget() {
            palette.level(Level::Error)
        } else {
            palette.accent
        };
        painter.rect_filled(bar, 0.0, colour(palette.faded(ink, strength)));
        if panel.has_exchanged_code(*number) {
            let ink = colour(palette.level(Level::Warning));
            let mark = rect.top() + 16.0..=rect.bottom();
            painter.vline(x + wide - 0.5, mark, Stroke::new(1.5, ink));
        }
        if *number == shown {
            let x = x + wide / 2.0;
            painter.vline(
                x,
                rect.top() + 16.0..=rect.bottom(),
                Stroke::new(2.0, colour(palette.text)),
            );
        }
    }
    if !longest.is_zero() {
        let y = graph.bottom() - (graph.height() - 1.5) / 2.0;
        let ink = colour(palette.faded(palette.text, 0.5));
        painter.hline(graph.left()..=graph.right(), y, Stroke::new(1.0, ink));
    }
    let label = rect.with_max_y(rect.top() + 17.0).shrink2(vec2(10.0, 0.0));
    let text = format!("frames {} to {}", first.0, last.0);
    let text = if panel.is_live() {
        format!("{text}   drag here to go back in time")
    } else {
        format!("{text}   frame {shown} is shown: resume to return")
    };
    paint::text(&painter, label, &text, Font::Small, colour(palette.weak));
    let most = format!(
        "polls of a frame: {} at most; the line is at {}",
        duration(longest),
        duration(panel.budget())
    );
    if rect.width() > 460.0 && !longest.is_zero() {
        paint::right(&painter, label, &most, Font::Small, colour(palette.weak));
    }
    if let Some(at) = response.interact_pointer_pos() {
        let index = ((at.x - graph.left()) / wide).max(0.0) as usize;
        let (number, _) = frames[index.min(frames.len() - 1)];
        panel.show_frame(number);
    }
}
