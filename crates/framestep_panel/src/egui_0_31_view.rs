//! The view for egui 0.31, such as in macroquad with `egui-macroquad` 0.17.

use ::egui_0_31 as egui;

// One source for all versions of egui.
#[allow(
    clippy::duplicate_mod,
    reason = "each copy is for another version of egui"
)]
#[path = "egui/mod.rs"]
mod view;

pub use view::*;
