//! The panel in a window, with eframe.
//!
//! ```sh
//! cargo run --release                   # a small scene
//! cargo run --release -- --hunt         # five planted faults
//! cargo run --release -- 10000          # so many scripts
//! ```

#[path = "../../scene/mod.rs"]
mod scene;

use eframe::egui;
use framestep_panel::Panel;
use framestep_panel::egui_view::View;
use scene::Scene;

/// The runs of the scene can be compared, because all frames have the same length.
const DT: f32 = 1.0 / 60.0;

struct App {
    scene: Scene,
    make: fn(usize) -> Scene,
    count: usize,
    panel: Panel,
    view: View,
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        if self.panel.take_restart() {
            self.scene = (self.make)(self.count);
            self.panel.listen(&self.scene.executor);
        }
        if let Some(dt) = self.panel.dt(DT) {
            self.scene.run(dt);
        }
        self.panel.look(&self.scene.executor);
        self.view.show(ui, &mut self.panel);
        ui.ctx().request_repaint();
    }
}

fn main() -> eframe::Result {
    let word = std::env::args().nth(1);
    let make = match word.as_deref() {
        Some("--hunt") => |_| Scene::hunt(),
        _ => Scene::lively,
    };
    let count = word.and_then(|word| word.parse().ok()).unwrap_or(10);
    let scene = make(count);
    let mut panel = Panel::new();
    panel.listen(&scene.executor);
    panel.offer_restart();
    panel.open();
    let app = App {
        scene,
        make,
        count,
        panel,
        view: View::new(),
    };
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size([1180.0, 720.0]),
        ..Default::default()
    };
    eframe::run_native("Scripts", options, Box::new(|_| Ok(Box::new(app))))
}
