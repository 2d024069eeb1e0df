//! Shows the world.

use eframe::egui::{
    self, Align, Align2, Color32, Frame, Id, Layout, Margin, ProgressBar, RichText, Slider,
    TextureOptions, Ui, vec2,
};
use framestep::prelude::*;

use crate::fractal::HEIGHT;
use crate::job::{Job, State};
use crate::toast::Toast;
use crate::world::World;

pub(crate) fn show(ui: &mut Ui, world: &mut World, executor: &Executor) {
    egui::Panel::top("buttons").show(ui, |ui| buttons(ui, world));
    egui::Panel::bottom("figures").show(ui, |ui| figures(ui, executor));
    egui::CentralPanel::default().show(ui, |ui| {
        if world.jobs.is_empty() {
            ui.centered_and_justified(|ui| ui.weak("Add a job."));
        }
        egui::ScrollArea::vertical().show(ui, |ui| jobs(ui, world));
    });
    dialogue(ui.ctx(), world);
    toasts(ui.ctx(), world);
}

fn buttons(ui: &mut Ui, world: &mut World) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.heading("Pictures");
        ui.add_space(16.0);
        if ui.button("Add a job").clicked() {
            world.add_job();
        }
        let pause = if world.queue.is_paused() {
            "Resume"
        } else {
            "Pause"
        };
        if ui.button(pause).clicked() {
            world.pause_or_resume();
        }
        if ui.button("Clear").clicked() {
            world.clear();
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button("Settings").clicked() {
                world.open_settings();
            }
        });
    });
    ui.add_space(6.0);
}

fn figures(ui: &mut Ui, executor: &Executor) {
    let next = match executor.idle_until() {
        Some(left) if left.is_zero() => "the next one at once".to_owned(),
        Some(left) => format!("the next one in {:.1} s", left.as_secs_f32()),
        None => "the next one after an event".to_owned(),
    };
    let frames = executor.time().frame;
    let scripts = executor.len();
    ui.weak(format!("{scripts} scripts, {frames} frames so far, {next}"));
}

fn jobs(ui: &mut Ui, world: &mut World) {
    let mut stopped = None;
    for job in &mut world.jobs {
        Frame::group(ui.style()).show(ui, |ui| {
            ui.horizontal(|ui| {
                if row(ui, job) {
                    stopped = Some(job.id);
                }
            });
        });
    }
    if let Some(id) = stopped {
        world.stop_job(id);
    }
}

/// Returns whether the user stops the job.
fn row(ui: &mut Ui, job: &mut Job) -> bool {
    let rows = job.rows;
    let (texture, drawn) = job.texture.get_or_insert_with(|| {
        let texture = ui.load_texture(job.name, job.image.clone(), TextureOptions::LINEAR);
        (texture, rows)
    });
    if *drawn < rows {
        texture.set(job.image.clone(), TextureOptions::LINEAR);
        *drawn = rows;
    }
    ui.image((texture.id(), vec2(80.0, 50.0)));
    ui.add_space(6.0);

    let mut is_stopped = false;
    ui.vertical(|ui| {
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            ui.strong(job.name);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let runs = !job.script.is_finished();
                is_stopped = ui.add_enabled(runs, egui::Button::new("Stop")).clicked();
                ui.add_space(8.0);
                let paused = job.script.is_paused();
                let (text, colour) = match job.state {
                    _ if runs && paused => ("paused".to_owned(), Color32::GRAY),
                    State::Waiting => ("waits for its turn".to_owned(), Color32::GRAY),
                    State::Working => ("at work".to_owned(), Color32::LIGHT_BLUE),
                    State::Done(took) => (
                        format!("done in {:.1} s", took.as_secs_f32()),
                        Color32::LIGHT_GREEN,
                    ),
                    State::Stopped => ("stopped".to_owned(), Color32::LIGHT_RED),
                };
                ui.colored_label(colour, text);
            });
        });
        ui.add(ProgressBar::new(share(rows)).desired_height(8.0));
    });
    is_stopped
}

fn dialogue(context: &egui::Context, world: &mut World) {
    let Some(dialogue) = &mut world.dialogue else {
        return;
    };
    let modal = egui::Modal::new(Id::unique("settings")).show(context, |ui| {
        ui.set_opacity(dialogue.shown);
        ui.set_width(320.0);
        ui.heading("Settings");
        ui.add_space(8.0);
        let draft = &mut dialogue.draft;
        ui.add(Slider::new(&mut draft.at_once, 1..=4).text("jobs at once"));
        ui.add(Slider::new(&mut draft.samples, 1..=8).text("samples a side"));
        ui.add(
            Slider::new(&mut draft.toasts, 1.0..=10.0)
                .step_by(0.5)
                .text("seconds that a toast stays"),
        );
        ui.add_space(12.0);
        ui.horizontal(|ui| {
            if ui.button("Keep").clicked() {
                dialogue.answered.emit(true);
            }
            if ui.button("Cancel").clicked() {
                dialogue.answered.emit(false);
            }
        });
    });
    // A click beside it, or escape.
    if modal.should_close() {
        dialogue.answered.emit(false);
    }
}

/// One above the other, the latest at the top.
fn toasts(context: &egui::Context, world: &World) {
    let mut bottom = -48.0;
    for (index, toast) in world.toasts.iter().enumerate() {
        let aside = 40.0 * (1.0 - toast.shown);
        egui::Area::new(Id::unique("toast").with(index))
            .order(egui::Order::Foreground)
            .anchor(Align2::RIGHT_BOTTOM, [aside - 16.0, bottom])
            .show(context, |ui| {
                ui.set_opacity(toast.shown);
                toast_frame(ui, toast);
            });
        bottom -= 46.0 * toast.room;
    }
}

fn toast_frame(ui: &mut Ui, toast: &Toast) {
    let frame = Frame::new()
        .fill(Color32::from_rgb(0x2b, 0x45, 0x63))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(14, 10));
    let shown = frame.show(ui, |ui| {
        ui.set_width(220.0);
        ui.label(RichText::new(&toast.text).color(Color32::WHITE));
    });
    if shown.response.interact(egui::Sense::click()).clicked() {
        toast.clicked.emit(());
    }
}

/// Rows as a share of the picture.
#[expect(clippy::cast_precision_loss, reason = "rows are few")]
fn share(rows: usize) -> f32 {
    rows as f32 / HEIGHT as f32
}
