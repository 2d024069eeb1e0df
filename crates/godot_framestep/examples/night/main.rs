//! A scene at night that plays itself: its actors are nodes, and a dozen kinds of scripts move
//! them. `project` opens in the editor; `scripts.rs` is the file to read.

#![expect(clippy::cast_precision_loss, reason = "small numbers, for pictures")]

mod figure;
mod scripts;

use godot::prelude::*;

struct Night;

#[gdextension]
// SAFETY: the class library is loaded once, by a Godot with the API level that the
// `.gdextension` file names.
unsafe impl ExtensionLibrary for Night {}
