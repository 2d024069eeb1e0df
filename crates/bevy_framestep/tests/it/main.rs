//! The plugin in headless apps, on manual time.

mod chains;
mod changes;
mod clean_up;
mod conditions;
#[cfg(feature = "durable")]
mod durable;
mod entities;
mod error_messages;
mod errors;
mod first_week;
mod handles;
mod left;
mod lines;
mod misuse;
mod notes;
mod panics;
mod pauses;
mod phases;
mod queries;
mod ready_made;
#[cfg(feature = "reflect")]
mod reflection;
mod schedules;
#[cfg(feature = "state")]
mod states;
mod sub_apps;
mod systems;
mod tasks;
mod thread_end;
mod threads;
mod time;
mod two_executors;
mod vanishing;
mod waits;
mod wake;
mod world;

use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};

/// An app in which each update takes a quarter of a second, and a fixed step an eighth.
/// The first update takes no time: that is how Bevy's clocks begin.
fn app() -> App {
    app_with(FramestepPlugin::default())
}

fn app_with(plugin: FramestepPlugin) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, plugin));
    app.insert_resource(bevy_time::Time::<bevy_time::Fixed>::from_seconds(0.125));
    app.init_resource::<Log>();
    every_update_takes(&mut app, Duration::from_millis(250));
    app
}

fn every_update_takes(app: &mut App, dt: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(dt));
}

/// What happened, in order.
#[derive(Resource, Default)]
struct Log(Vec<String>);

/// From a script.
fn log(line: impl Into<String>) {
    resource_mut(|log: &mut Log| log.0.push(line.into()));
}

/// What was logged since the last call.
fn take_log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

/// How many scripts are alive.
fn alive(app: &App) -> usize {
    let framestep = app.world().non_send::<Framestep>();
    framestep.with_executor(framestep::Executor::len)
}
