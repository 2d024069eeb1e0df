//! A live view of the scripts of [framestep], for egui and for terminals.
//!
//! [`Panel`] looks at an executor once a frame while it is open. The views draw it: the tree of
//! owners and scripts, what each waits for and where, a bar for the time left, its last frames,
//! and warnings about scripts that are stuck. They pause the game, slow it down, step it by a frame,
//! and go back through the recorded frames.
//!
//! | feature | view |
//! |---|---|
//! | `egui` | `egui_view`, for egui 0.37: eframe |
//! | `egui_0_36` | `egui_0_36_view`: Bevy 0.20 with `bevy_egui` |
//! | `egui_0_31` | `egui_0_31_view`: macroquad with `egui-macroquad` |
//! | `terminal` | `terminal`, with ratatui |
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//! use framestep_panel::Panel;
//!
//! let mut executor = Executor::builder().inspect(true).profile(true).build();
//! let mut panel = Panel::new();
//! panel.listen(&executor); // what emits, wakes and pauses: only while the panel is open
//! panel.open();
//! executor.script("door").start(wait_seconds(2));
//!
//! for _ in 0..3 {
//!     if let Some(dt) = panel.dt(0.25) {
//!         executor.run_frame(dt);
//!     }
//!     panel.look(&executor);
//!     // A view draws the panel here.
//! }
//! let frame = panel.shown().unwrap();
//! assert_eq!(frame.scripts().next().unwrap().name(), "door");
//! assert!(panel.warnings().is_empty());
//! ```

#![forbid(unsafe_code)]
#![allow(
    clippy::cast_precision_loss,
    reason = "a picture needs no more digits than a float has"
)]
#![allow(clippy::format_push_string, reason = "it reads better than `write!`")]

mod model;

#[cfg(feature = "egui_0_31")]
pub mod egui_0_31_view;
#[cfg(feature = "egui_0_36")]
pub mod egui_0_36_view;
#[cfg(feature = "egui")]
pub mod egui_view;
#[cfg(feature = "terminal")]
pub mod terminal;

pub use model::{
    Dt, Filter, Frame, Kind, Level, Mark, Order, Pace, Panel, Row, Script, Waiting, Warning,
};
