//! A sub-app with clocks of its own, beside those of the main app.

use std::time::Duration;

use bevy_app::{App, AppLabel, SubApp};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy, Virtual};

use super::app;

#[derive(AppLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Simulation;

#[derive(Resource, Default)]
struct Ticks(Vec<String>);

/// An app and a simulation: a frame takes a quarter of a second in one, a whole one in the
/// other.
fn two_apps() -> App {
    let mut app = app();
    let mut simulation = SubApp::new();
    // In this order: the plugin adds the schedules of an app, which `TimePlugin` expects.
    simulation.add_plugins((FramestepPlugin::default(), TimePlugin));
    let strategy = TimeUpdateStrategy::ManualDuration(Duration::from_secs(1));
    simulation.insert_resource(strategy);
    simulation.insert_resource(Time::<Fixed>::from_seconds(0.5));
    let mut clock = simulation.world_mut().resource_mut::<Time<Virtual>>();
    clock.set_max_delta(Duration::from_secs(9));
    app.insert_sub_app(Simulation, simulation);
    app.init_resource::<Ticks>();
    simulation_of(&mut app).init_resource::<Ticks>();
    app
}

fn simulation_of(app: &mut App) -> &mut World {
    app.sub_app_mut(Simulation).world_mut()
}

/// Notes the time of its world each half second.
async fn tick() {
    loop {
        wait_seconds(0.5).await;
        let now = format!("{:?} in frame {}", time().elapsed, time().frame);
        resource_mut(|ticks: &mut Ticks| ticks.0.push(now));
    }
}

async fn step() {
    loop {
        fixed_update().await;
        resource_mut(|ticks: &mut Ticks| ticks.0.push("step".to_string()));
    }
}

fn take(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Ticks>().0)
}

#[test]
fn scripts_count_on_the_clocks_of_their_own_world() {
    let mut app = two_apps();
    app.world_mut().start_script(tick);
    simulation_of(&mut app).start_script(tick);
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(take(app.world_mut()), ["500ms in frame 3"]);
    // One wait in a frame, however long the frame is.
    assert_eq!(
        take(simulation_of(&mut app)),
        ["1s in frame 2", "2s in frame 3", "3s in frame 4"]
    );
}

#[test]
fn a_pause_of_one_clock_leaves_the_other_alone() {
    let mut app = two_apps();
    app.world_mut().start_script(tick);
    simulation_of(&mut app).start_script(tick);
    app.update();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..2 {
        app.update();
    }
    assert_eq!(take(app.world_mut()), [""; 0]);
    assert_eq!(
        take(simulation_of(&mut app)),
        ["1s in frame 2", "2s in frame 3"]
    );
    app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    simulation_of(&mut app)
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.25);
    for _ in 0..2 {
        app.update();
    }
    assert_eq!(take(app.world_mut()), ["500ms in frame 5"]);
    assert_eq!(take(simulation_of(&mut app)), ["2.5s in frame 5"]);
}

#[test]
fn fixed_steps_are_those_of_the_world() {
    let mut app = two_apps();
    app.world_mut().start_script(step);
    simulation_of(&mut app).start_script(step);
    app.update();
    app.update();
    // Steps of 125 ms and of 500 ms.
    assert_eq!(take(app.world_mut()).len(), 2);
    assert_eq!(take(simulation_of(&mut app)).len(), 2);
}

/// The scripts of a sub-app end with it, and those of the app go on.
#[test]
fn a_sub_app_is_removed() {
    let mut app = two_apps();
    app.world_mut().start_script(tick);
    let script = simulation_of(&mut app).start_script(tick);
    app.update();
    drop(app.remove_sub_app(Simulation));
    assert!(script.is_finished());
    for _ in 0..2 {
        app.update();
    }
    assert_eq!(take(app.world_mut()), ["500ms in frame 3"]);
}
