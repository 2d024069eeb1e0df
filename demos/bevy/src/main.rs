//! A small game in Bevy: a dungeon at night, a story, and a king. Everything that takes time in
//! it is a script: doors, guards, turrets and bolts, torches, coins and sparks, the dialogue,
//! the story itself. The panel shows what each script waits for.
//!
//! The arrow keys walk, space strikes and pulls, escape opens the menu. F5 saves the fight with
//! the king, F9 loads it. `--demo DIR` plays by
//! itself, saves pictures in the directory, and ends. `--demo` does so without a window; in the
//! browser, it is part of the address: `?--demo`.

// Systems of Bevy name no lifetimes, and take their parameters by value.
#![allow(elided_lifetimes_in_paths, clippy::needless_pass_by_value)]

mod art;
mod body;
mod bolt;
mod boss;
mod chest;
mod demo;
mod dialogue;
mod dice;
mod door;
mod firefly;
mod foe;
mod foes;
mod gem;
mod guard;
mod hearts;
mod hero;
mod hint;
mod hourglass;
mod imp;
mod keeper;
mod keys;
mod layer;
mod level;
mod lever;
mod light;
mod lines;
mod lit;
mod menu;
mod panel;
mod portcullis;
mod purse;
mod reign;
mod saves;
mod spark;
mod stage;
mod story;
mod text;
mod torch;
mod turret;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bevy::app::{PluginGroupBuilder, ScheduleRunnerPlugin};
use bevy::log::{DEFAULT_FILTER, LogPlugin};
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::WgpuSettings;
use bevy::winit::WinitPlugin;
use bevy_framestep::prelude::*;

const USAGE: &str = "usage: framestep-bevy [--demo [DIR]]";

enum Mode {
    Play,
    /// Plays by itself, without a window, as fast as it can.
    Rehearse,
    /// Plays by itself, and saves pictures.
    Film(PathBuf),
}

#[cfg(not(target_arch = "wasm32"))]
fn arguments() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// The query of the page's address.
#[cfg(target_arch = "wasm32")]
fn arguments() -> Vec<String> {
    let query = web_sys::window().and_then(|window| window.location().search().ok());
    let query = query.unwrap_or_default();
    let words = query.trim_start_matches('?').split('&');
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

fn main() -> ExitCode {
    let mode = match arguments().iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Mode::Play,
        ["--demo"] => Mode::Rehearse,
        ["--demo", folder] => Mode::Film(PathBuf::from(folder)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(mode) {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}

fn plugins(mode: &Mode) -> PluginGroupBuilder {
    let primary_window = Some(stage::window());
    let plugins = DefaultPlugins.set(WindowPlugin {
        primary_window,
        ..default()
    });
    if !matches!(mode, Mode::Rehearse) {
        return plugins;
    }
    let nothing = WgpuSettings {
        backends: None,
        ..default()
    };
    let rendering = RenderPlugin {
        render_creation: nothing.into(),
        ..default()
    };
    // Without a renderer, plugins that prepare data for it say that it is missing.
    let log = LogPlugin {
        filter: format!("{DEFAULT_FILTER},bevy_extract=off,bevy_render::texture=error"),
        ..default()
    };
    let runner = ScheduleRunnerPlugin::run_loop(Duration::ZERO);
    let plugins = plugins.set(rendering).set(log);
    plugins.disable::<WinitPlugin>().add(runner)
}

fn run(mode: Mode) -> AppExit {
    let mut app = App::new();
    app.add_plugins((
        plugins(&mode),
        // The lines of awaits are noted only where they are shown.
        FramestepPlugin::default()
            .executor(|builder| builder.inspect(lines::are_shown()))
            .on_report(|report| error!("{report}")),
        art::plugin,
        light::plugin,
        menu::plugin,
        saves::plugin,
    ))
    .insert_resource(ClearColor(Color::BLACK))
    .init_resource::<keys::Stick>()
    .init_resource::<dice::Dice>()
    .init_resource::<dice::KingsDice>()
    .init_resource::<purse::Purse>()
    .init_resource::<stage::Focus>()
    .add_message::<keys::Key>()
    .add_message::<keys::Choice>()
    .add_message::<stage::Quake>()
    .add_systems(
        Startup,
        (foes::set_up, stage::set_up, level::furnish).chain(),
    );
    match mode {
        Mode::Film(folder) => demo::set_up(&mut app, Some(folder)),
        Mode::Rehearse => demo::set_up(&mut app, None),
        Mode::Play => {
            app.add_systems(
                PreUpdate,
                (
                    keys::read.run_if(in_state(menu::Screen::Playing)),
                    keys::read_for_menu.run_if(in_state(menu::Screen::Paused)),
                )
                    .after(bevy::input::InputSystems),
            );
        }
    }
    app.run()
}
