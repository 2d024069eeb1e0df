//! The view for egui 0.36, such as in Bevy 0.20 with `bevy_egui` 0.43.

use ::egui_0_36 as egui;

// One source for all versions of egui.
#[allow(
    clippy::duplicate_mod,
    reason = "each copy is for another version of egui"
)]
#[path = "egui/mod.rs"]
mod view;

pub use view::*;
