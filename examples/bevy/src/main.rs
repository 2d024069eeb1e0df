//! A scene in Bevy. Every part is a script of an entity: doors, guards, turrets and
//! their bolts, the walker, the pause menu, the panel with the numbers.
//!
//! Escape opens the menu; the arrow keys and enter choose. `--demo DIR` plays by itself
//! for a fixed number of frames, saves pictures in the directory, and ends.

mod bolt;
mod demo;
mod door;
mod guard;
mod menu;
mod panel;
mod scene;
mod turret;
mod walker;

use std::path::PathBuf;
use std::process::ExitCode;

use bevy::prelude::*;
use bevy::window::WindowResolution;
use bevy_framestep::prelude::*;

const USAGE: &str = "usage: framestep-bevy [--demo DIR]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let demo = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--demo", folder] => Some(PathBuf::from(folder)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(demo) {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}

fn run(demo: Option<PathBuf>) -> AppExit {
    let window = Window {
        title: "framestep".to_string(),
        resolution: WindowResolution::new(960, 540),
        ..default()
    };
    let plugins = DefaultPlugins.set(WindowPlugin {
        primary_window: Some(window),
        ..default()
    });
    let mut app = App::new();
    app.add_plugins((
        plugins,
        FramestepPlugin::default().on_report(|report| error!("{report}")),
    ));
    app.insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.1)))
        .add_message::<menu::Key>()
        .add_systems(Startup, (scene::set_up, menu::set_up, panel::set_up))
        .add_systems(PreUpdate, menu::read_keys);
    if let Some(folder) = demo {
        demo::set_up(&mut app, folder);
    }
    app.run()
}
