//! The app's side: when frames run, and when egui calls again.

use std::path::PathBuf;
use std::time::Instant;

use eframe::egui;
use framestep::prelude::*;

use crate::world::World;
use crate::{pilot, ui};

pub(crate) struct Tool {
    executor: Executor,
    world: World,
    /// When the latest frame began.
    last: Instant,
}

impl Tool {
    pub(crate) fn new(context: &egui::Context, demo: Option<PathBuf>) -> Self {
        let executor = Executor::builder()
            // However long egui has slept, the clock of the scripts must follow.
            .max_delta(f32::INFINITY)
            // A failed check of the demo must end the program.
            .propagate_panics(true)
            .build();
        let wake = context.clone();
        executor.on_wake(move || wake.request_repaint());

        let world = World::new(&executor, context);
        if let Some(folder) = demo {
            executor.spawn(pilot::play(folder)).named("pilot");
        }
        Tool {
            executor,
            world,
            last: Instant::now(),
        }
    }

    fn step(&mut self) {
        let now = Instant::now();
        let dt = now - self.last;
        self.last = now;
        let world = &mut self.world;
        self.executor.lend(world, |executor| executor.run_frame(dt));
    }

    /// Makes egui call again when a script is due.
    ///
    /// If a script becomes due after this, for example by a click in the frame about
    /// to be drawn, the waker is called.
    fn ask_for_a_frame(&self, context: &egui::Context) {
        if let Some(left) = self.executor.idle_until() {
            // Counted from the beginning of this frame.
            context.request_repaint_after(left.saturating_sub(self.last.elapsed()));
        }
    }
}

impl eframe::App for Tool {
    /// egui calls this before it draws, and while the window is hidden.
    fn logic(&mut self, context: &egui::Context, _: &mut eframe::Frame) {
        self.step();
        self.ask_for_a_frame(context);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        ui::show(ui, &mut self.world, &self.executor);
    }
}
