//! The panel in a Bevy app, with `bevy_egui`.
//!
//! F1 opens and closes it. A click on a figure selects that entity: with the box "selected", the
//! panel lists only its scripts.
//!
//! ```sh
//! cargo run --profile play --ignore-rust-version                  # Bevy builds with an older Rust than it states
//! cargo run --profile play --ignore-rust-version -- picture.png   # saves a picture, and ends
//! ```

mod panel;
mod picture;
mod village;

use bevy::prelude::*;
use bevy_framestep::prelude::*;

fn main() -> AppExit {
    let window = Window {
        title: "Scripts".into(),
        resolution: (1280, 720).into(),
        ..default()
    };
    let window = WindowPlugin {
        primary_window: Some(window),
        ..default()
    };
    // What the panel shows: lines, and how long polls take.
    let scripts = FramestepPlugin::default()
        .executor(|builder| builder.inspect(true).profile(true))
        .on_report(|report| error!("{report}"));
    let mut app = App::new();
    app.add_plugins((DefaultPlugins.set(window), scripts))
        .add_plugins((panel::plugin, village::plugin));
    if let Some(path) = std::env::args().nth(1) {
        picture::set_up(&mut app, path.into());
    }
    app.run()
}
