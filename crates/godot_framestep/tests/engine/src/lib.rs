//! Scripts for the checks in the engine.

mod game;
mod log;
mod probe;
mod story;
mod sweep;

use godot::prelude::*;

struct Checks;

#[gdextension]
// SAFETY: the class library is loaded once, by a Godot with the API level that the
// `.gdextension` file names.
unsafe impl ExtensionLibrary for Checks {}
