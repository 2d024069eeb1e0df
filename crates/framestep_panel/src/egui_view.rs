//! The view for egui 0.37, such as in eframe 0.37.

use ::egui;

// One source for all versions of egui.
#[allow(
    clippy::duplicate_mod,
    reason = "each copy is for another version of egui"
)]
#[path = "egui/mod.rs"]
mod view;

pub use view::*;
