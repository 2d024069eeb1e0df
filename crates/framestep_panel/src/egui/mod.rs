//! The view for egui. It draws with the painter, and knows no backend.

mod code;
mod columns;
mod film;
mod list;
mod paint;
mod tools;

use std::panic::Location;

use framestep::task::CoroutineId;

use super::egui::{self, Sense, Ui, vec2};
use crate::model::{Level, Palette, Panel};

use paint::{Font, colour};

/// The view of a [`Panel`] in egui.
///
/// # Examples
///
/// In `eframe`: `view.show(ui, &mut panel)` in `App::ui`, in a panel or in the whole window. For a
/// window over a game: `view.window(context, &mut panel)`.
#[derive(Debug, Default)]
pub struct View {
    /// Whether the selected script must be scrolled to.
    follow: bool,
    /// The script whose stop must be confirmed.
    confirm: Option<CoroutineId>,
    all_warnings: bool,
}

/// The height of a line of the list.
const ROW: f32 = 21.0;
/// The height of a line of text.
const LINE: f32 = 18.0;

impl View {
    /// A view.
    pub fn new() -> Self {
        Self::default()
    }

    /// Draws the panel as a window over the game, if it is open.
    pub fn window(&mut self, context: &egui::Context, panel: &mut Panel) {
        if !panel.is_open() {
            return;
        }
        let mut is_open = true;
        egui::Window::new("Scripts")
            .default_size([760.0, 480.0])
            .open(&mut is_open)
            .show(context, |ui| self.show(ui, panel));
        if !is_open {
            panel.close();
        }
    }

    /// Draws the panel in the remaining space of `ui`, if it is open.
    pub fn show(&mut self, ui: &mut Ui, panel: &mut Panel) {
        if !panel.is_open() {
            return;
        }
        let palette = Palette::new(ui.visuals().dark_mode);
        let ground = ui.available_rect_before_wrap();
        ui.painter()
            .rect_filled(ground, 0.0, colour(palette.ground));
        ui.spacing_mut().item_spacing = vec2(6.0, 0.0);
        ui.visuals_mut().override_text_color = Some(colour(palette.text));
        tools::show(ui, palette, panel);
        code::show(ui, palette, panel);
        self.warnings(ui, palette, panel);
        if panel.shown().is_none() {
            ui.label("No frame has been recorded yet: `Panel::look` has not been called.");
            return;
        }
        tools::legend(ui, palette, panel);

        let details = panel
            .selected()
            .map(|id| panel.details(id))
            .unwrap_or_default();
        let details_height = if details.is_empty() || ground.height() < 300.0 {
            0.0
        } else {
            details.len() as f32 * LINE + 40.0
        };
        let film_height = if ground.height() < 220.0 { 0.0 } else { 48.0 };
        let bottom = details_height + film_height;
        let room = (ui.available_height() - bottom).max(ROW * 2.0);
        list::show(ui, room, &mut self.follow, palette, panel);
        if details_height > 0.0 {
            self.details(ui, &details, palette, panel);
        }
        if film_height > 0.0 {
            film::show(ui, film_height, palette, panel);
        }
    }

    fn warnings(&mut self, ui: &mut Ui, palette: &Palette, panel: &mut Panel) {
        let all = panel.warnings();
        // As many as leave most of the room to the list, or most of it on request.
        let share = if self.all_warnings { 0.7 } else { 0.3 };
        let most = fits(ui.available_height() * share);
        let shown = if all.len() > most {
            most - 1
        } else {
            all.len()
        };
        let more = all.len() - shown;
        let listed = all[..shown].to_vec();
        for warning in listed {
            let ink = colour(palette.level(warning.level));
            let (rect, response) =
                ui.allocate_exact_size(vec2(ui.available_width(), LINE + 2.0), Sense::click());
            let strength = match warning.level {
                Level::Note => 0.06,
                _ => 0.14,
            };
            let strength = if response.hovered() {
                strength * 2.0
            } else {
                strength
            };
            let painter = ui.painter_at(rect);
            painter.rect_filled(
                rect,
                0.0,
                colour(palette.faded(palette.level(warning.level), strength)),
            );
            paint::warning_mark(
                &painter,
                rect.left_center() + vec2(14.0, 0.0),
                warning.level,
                palette,
            );
            let text = rect
                .with_min_x(rect.left() + 28.0)
                .with_max_x(rect.right() - 6.0);
            paint::text(&painter, text, &warning.text, Font::Normal, ink);
            let hint = match warning.at {
                Some(at) => format!("{}\n\n{at}", warning.text),
                None => warning.text.clone(),
            };
            if response.on_hover_text(hint).clicked() {
                panel.select(warning.script);
                self.follow = true;
            }
        }
        let few = fits(ui.available_height() * 0.3);
        if more > 0 || self.all_warnings && shown > few {
            let text = match more {
                0 => "Fewer warnings".to_owned(),
                more if self.all_warnings => format!("Fewer warnings ({more} are not listed)"),
                more => format!("{more} more warnings"),
            };
            let (rect, response) =
                ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::click());
            let text_rect = rect.with_min_x(rect.left() + 28.0);
            let painter = ui.painter_at(rect);
            paint::text(
                &painter,
                text_rect,
                &text,
                Font::Normal,
                colour(palette.accent),
            );
            if response.clicked() {
                self.all_warnings = !self.all_warnings;
            }
        }
    }

    fn details(
        &mut self,
        ui: &mut Ui,
        details: &[(&'static str, String)],
        palette: &Palette,
        panel: &mut Panel,
    ) {
        let (rule, _) = ui.allocate_exact_size(vec2(ui.available_width(), 6.0), Sense::hover());
        let painter = ui.painter();
        painter.rect_filled(rule.with_max_y(rule.top() + 1.0), 0.0, colour(palette.line));
        for (head, text) in details {
            let (rect, _) =
                ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::hover());
            let painter = ui.painter_at(rect);
            let head_rect = rect.with_min_x(rect.left() + 10.0);
            paint::text(
                &painter,
                head_rect,
                head,
                Font::Normal,
                colour(palette.weak),
            );
            let text_rect = rect
                .with_min_x(rect.left() + 100.0)
                .with_max_x(rect.right() - 8.0);
            paint::text(
                &painter,
                text_rect,
                text,
                Font::Normal,
                colour(palette.text),
            );
        }
        let frame = panel.shown();
        let script = panel.selected().and_then(|id| frame?.script(id));
        let Some(script) = script else { return };
        let (id, kind, line) = (script.id(), script.kind(), script.line());
        let owner = script.owner().map(ToOwned::to_owned);
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            ui.add_space(8.0);
            let is_paused = kind == crate::Kind::Paused;
            if ui
                .button(if is_paused { "Resume" } else { "Pause" })
                .clicked()
            {
                if is_paused {
                    panel.resume(id);
                } else {
                    panel.pause(id);
                }
            }
            let asks = self.confirm == Some(id);
            if ui
                .button(if asks { "Really stop?" } else { "Stop" })
                .clicked()
            {
                if asks {
                    panel.stop(id);
                }
                self.confirm = (!asks).then_some(id);
            }
            if let Some(at) = line {
                let button = ui.button("Open the line");
                if button.on_hover_text(at.to_string()).clicked() {
                    open(ui, panel, at);
                }
            }
            if let Some(owner) = owner {
                if ui.button("Only this owner").clicked() {
                    panel.filter_mut().text = owner;
                }
            }
            if ui.button("Close").clicked() {
                panel.select(None);
            }
        });
    }
}

/// How many warnings fit into a height: three at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a screen has few lines"
)]
fn fits(height: f32) -> usize {
    (height / (LINE + 2.0)).clamp(3.0, 100.0) as usize
}

fn open(ui: &Ui, panel: &mut Panel, at: &'static Location<'static>) {
    if let Some(text) = panel.open_line(at) {
        ui.ctx().copy_text(text);
    }
}
