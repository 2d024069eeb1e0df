//! The panel at its public boundary.

mod bad_input;
mod code;
mod control;
#[cfg(feature = "egui")]
mod egui;
mod filters;
mod hunt;
mod listening;
mod model;
mod sources;
#[cfg(feature = "terminal")]
mod terminal;

use framestep::prelude::*;
use framestep_panel::{Panel, Row};

/// A quarter of a second: exact in binary.
const DT: f32 = 0.25;

/// An executor that records everything, and an open panel that listens to it.
fn opened() -> (Executor, Panel) {
    let executor = Executor::builder().inspect(true).profile(true).build();
    let mut panel = Panel::new();
    panel.listen(&executor);
    panel.open();
    (executor, panel)
}

fn run(executor: &mut Executor, panel: &mut Panel, frames: u32) {
    for _ in 0..frames {
        if let Some(dt) = panel.dt(DT) {
            executor.run_frame(dt);
        }
        panel.look(executor);
    }
}

/// The list as text: names, indented.
fn listed(panel: &mut Panel) -> Vec<String> {
    let rows = panel.rows().to_vec();
    let frame = panel.shown().unwrap();
    let line = |row: &Row| match row {
        Row::Owner {
            name, count, depth, ..
        } => format!("{:1$}{name} {count}", "", 2 * depth),
        Row::Script { id, depth } => {
            format!("{:1$}{2}", "", 2 * depth, frame.script(*id).unwrap().name())
        }
        _ => unreachable!(),
    };
    rows.iter().map(line).collect()
}

fn warnings(panel: &mut Panel) -> Vec<String> {
    panel
        .warnings()
        .iter()
        .map(|warning| warning.text.clone())
        .collect()
}
